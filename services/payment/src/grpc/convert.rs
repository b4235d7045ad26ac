//! Messages → domain, with every bad field told at once; domain → messages.

use tercet_contracts::{
    command::Context,
    payment::v1::{self as pb, payment::State},
    saga::v1::{CommandAck, CommandContext, DecidedOutcome, Direction},
};
use tercet_grpc_status::FieldViolations;
use tercet_inbox::guard::CommandKey;
use tercet_service_kit::page_token;
use time::OffsetDateTime;
use tonic::Status as GrpcStatus;
use uuid::Uuid;

use super::status::bad_request;
use crate::{
    app::{Ack, ChargePayment, RefundPayment},
    domain::{Currency, Money, OrderId, Payment, PaymentId, PaymentMethod, Status},
    store::payments::Position,
};

const PAGE_DEFAULT: u32 = 50;
const PAGE_MAX: u32 = 200;

/// What cannot be read is told in `violations`.
fn all<T>(value: Option<T>, violations: FieldViolations) -> Result<T, GrpcStatus> {
    match value {
        Some(value) if violations.is_empty() => Ok(value),
        _ => Err(bad_request(violations)),
    }
}

fn command(
    context: Option<&CommandContext>,
    direction: Direction,
    wrong: &mut FieldViolations,
) -> Option<CommandKey> {
    match CommandContext::checked(context, direction) {
        Ok(Context {
            saga_id,
            step,
            command_id,
            epoch,
        }) => Some(CommandKey {
            saga_id,
            step,
            command_id,
            epoch,
        }),
        Err(fields) => {
            for (field, description) in fields {
                wrong.add(field, description);
            }
            None
        }
    }
}

fn money(minor: i64, currency: &str, wrong: &mut FieldViolations) -> Option<Money> {
    let currency = wrong.take("currency", Currency::parse(currency));
    // The amount is judged also where there is no currency to it: all bad fields at once.
    wrong.check(minor > 0, "amount_minor", "must be 1 or more");
    Money::new(minor, currency?).ok()
}

pub fn charge_payment(request: &pb::ChargePaymentRequest) -> Result<ChargePayment, GrpcStatus> {
    let mut wrong = FieldViolations::default();
    let command = command(request.context.as_ref(), Direction::Forward, &mut wrong);
    let id = wrong.take("payment_id", PaymentId::parse(&request.payment_id));
    let order_id = wrong.take("order_id", OrderId::parse(&request.order_id));
    let amount = money(request.amount_minor, &request.currency, &mut wrong);
    let method = PaymentMethod::parse(&request.payment_method);
    let method = wrong.take("payment_method", method);
    let parsed = (|| {
        Some(ChargePayment {
            command: command?,
            payment_id: id?,
            order_id: order_id?,
            amount: amount?,
            payment_method: method?,
        })
    })();
    all(parsed, wrong)
}

pub fn refund_payment(request: &pb::RefundPaymentRequest) -> Result<RefundPayment, GrpcStatus> {
    let mut wrong = FieldViolations::default();
    let command = command(request.context.as_ref(), Direction::Backward, &mut wrong);
    let id = wrong.take("payment_id", PaymentId::parse(&request.payment_id));
    let order_id = wrong.take("order_id", OrderId::parse(&request.order_id));
    let amount = money(request.amount_minor, &request.currency, &mut wrong);
    let parsed = (|| {
        Some(RefundPayment {
            command: command?,
            payment_id: id?,
            order_id: order_id?,
            amount: amount?,
        })
    })();
    all(parsed, wrong)
}

pub fn get_payment(request: &pb::GetPaymentRequest) -> Result<PaymentId, GrpcStatus> {
    let mut wrong = FieldViolations::default();
    let id = wrong.take("payment_id", PaymentId::parse(&request.payment_id));
    all(id, wrong)
}

/// Which payments, after which, and how many.
#[derive(Debug)]
pub struct Query {
    pub status: Option<Status>,
    pub after: Option<Position>,
    pub limit: u32,
}

pub fn list_payments(request: &pb::ListPaymentsRequest) -> Result<Query, GrpcStatus> {
    let mut wrong = FieldViolations::default();
    let size = page_token::size(request.page_size, PAGE_DEFAULT, PAGE_MAX);
    let limit = wrong.take("page_size", size);
    let known = State::try_from(request.state).map_err(|_| "is no state of a payment");
    let status = wrong.take("state", known).map(status_of);
    let filter = filter(status.flatten());
    let after = page_token::decode::<Token>(&filter, &request.page_token);
    let after = wrong.take("page_token", after);
    let after = after.flatten().map(|Token { at, id }| {
        let position = OffsetDateTime::from_unix_timestamp_nanos(i128::from(at) * 1_000);
        position.map(|at| (at, id)).map_err(|_| "holds no time")
    });
    let after = wrong.take("page_token", after.transpose());
    let parsed = (|| {
        Some(Query {
            status: status?,
            after: after?,
            limit: limit?,
        })
    })();
    all(parsed, wrong)
}

/// The last payment of a page, in microseconds: what PostgreSQL keeps of a time.
#[derive(serde::Serialize, serde::Deserialize)]
struct Token {
    at: i64,
    id: Uuid,
}

fn filter(status: Option<Status>) -> String {
    format!("payments state={}", status.map_or("", Status::as_str))
}

pub fn page(
    payments: Vec<Payment>,
    more: bool,
    status: Option<Status>,
) -> pb::ListPaymentsResponse {
    let last = payments.last().filter(|_| more);
    let next_page_token = last.map(|last| {
        let micros = last.created_at.unix_timestamp_nanos() / 1_000;
        let at = i64::try_from(micros).unwrap_or(i64::MAX);
        let id = last.id.uuid();
        page_token::encode(&filter(status), &Token { at, id })
    });
    pb::ListPaymentsResponse {
        next_page_token: next_page_token.unwrap_or_default(),
        payments: payments.into_iter().map(payment).collect(),
    }
}

pub fn ack(ack: Ack) -> CommandAck {
    match ack {
        Ack::Accepted => CommandAck::accepted(),
        Ack::InProgress => CommandAck::in_progress(),
        Ack::Decided(outcome) => CommandAck::decided(DecidedOutcome {
            event_id: outcome.event_id.to_string(),
            event_type: outcome.event_type,
            payload: outcome.payload.to_string(),
            headers: outcome.headers.into_iter().collect(),
        }),
    }
}

pub fn payment(payment: Payment) -> pb::Payment {
    pb::Payment {
        payment_id: payment.id.to_string(),
        order_id: payment.order_id.to_string(),
        state: state_of(payment.status).into(),
        currency: payment.amount.currency().to_string(),
        amount_minor: payment.amount.minor(),
        captured_minor: payment.captured_minor,
        refunded_minor: payment.refunded_minor,
        decline_reason: payment
            .decline_reason
            .map(|reason| reason.to_string())
            .unwrap_or_default(),
        gateway_payment_id: payment.gateway_intent_id.unwrap_or_default(),
        create_time: Some(payment.created_at.into()),
        update_time: Some(payment.updated_at.into()),
        version: payment.version,
    }
}

fn state_of(status: Status) -> State {
    match status {
        Status::Charging => State::Charging,
        Status::OutcomeUnknown => State::OutcomeUnknown,
        Status::Charged => State::Charged,
        Status::Declined => State::Declined,
        Status::Voided => State::Voided,
        Status::Refunding => State::Refunding,
        Status::Refunded => State::Refunded,
    }
}

fn status_of(state: State) -> Option<Status> {
    Status::ALL
        .into_iter()
        .find(|status| state_of(*status) == state)
}

#[cfg(test)]
mod tests {
    use tercet_grpc_status::decode;

    use super::*;

    #[test]
    fn every_bad_field_of_a_charge_is_told_at_once() {
        let request = pb::ChargePaymentRequest {
            payment_id: "7".into(),
            payment_method: "4242 4242".into(),
            amount_minor: -1,
            currency: "eur".into(),
            ..pb::ChargePaymentRequest::default()
        };
        let status = charge_payment(&request).unwrap_err();
        let fields: Vec<_> = decode(&status)
            .violations
            .into_iter()
            .map(|violation| violation.field)
            .collect();
        let expected = [
            "context",
            "payment_id",
            "order_id",
            "currency",
            "amount_minor",
            "payment_method",
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn every_status_has_a_state_of_its_own() {
        for status in Status::ALL {
            assert_eq!(status_of(state_of(status)), Some(status));
        }
        assert_eq!(status_of(State::Unspecified), None);
    }
}
