//! The world that orders act on: the gRPC clients that carry commands to inventory and payment, and
//! the steps in this service's own database.

use std::{collections::BTreeMap, time::Duration};

use sqlx::PgConnection;
use tercet_contracts::{
    inventory::v1::inventory_service_client::InventoryServiceClient,
    payment::v1::payment_service_client::PaymentServiceClient,
};
use tercet_outbox::Wake;
use tercet_saga_postgres::{
    Ack, BoxError, OutcomeEvent, Outgoing, Participants, ReadError, SagaRef, SendError,
};
use tercet_service_kit::{client, server::MESSAGE_BYTES_MAX};
use tercet_telemetry::propagation;
use tonic::transport::Channel;
use tracing::Instrument as _;

use super::{
    acks,
    commands::{self, Wire},
    place_order::{Command, Local, OrderInProgress, PlaceOrder, Reply},
    replies,
};
use crate::app::end_order;

/// How long each kind of call may take.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// A command: it only saves and acks, no participant waits for the outside in it.
    pub command: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            command: Duration::from_secs(5),
        }
    }
}

/// A hold begins with its transaction, and its event is dated later in it.
const HOLD_TOLERANCE: Duration = Duration::from_secs(5);

/// Inventory, payment, and our own orders.
#[derive(Clone, Debug)]
pub struct Services {
    inventory: InventoryServiceClient<Channel>,
    payment: PaymentServiceClient<Channel>,
    deadlines: Deadlines,
    hold_ttl: Duration,
    order_topic: String,
    wake: Wake,
}

impl Services {
    /// Connections are made when first used. `wake` tells the relay of events that local steps write.
    pub fn new(
        inventory: Channel,
        payment: Channel,
        hold_ttl: Duration,
        order_topic: String,
        wake: Wake,
    ) -> Self {
        Self {
            inventory: InventoryServiceClient::new(inventory)
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX),
            payment: PaymentServiceClient::new(payment)
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX),
            deadlines: Deadlines::default(),
            hold_ttl,
            order_topic,
            wake,
        }
    }

    async fn call(&self, wire: Wire) -> Result<Ack, SendError> {
        let (mut inventory, mut payment) = (self.inventory.clone(), self.payment.clone());
        let within = self.deadlines.command;
        let answer = match wire {
            Wire::Reserve(command) => inventory
                .reserve_stock(client::request(command, within))
                .await
                .map(|answer| answer.into_inner().ack),
            Wire::Commit(command) => inventory
                .commit_reservation(client::request(command, within))
                .await
                .map(|answer| answer.into_inner().ack),
            Wire::Release(command) => inventory
                .release_reservation(client::request(command, within))
                .await
                .map(|answer| answer.into_inner().ack),
            Wire::Charge(command) => payment
                .charge_payment(client::request(command, within))
                .await
                .map(|answer| answer.into_inner().ack),
            Wire::Refund(command) => payment
                .refund_payment(client::request(command, within))
                .await
                .map(|answer| answer.into_inner().ack),
        };
        acks::ack(answer.map_err(|status| acks::error(&status))?)
    }
}

impl Participants<PlaceOrder> for Services {
    async fn send(&self, outgoing: Outgoing<Command>) -> Result<Ack, SendError> {
        let wire = commands::encode(&outgoing);
        let span = tracing::info_span!(
            "command",
            otel.name = wire.method(),
            otel.kind = "client",
            rpc.system.name = "grpc",
            rpc.method = wire.method(),
            tercet.order.id = %outgoing.subject_id,
            tercet.saga.id = %outgoing.saga_id,
            tercet.saga.step = outgoing.step,
            tercet.command.id = outgoing.command_id,
        );
        propagation::set_parent(&span, &trace_context(outgoing.traceparent));
        // `timeout` tells the peer; this one holds also where the peer is gone and says nothing.
        let within = self.deadlines.command + Duration::from_secs(1);
        match tokio::time::timeout(within, self.call(wire).instrument(span)).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(SendError::NoAck("no answer in time".to_owned())),
        }
    }

    fn read(&self, outcome: &OutcomeEvent) -> Result<Reply, ReadError> {
        if let Some(granted) = replies::hold_granted(outcome)
            && granted + HOLD_TOLERANCE < self.hold_ttl
        {
            tracing::error!(
                tercet.saga.id = %outcome.saga_id,
                ?granted,
                asked = ?self.hold_ttl,
                "stock is held for less time than asked: is inventory's longest hold too short?"
            );
        }
        replies::read(outcome)
    }

    async fn run_local(
        &self,
        conn: &mut PgConnection,
        _saga: &SagaRef,
        order: &OrderInProgress,
        local: Local,
    ) -> Result<(), BoxError> {
        let topic = &self.order_topic;
        match local {
            Local::ConfirmOrder => end_order::confirm(conn, order.order_id, topic).await?,
            Local::CancelOrder(reason) => {
                end_order::cancel(conn, order.order_id, &reason, topic).await?;
            }
        }
        Ok(())
    }

    fn committed(&self) {
        self.wake.notify();
    }
}

fn trace_context(traceparent: Option<String>) -> BTreeMap<String, String> {
    traceparent
        .map(|value| ("traceparent".to_owned(), value))
        .into_iter()
        .collect()
}
