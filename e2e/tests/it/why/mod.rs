//! `tercet why`, asked about real orders whose trouble was made on purpose: the command itself runs, and
//! names the cause within its own deadline.

mod asking;
mod broker;
mod participants;
mod processor;
mod settled;
mod silence;
mod way_back;
