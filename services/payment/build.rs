//! `sqlx::migrate!` embeds the migrations: a changed file must lead to a new build.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/payment");
}
