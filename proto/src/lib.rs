//! Tercet's contracts: the gRPC services and the events, generated from `proto/tercet/**`.
//!
//! Events are rendered as ProtoJSON by their `serde` implementations: int64 as strings, times as
//! RFC 3339 with `Z`. Readers ignore unknown fields and unknown enum values, so that an old reader
//! survives a new writer.

pub mod command;
pub mod wkt;

/// Orders, from the customer's side.
pub mod order {
    pub mod v1 {
        tonic::include_proto!("tercet.order.v1");
    }
}

/// Charges and refunds.
pub mod payment {
    pub mod v1 {
        tonic::include_proto!("tercet.payment.v1");
    }
}

/// Stock and holds.
pub mod inventory {
    pub mod v1 {
        tonic::include_proto!("tercet.inventory.v1");
    }
}

/// Commands, acks, and what operators see of sagas.
pub mod saga {
    pub mod v1 {
        tonic::include_proto!("tercet.saga.v1");
    }
}

/// Outcomes and domain events on Kafka, with their ProtoJSON form.
pub mod events {
    pub mod v1 {
        tonic::include_proto!("tercet.events.v1");
        include!(concat!(env!("OUT_DIR"), "/tercet.events.v1.serde.rs"));
    }
}

/// All of Tercet's descriptors, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tercet.binpb"));

/// `ErrorInfo.domain` of every error. Frozen: clients match on it.
pub const ERROR_DOMAIN: &str = "tercet.dev";

/// The metadata key under which a caller names a call that must have one effect.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Where each `ErrorInfo.reason` has its page: this, the reason, and `.md`.
pub const ERROR_PAGES: &str = "https://tercet.dev/docs/errors/";
