//! No transaction is cut off half way, whoever loses interest in it.

use tercet_saga_postgres::Fed;

use crate::{
    support::{Bench, run, waits_for_a_lock},
    trip::outcome,
};

/// A request may be dropped at any moment: its transaction goes on, and its connection comes back
/// to the pool without one.
#[tokio::test]
async fn an_outcome_whose_caller_is_gone_still_counts() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let (saga_id, _) = bench.saved(&engine).await;
    let command_id = bench.text(saga_id, "command_id").await.unwrap();
    let done = outcome(saga_id, &command_id, "DONE");
    let rival = bench.locks(saga_id).await;
    let caller = tokio::spawn({
        let (engine, done) = (engine.clone(), done.clone());
        async move { engine.outcome(done).await }
    });
    waits_for_a_lock(bench.pool()).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    rival.rollback().await.unwrap();
    bench.becomes(saga_id, "step", "buy-ticket").await;
    assert_eq!(engine.outcome(done).await.unwrap(), Fed::Duplicate);
}

#[tokio::test]
async fn a_stopping_engine_finishes_what_is_at_work() {
    let bench = Bench::new().await;
    let engine = bench.engine("a");
    let running = run(&engine);
    let (saga_id, _) = bench.saved(&engine).await;
    let command_id = bench.text(saga_id, "command_id").await.unwrap();
    let rival = bench.locks(saga_id).await;
    let caller = tokio::spawn({
        let (engine, done) = (engine.clone(), outcome(saga_id, &command_id, "DONE"));
        async move { engine.outcome(done).await }
    });
    waits_for_a_lock(bench.pool()).await;
    caller.abort();
    let mut stopping = Box::pin(running.stop());
    assert!(
        futures::poll!(stopping.as_mut()).is_pending(),
        "work is waited for"
    );
    rival.rollback().await.unwrap();
    stopping.await;
    assert_eq!(bench.text(saga_id, "step").await.unwrap(), "buy-ticket");
}
