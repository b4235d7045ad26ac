//! Turning back: at once before the pivot is outstanding, never after.

use tercet_saga::{Failure, Judgement};
use tercet_saga_postgres::Error;

use crate::{
    support::{Bench, run},
    trip::{Command, outcome},
};

fn because() -> Failure {
    Failure::new("CUSTOMER", "the customer changed their mind")
}

#[tokio::test]
async fn a_cancel_before_the_pivot_undoes_the_outstanding_step_too() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    assert_eq!(bench.next_sent().await.command.command, Command::BookHotel);
    let mut tx = bench.pool().begin().await.unwrap();
    let (judgement, follow_up) = engine.cancel(&mut tx, saga_id, because()).await.unwrap();
    tx.commit().await.unwrap();
    engine.follow_up(follow_up);
    assert_eq!(judgement, Judgement::Obeyed);

    let undo = bench.next_sent().await.command;
    assert_eq!(undo.command, Command::CancelHotel);
    let done = outcome(saga_id, &undo.command_id, "DONE");
    engine.outcome(done).await.unwrap();
    assert_eq!(bench.status(saga_id).await, "COMPENSATED");
    running.stop().await;
}

#[tokio::test]
async fn a_cancel_after_the_pivot_was_saved_changes_nothing() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, _) = bench.saved(&engine).await;
    let booked = bench.text(saga_id, "command_id").await.unwrap();
    engine
        .outcome(outcome(saga_id, &booked, "DONE"))
        .await
        .unwrap();
    let before = bench.text(saga_id, "version").await;
    let mut tx = bench.pool().begin().await.unwrap();
    let (judgement, _) = engine.cancel(&mut tx, saga_id, because()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(judgement, Judgement::TooLate);
    assert_eq!(bench.text(saga_id, "version").await, before);
}

#[tokio::test]
async fn a_cancel_that_is_rolled_back_never_was() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, _) = bench.saved(&engine).await;
    let mut tx = bench.pool().begin().await.unwrap();
    let cancelled = engine.cancel(&mut tx, saga_id, because()).await.unwrap();
    tx.rollback().await.unwrap();
    drop(cancelled);
    assert_eq!(bench.text(saga_id, "direction").await.unwrap(), "FORWARD");
    let mut conn = bench.pool().acquire().await.unwrap();
    let unknown = engine
        .cancel(&mut conn, uuid::Uuid::now_v7(), because())
        .await;
    assert!(matches!(unknown, Err(Error::Unknown { .. })));
}
