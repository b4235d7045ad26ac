//! One saga's trouble stays its own.

use tercet_saga::Timing;
use tercet_saga_postgres::Fed;

use crate::{
    support::{Bench, options, run},
    trip::{BUG, outcome},
};

const BROKEN: [&str; 3] = [
    "UPDATE sagas SET definition_version = 9 WHERE id = $1",
    "UPDATE sagas SET data = '{\"elsewhere\": 1}' WHERE id = $1",
    "UPDATE sagas SET step = 'no-such-step' WHERE id = $1",
];

#[tokio::test]
async fn a_row_that_cannot_be_run_holds_up_nobody_and_stays_as_it_is() {
    for broken in BROKEN {
        let mut bench = Bench::new().await;
        let engine = bench.engine("a");
        let running = run(&engine);
        let (sick, _) = bench.saved(&engine).await;
        let (well, _) = bench.saved(&engine).await;
        for saga_id in [sick, well] {
            bench.time_passes(saga_id).await;
        }
        bench.execute(broken, sick).await;
        let before = bench
            .text(sick, "(id, version, status, command_id, epoch)")
            .await;
        engine.fire_due_timers().await.unwrap();
        assert_eq!(bench.next_sent().await.command.saga_id, well);
        engine.fire_due_timers().await.unwrap();
        engine.resume_idle().await.unwrap();
        running.stop().await;
        bench.assert_nothing_sent();
        let after = bench
            .text(sick, "(id, version, status, command_id, epoch)")
            .await;
        assert_eq!(before, after, "{broken}");
    }
}

/// Its offset moves on without an inbox row: once the row is repaired, the next ask brings it again.
#[tokio::test]
async fn an_outcome_for_a_row_that_cannot_be_run_is_not_recorded() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, _) = bench.saved(&engine).await;
    let command_id = bench.text(saga_id, "command_id").await.unwrap();
    bench.execute(BROKEN[0], saga_id).await;
    let done = outcome(saga_id, &command_id, "DONE");
    assert_eq!(engine.outcome(done.clone()).await.unwrap(), Fed::Unrunnable);
    let repaired = "UPDATE sagas SET definition_version = 1 WHERE id = $1";
    bench.execute(repaired, saga_id).await;
    assert_eq!(engine.outcome(done).await.unwrap(), Fed::Obeyed);
}

/// A saga's own code panics: the others are due after it, and have their turn in the same look.
#[tokio::test]
async fn a_panic_in_one_sagas_turn_stays_its_own_and_is_put_off() {
    for look in ["timers", "resume"] {
        let mut bench = Bench::new().await;
        let engine = bench.engine("a");
        let running = run(&engine);
        let (sick, _) = bench.saved(&engine).await;
        let (well, _) = bench.saved(&engine).await;
        let bug = format!("UPDATE sagas SET data = '{{\"to\": \"{BUG}\"}}' WHERE id = $1");
        bench.execute(&bug, sick).await;
        for (saga_id, ago) in [(sick, "12 min"), (well, "6 min")] {
            let due = format!(
                "UPDATE sagas SET next_action_at = now() - interval '{ago}',
                        step_since = step_since - interval '10 s' WHERE id = $1"
            );
            bench.execute(&due, saga_id).await;
        }
        match look {
            "timers" => assert_eq!(engine.fire_due_timers().await.unwrap(), 2),
            _ => assert_eq!(engine.resume_idle().await.unwrap(), 1),
        }
        assert_eq!(bench.next_sent().await.command.saga_id, well);
        running.stop().await;
        let version = bench.text(sick, "version").await;
        assert_eq!(version.as_deref(), Some("1"));
        let put_off = bench.text(sick, "(next_action_at > now())").await;
        assert_eq!(put_off.as_deref(), Some("true"), "not tried again at once");
    }
}

/// A saga whose transition the database refuses, for example in a local step.
#[tokio::test]
async fn a_turn_that_the_database_refuses_is_put_off_alone() {
    let mut bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let (sick, _) = bench.saved(&engine).await;
    let (well, _) = bench.saved(&engine).await;
    for saga_id in [sick, well] {
        bench.time_passes(saga_id).await;
    }
    let refuses = format!(
        "ALTER TABLE sagas ADD CONSTRAINT sagas_refused CHECK (id <> '{sick}' OR version = 1)"
    );
    sqlx::query(sqlx::AssertSqlSafe(refuses))
        .execute(bench.pool())
        .await
        .unwrap();
    assert_eq!(engine.fire_due_timers().await.unwrap(), 2);
    assert_eq!(engine.fire_due_timers().await.unwrap(), 0);
    assert_eq!(bench.next_sent().await.command.saga_id, well);
    running.stop().await;
    bench.assert_nothing_sent();
}

/// As many rows as a page holds are locked by somebody: the look goes past them, and ends.
#[tokio::test]
async fn a_page_of_locked_rows_holds_up_nobody() {
    let mut bench = Bench::new().await;
    let mut options = options("a");
    options.page = 1;
    let engine = bench.engine_of(options, Timing::default());
    let running = run(&engine);
    let (locked, _) = bench.saved(&engine).await;
    let (free, _) = bench.saved(&engine).await;
    for saga_id in [locked, free] {
        bench.time_passes(saga_id).await;
    }
    let somebody = bench.locks(locked).await;
    assert_eq!(engine.fire_due_timers().await.unwrap(), 2);
    assert_eq!(bench.next_sent().await.command.saga_id, free);
    somebody.rollback().await.unwrap();
    assert_eq!(engine.fire_due_timers().await.unwrap(), 1);
    assert_eq!(bench.next_sent().await.command.saga_id, locked);
    running.stop().await;
}
