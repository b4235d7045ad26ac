//! A new migration is built in without another change.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/order");
}
