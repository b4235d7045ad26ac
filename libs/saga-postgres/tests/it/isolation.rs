//! One saga's trouble stays its own.

use tercet_saga_postgres::Fed;

use crate::{
    support::{Bench, run},
    trip::outcome,
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
