//! The command guard: a participant decides each command of a saga once.
//!
//! A saga sends a command as often as it must. The guard's row, written in the transaction of the
//! effect, makes the effect happen once; the outcome kept beside it answers every later duplicate.
//! The row's key is (saga, step, direction), so that an *undo* can close the door on a forward
//! command that has not arrived yet: it takes the forward's key first, marked `undone`.
//!
//! A guard keeps the highest epoch that each command of a saga came with. Whoever comes with a lower
//! one than any of them lost the saga to someone else.

mod admit;
mod lock;
mod outcome;
mod undo;

pub use admit::{Admission, CommandKey, Direction, admit_forward};
pub use lock::lock_step;
pub use outcome::{KeptOutcome, keep_outcome};
pub use undo::{BackwardAdmission, admit_backward};
