//! What was not sent is sent by its timer; what nobody minds is taken over.

use std::time::Duration;

use tercet_saga::{Direction::Forward, Timing};
use tercet_saga_postgres::SendError;

use crate::{
    support::{Bench, options, run, trip},
    trip::{Answer, Command, Data},
};

/// A crash between save and send: the row says what is outstanding, and another engine sends it.
#[tokio::test]
async fn a_command_that_was_saved_and_never_sent_is_sent_by_its_timer() {
    let mut bench = Bench::new().await;
    let (saga_id, lost) = bench.saved(&bench.engine("dead")).await;
    drop(lost);
    let engine = bench.engine("alive");
    let running = run(&engine);
    bench.time_passes(saga_id).await;
    assert_eq!(engine.fire_due_timers().await.unwrap(), 1);
    let sent = bench.next_sent().await.command;
    assert_eq!(sent.command, Command::BookHotel);
    assert_eq!(sent.command_id, format!("{saga_id}:book-hotel:forward"));
    assert_eq!(sent.epoch, 1);
    running.stop().await;
}

#[tokio::test]
async fn a_timer_that_has_not_come_does_nothing() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let (saga_id, _) = bench.saved(&engine).await;
    let version = bench.text(saga_id, "version").await;
    assert_eq!(engine.fire_due_timers().await.unwrap(), 0);
    assert_eq!(bench.text(saga_id, "version").await, version);
    running.stop().await;
    bench.assert_nothing_sent();
}

#[tokio::test]
async fn two_engines_never_fire_one_timer_twice() {
    for _ in 0..20 {
        let mut bench = Bench::new().await;
        let (a, b) = (bench.engine("a"), bench.engine("b"));
        let running = [run(&a), run(&b)];
        let (saga_id, _) = bench.saved(&a).await;
        bench.time_passes(saga_id).await;
        let (first, second) = tokio::join!(a.fire_due_timers(), b.fire_due_timers());
        first.unwrap();
        second.unwrap();
        for running in running {
            running.stop().await;
        }
        // Stopped: what was queued is sent or left to the next timer, so at most one was sent.
        let asked = bench.log(saga_id).await;
        assert_eq!(asked.iter().filter(|it| *it == "ASKED_AGAIN").count(), 1);
        let mut sent = 0;
        while bench.sent.try_recv().is_ok() {
            sent += 1;
        }
        assert!(sent <= 1, "sent {sent} times");
    }
}

#[tokio::test]
async fn a_send_without_an_ack_is_counted_and_tried_again() {
    let mut bench = Bench::new().await;
    let lost = || Answer::Fails(SendError::NoAck("lost".to_owned()));
    bench.world.answers("book-hotel", Forward, lost());
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    bench.next_sent().await;
    bench.becomes(saga_id, "attempt", "1").await;
    bench.becomes(saga_id, "wait", "NO_ACK").await;
    bench.time_passes(saga_id).await;
    engine.fire_due_timers().await.unwrap();
    assert_eq!(bench.next_sent().await.command.command, Command::BookHotel);
    bench.becomes(saga_id, "wait", "ACKED").await;
    running.stop().await;
}

/// A participant that never answers keeps its place for a bounded time only: there is one, and the
/// second command has its turn.
#[tokio::test]
async fn a_send_that_does_not_end_is_given_up_and_counted() {
    let bench = Bench::new().await;
    for _ in 0..2 {
        bench.world.answers("book-hotel", Forward, Answer::Hangs);
    }
    let mut options = options("a");
    options.send_timeout = Duration::from_millis(20);
    options.sends_max = 1;
    let engine = bench.engine_of(options, Timing::default());
    let running = run(&engine);
    let saga_ids = [bench.begun(&engine).await, bench.begun(&engine).await];
    for saga_id in saga_ids {
        bench.becomes(saga_id, "attempt", "1").await;
        bench.becomes(saga_id, "wait", "NO_ACK").await;
    }
    running.stop().await;
}

#[tokio::test]
async fn a_first_ack_costs_no_commit() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    bench.next_sent().await;
    running.stop().await;
    assert_eq!(bench.text(saga_id, "version").await.unwrap(), "1");
}

#[tokio::test]
async fn sagas_that_nobody_minds_are_found_beyond_one_page_and_taken_over_once() {
    let bench = Bench::new().await;
    let mut options = options("a");
    options.page = 7;
    let engine = bench.engine_of(options, Timing::default());
    let mut tx = bench.pool().begin().await.unwrap();
    for _ in 0..40 {
        let data = Data {
            to: "Genoa".to_owned(),
        };
        let _ = engine.start(&mut tx, trip(), data).await.unwrap();
    }
    tx.commit().await.unwrap();
    assert_eq!(
        engine.resume_idle().await.unwrap(),
        0,
        "their timers are in the future"
    );

    sqlx::query(
        "UPDATE sagas SET next_action_at = CASE WHEN random() < 0.5 THEN NULL
                                                ELSE now() - interval '6 min' END",
    )
    .execute(bench.pool())
    .await
    .unwrap();
    assert_eq!(engine.resume_idle().await.unwrap(), 40);
    assert_eq!(
        engine.resume_idle().await.unwrap(),
        0,
        "each has a timer again"
    );
    let row: (i64, i64) = sqlx::query_as(
        "SELECT count(*) FILTER (WHERE epoch = 2 AND lease_owner = 'a'),
                count(*) FILTER (WHERE next_action_at IS NULL) FROM sagas",
    )
    .fetch_one(bench.pool())
    .await
    .unwrap();
    assert_eq!(row, (40, 0));
}
