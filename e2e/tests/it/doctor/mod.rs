//! `tercet doctor`, over setups that are really wrong: the command itself runs, names what is wrong and
//! the remedy, and its exit code says whether there is a problem.

mod asking;
mod machine;
mod old_postgres;
mod running;
