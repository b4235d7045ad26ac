//! Who lost a saga cannot act for it.

use tercet_saga::Direction::Forward;
use tercet_saga_postgres::SendError;

use crate::{
    support::{Bench, run},
    trip::Answer,
};

/// The row's epoch is lower than what the participant knows: its database was restored.
#[tokio::test]
async fn a_row_that_is_older_than_the_participant_takes_the_next_epoch_and_sends_again() {
    let mut bench = Bench::new().await;
    let stale = Answer::Fails(SendError::StaleEpoch { highest: 7 });
    bench.world.answers("book-hotel", Forward, stale);
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    assert_eq!(bench.next_sent().await.command.epoch, 1);
    assert_eq!(bench.next_sent().await.command.epoch, 8);
    assert_eq!(bench.text(saga_id, "epoch").await.unwrap(), "8");
    running.stop().await;
}

/// Somebody else raised the row's epoch meanwhile: its send or its timer follows.
#[tokio::test]
async fn who_was_overtaken_drops_its_send() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, follow_up) = bench.saved(&engine).await;
    bench
        .execute("UPDATE sagas SET epoch = 2 WHERE id = $1", saga_id)
        .await;
    let stale = Answer::Fails(SendError::StaleEpoch { highest: 2 });
    bench.world.answers("book-hotel", Forward, stale);
    let running = run(&engine);
    engine.follow_up(follow_up);
    assert_eq!(bench.next_sent().await.command.epoch, 1);
    running.stop().await;
    bench.assert_nothing_sent();
    assert_eq!(bench.text(saga_id, "epoch").await.unwrap(), "2");
}

#[tokio::test]
async fn a_stale_answer_about_a_command_that_is_not_outstanding_is_dropped() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, follow_up) = bench.saved(&engine).await;
    let moved = "UPDATE sagas SET command_id = 'another', version = version + 1 WHERE id = $1";
    bench.execute(moved, saga_id).await;
    let stale = Answer::Fails(SendError::StaleEpoch { highest: 9 });
    bench.world.answers("book-hotel", Forward, stale);
    let running = run(&engine);
    engine.follow_up(follow_up);
    bench.next_sent().await;
    running.stop().await;
    bench.assert_nothing_sent();
    assert_eq!(bench.text(saga_id, "epoch").await.unwrap(), "1");
}

#[tokio::test]
async fn a_step_that_was_undone_without_our_asking_is_never_guessed_about() {
    let mut bench = Bench::new().await;
    let undone = Answer::Fails(SendError::AlreadyUndone);
    bench.world.answers("book-hotel", Forward, undone);
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    bench.next_sent().await;
    bench.becomes(saga_id, "stuck_reason", "RESTORED").await;
    assert_eq!(bench.status(saga_id).await, "RUNNING");
    running.stop().await;
}
