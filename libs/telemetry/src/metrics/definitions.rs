//! Every metric, by the name it has in the code; the name in the string becomes, with dots as
//! underscores and its unit appended, the name Prometheus shows.

use super::{Counter, Gauge, Histogram};

/// `rpc_server_call_duration_seconds{rpc_method, rpc_status_code}`
pub static RPC_SERVER_CALL_DURATION: Histogram = Histogram::new(
    "rpc.server.call.duration",
    "How long calls took on the server",
);

/// `tercet_rpc_shed_total{rpc_method}`
pub static RPC_SHED: Counter = Counter::new(
    "tercet.rpc.shed",
    "Calls refused because too many were at work",
);

/// `tercet_sagas{kind, status}`
pub static SAGAS: Gauge = Gauge::new("tercet.sagas", "", "Sagas by kind and status");

/// `tercet_saga_duration_seconds{kind, outcome}`
pub static SAGA_DURATION: Histogram =
    Histogram::new("tercet.saga.duration", "From start to end of a saga");

/// `tercet_saga_step_attempts_total{step, direction, result}`
pub static SAGA_STEP_ATTEMPTS: Counter = Counter::new(
    "tercet.saga.step.attempts",
    "Commands sent, by how the send ended",
);

/// `tercet_outbox_pending`
pub static OUTBOX_PENDING: Gauge = Gauge::new(
    "tercet.outbox.pending",
    "",
    "Events the broker has not acknowledged yet",
);

/// `tercet_outbox_oldest_pending_seconds`
pub static OUTBOX_OLDEST_PENDING: Gauge = Gauge::new(
    "tercet.outbox.oldest_pending",
    "s",
    "Age of the oldest such event",
);

/// `tercet_outbox_quarantined_total`
pub static OUTBOX_QUARANTINED: Counter = Counter::new(
    "tercet.outbox.quarantined",
    "Events set aside after too many failed attempts",
);

/// `tercet_outbox_publish_duration_seconds`
pub static OUTBOX_PUBLISH_DURATION: Histogram = Histogram::new(
    "tercet.outbox.publish.duration",
    "From commit to the broker's acknowledgement",
);

/// `tercet_dead_letters{consumer}`
pub static DEAD_LETTERS: Gauge = Gauge::new(
    "tercet.dead_letters",
    "",
    "Messages parked because they can never be handled",
);

/// `tercet_inbox_messages_total{consumer, result}`
pub static INBOX_MESSAGES: Counter = Counter::new(
    "tercet.inbox.messages",
    "Messages consumed, by what became of them",
);

/// `tercet_payment_outcome_unknown_oldest_seconds`
pub static PAYMENT_OUTCOME_UNKNOWN_OLDEST: Gauge = Gauge::new(
    "tercet.payment.outcome_unknown.oldest",
    "s",
    "Age of the oldest charge whose outcome is not known",
);

/// `tercet_build_info{service_name, version}`
pub static BUILD_INFO: Gauge = Gauge::new("tercet.build_info", "", "Always 1");
