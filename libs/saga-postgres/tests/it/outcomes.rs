//! Commands are saved before they are sent; outcomes count once, whichever way they come.

use tercet_inbox::record;
use tercet_saga::Direction::{Backward, Forward};
use tercet_saga_postgres::{Error, Fed};
use tercet_testbed::eventually;

use crate::{
    support::{Bench, PATIENCE, run, trip, waits_for_a_lock},
    trip::{Answer, Command, Data, outcome},
};

#[tokio::test]
async fn a_saga_goes_from_command_to_command_and_ends() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;

    for expected in [Command::BookHotel, Command::BuyTicket, Command::SendTicket] {
        let sent = bench.next_sent().await;
        assert_eq!(sent.command.command, expected);
        let done = outcome(saga_id, &sent.command.command_id, "DONE");
        assert_eq!(engine.outcome(done).await.unwrap(), Fed::Obeyed);
    }
    assert_eq!(bench.status(saga_id).await, "COMPLETED");
    assert_eq!(bench.text(saga_id, "next_action_at").await, None);
    assert_eq!(bench.notes().await, ["to Genoa"]);
    let log = bench.log(saga_id).await;
    assert_eq!(log.first().unwrap(), "SAGA_STARTED");
    assert_eq!(log.last().unwrap(), "COMPLETED");
    running.stop().await;
    bench.assert_nothing_sent();
}

/// A step that meets no trouble leaves the timer, and so every index, alone: its update is a HOT one.
#[tokio::test]
async fn a_happy_step_touches_no_index() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    let timer = bench.text(saga_id, "next_action_at").await;
    for _ in 0..2 {
        let command_id = bench.next_sent().await.command.command_id;
        let done = outcome(saga_id, &command_id, "DONE");
        assert_eq!(engine.outcome(done).await.unwrap(), Fed::Obeyed);
        assert_eq!(bench.text(saga_id, "next_action_at").await, timer);
    }
    running.stop().await;
    let updates = eventually("both updates are counted", PATIENCE, async || {
        let row: (i64, i64) = sqlx::query_as(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'sagas'",
        )
        .fetch_one(bench.pool())
        .await
        .unwrap();
        (row.0 == 2).then_some(row)
    })
    .await;
    assert_eq!(updates, (2, 2));
}

#[tokio::test]
async fn every_command_is_saved_before_it_is_sent() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    for says in ["DONE", "REFUSED", "DONE"] {
        let sent = bench.next_sent().await;
        let command_id = sent.command.command_id;
        assert_eq!(sent.saved_command.as_ref(), Some(&command_id));
        engine
            .outcome(outcome(saga_id, &command_id, says))
            .await
            .unwrap();
    }
    assert_eq!(bench.status(saga_id).await, "COMPENSATED");
    running.stop().await;
}

#[tokio::test]
async fn a_refused_pivot_is_undone_from_the_last_finished_step_back() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    let booked = bench.next_sent().await.command.command_id;
    engine
        .outcome(outcome(saga_id, &booked, "DONE"))
        .await
        .unwrap();
    let bought = bench.next_sent().await.command.command_id;
    engine
        .outcome(outcome(saga_id, &bought, "REFUSED"))
        .await
        .unwrap();

    let undo = bench.next_sent().await.command;
    assert_eq!(
        (undo.command, undo.direction),
        (Command::CancelHotel, Backward)
    );
    engine
        .outcome(outcome(saga_id, &undo.command_id, "DONE"))
        .await
        .unwrap();
    assert_eq!(bench.status(saga_id).await, "COMPENSATED");
    assert_eq!(bench.notes().await, ["given up"]);
    let failure = bench.text(saga_id, "failure->>'reason'").await;
    assert_eq!(failure.as_deref(), Some("SOLD_OUT"));
    running.stop().await;
}

/// Every reply topic may be lost: the acks carry what was decided.
#[tokio::test]
async fn a_saga_ends_by_decided_acks_alone() {
    let bench = Bench::new().await;
    for step in ["book-hotel", "buy-ticket", "send-ticket"] {
        bench.world.answers(step, Forward, Answer::Decided("DONE"));
    }
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    bench.becomes(saga_id, "status", "COMPLETED").await;
    running.stop().await;
}

#[tokio::test]
async fn an_outcome_counts_once() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let saga_id = bench.begun(&engine).await;
    let done = outcome(saga_id, &bench.next_sent().await.command.command_id, "DONE");
    let (first, second) = tokio::join!(engine.outcome(done.clone()), engine.outcome(done.clone()));
    let mut fed = [first.unwrap(), second.unwrap()];
    fed.sort_by_key(|fed| format!("{fed:?}"));
    assert_eq!(fed, [Fed::Duplicate, Fed::Obeyed]);
    assert_eq!(engine.outcome(done).await.unwrap(), Fed::Duplicate);
    running.stop().await;
}

/// Second statement: the insert of the inbox row waits for a rival and cannot see what it committed.
#[tokio::test]
async fn an_outcome_that_waited_for_its_twin_is_a_duplicate() {
    for rival_commits in [true, false] {
        let bench = Bench::new().await;
        let engine = bench.engine("a");
        let (saga_id, _) = bench.saved(&engine).await;
        let command_id = bench.text(saga_id, "command_id").await.unwrap();
        let done = outcome(saga_id, &command_id, "DONE");

        let mut rival = bench.pool().begin().await.unwrap();
        record(&mut rival, "saga", done.event_id).await.unwrap();
        let second = tokio::spawn({
            let engine = engine.clone();
            async move { engine.outcome(done).await.unwrap() }
        });
        waits_for_a_lock(bench.pool()).await;
        let expected = if rival_commits {
            rival.commit().await.unwrap();
            Fed::Duplicate
        } else {
            rival.rollback().await.unwrap();
            Fed::Obeyed
        };
        assert_eq!(second.await.unwrap(), expected);
    }
}

/// Two different outcomes of one command: the second waits for the saga's row and sees the winner.
#[tokio::test]
async fn an_outcome_that_waited_for_the_row_sees_what_the_winner_saved() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, _) = bench.saved(&engine).await;
    let command_id = bench.text(saga_id, "command_id").await.unwrap();
    let mut winner = bench.pool().begin().await.unwrap();
    let moved = "UPDATE sagas SET command_id = 'another', version = version + 1 WHERE id = $1";
    sqlx::query(moved)
        .bind(saga_id)
        .execute(&mut *winner)
        .await
        .unwrap();

    let second = tokio::spawn({
        let (engine, done) = (engine.clone(), outcome(saga_id, &command_id, "DONE"));
        async move { engine.outcome(done).await.unwrap() }
    });
    waits_for_a_lock(bench.pool()).await;
    winner.commit().await.unwrap();
    assert_eq!(second.await.unwrap(), Fed::Late);
    assert_eq!(bench.text(saga_id, "command_id").await.unwrap(), "another");
}

#[tokio::test]
async fn an_outcome_of_a_command_that_is_not_outstanding_is_written_down_and_not_obeyed() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, _) = bench.saved(&engine).await;
    let version = bench.text(saga_id, "version").await;
    let foreign = outcome(saga_id, &format!("{saga_id}:buy-ticket:forward"), "DONE");
    assert_eq!(engine.outcome(foreign.clone()).await.unwrap(), Fed::Late);
    assert_eq!(engine.outcome(foreign).await.unwrap(), Fed::Duplicate);
    assert_eq!(bench.text(saga_id, "version").await, version);
    assert_eq!(bench.log(saga_id).await.last().unwrap(), "LATE_OUTCOME");
}

#[tokio::test]
async fn an_outcome_without_a_saga_and_one_that_cannot_be_read_leave_no_trace() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let stray = outcome(uuid::Uuid::now_v7(), "x", "DONE");
    assert_eq!(engine.outcome(stray).await.unwrap(), Fed::UnknownSaga);
    let (saga_id, _) = bench.saved(&engine).await;
    let garbled = engine.outcome(outcome(saga_id, "x", "?")).await;
    assert!(matches!(garbled, Err(Error::Unreadable { .. })));
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM inbox_messages")
        .fetch_one(bench.pool())
        .await
        .unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn a_subject_has_one_live_saga() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let (first, second) = (trip(), trip());
    let data = || Data {
        to: "Genoa".to_owned(),
    };
    let mut held = bench.pool().begin().await.unwrap();
    let _ = engine
        .start(&mut held, first.clone(), data())
        .await
        .unwrap();

    let rival = tokio::spawn({
        let (engine, pool) = (engine.clone(), bench.pool().clone());
        let saga = tercet_saga_postgres::SagaRef {
            subject_id: first.subject_id,
            ..second
        };
        async move {
            let mut tx = pool.begin().await.unwrap();
            let started = engine.start(&mut tx, saga, data()).await;
            started.map(|_| ())
        }
    });
    waits_for_a_lock(bench.pool()).await;
    held.commit().await.unwrap();
    assert!(matches!(
        rival.await.unwrap(),
        Err(Error::SubjectBusy { .. })
    ));
}
