//! Messages → domain, with every bad field told at once; domain → messages.

use std::time::Duration;

use tercet_contracts::{
    command::Context,
    inventory::v1 as pb,
    saga::v1::{CommandAck, CommandContext, DecidedOutcome, Direction},
};
use tercet_grpc_status::FieldViolations;
use tercet_inbox::guard::CommandKey;
use tercet_service_kit::page_token;
use tonic::Status;
use uuid::Uuid;

use super::status::bad_request;
use crate::{
    app::{Ack, ReserveStock},
    domain::{
        Adjustment, Basket, Delta, Line, OrderId, Quantity, Reservation, ReservationId, Sku, State,
        StockLevel,
    },
};

const HOLD_SECONDS_MAX: i64 = 7 * 24 * 3600;
const REASON_CHARS_MAX: usize = 200;
const PAGE_DEFAULT: u32 = 50;
const PAGE_MAX: u32 = 200;
const LIST_STOCK: &str = "stock";

/// What cannot be read is told in `violations`.
fn all<T>(value: Option<T>, violations: FieldViolations) -> Result<T, Status> {
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

pub fn reserve_stock(request: pb::ReserveStockRequest) -> Result<ReserveStock, Status> {
    let mut wrong = FieldViolations::default();
    let command = command(request.context.as_ref(), Direction::Forward, &mut wrong);
    let id = wrong.take(
        "reservation_id",
        ReservationId::parse(&request.reservation_id),
    );
    let order_id = wrong.take("order_id", OrderId::parse(&request.order_id));
    let basket = basket(request.lines, &mut wrong);
    let seconds = request.hold_ttl.map_or(0, |ttl| ttl.seconds);
    let fits = (1..=HOLD_SECONDS_MAX).contains(&seconds);
    wrong.check(fits, "hold_ttl", "must be one second to seven days");
    let parsed = (|| {
        Some(ReserveStock {
            command: command?,
            reservation_id: id?,
            order_id: order_id?,
            basket: basket?,
            hold: Duration::from_secs(seconds.unsigned_abs()),
        })
    })();
    all(parsed, wrong)
}

fn basket(lines: Vec<pb::StockLine>, wrong: &mut FieldViolations) -> Option<Basket> {
    let count = lines.len();
    let lines: Vec<Line> = lines
        .into_iter()
        .take(Basket::LINES_MAX + 1)
        .enumerate()
        .filter_map(|(at, line)| {
            let sku = wrong.take(format!("lines[{at}].sku"), Sku::parse(&line.sku));
            let quantity = Quantity::parse(line.quantity);
            let quantity = wrong.take(format!("lines[{at}].quantity"), quantity);
            Some(Line {
                sku: sku?,
                quantity: quantity?,
            })
        })
        .collect();
    if lines.len() == count || count == 0 || count > Basket::LINES_MAX {
        wrong.take("lines", Basket::from_lines(lines))
    } else {
        None
    }
}

pub fn commit_reservation(
    request: &pb::CommitReservationRequest,
) -> Result<(CommandKey, ReservationId), Status> {
    let mut wrong = FieldViolations::default();
    let command = command(request.context.as_ref(), Direction::Forward, &mut wrong);
    let id = wrong.take(
        "reservation_id",
        ReservationId::parse(&request.reservation_id),
    );
    all(command.zip(id), wrong)
}

pub fn release_reservation(
    request: &pb::ReleaseReservationRequest,
) -> Result<(CommandKey, ReservationId, OrderId), Status> {
    let mut wrong = FieldViolations::default();
    let command = command(request.context.as_ref(), Direction::Backward, &mut wrong);
    let id = wrong.take(
        "reservation_id",
        ReservationId::parse(&request.reservation_id),
    );
    let order_id = wrong.take("order_id", OrderId::parse(&request.order_id));
    let parsed = (|| Some((command?, id?, order_id?)))();
    all(parsed, wrong)
}

pub fn get_reservation(request: &pb::GetReservationRequest) -> Result<ReservationId, Status> {
    let mut wrong = FieldViolations::default();
    let id = wrong.take(
        "reservation_id",
        ReservationId::parse(&request.reservation_id),
    );
    all(id, wrong)
}

pub fn get_stock(request: &pb::GetStockRequest) -> Result<Sku, Status> {
    let mut wrong = FieldViolations::default();
    let sku = wrong.take("sku", Sku::parse(&request.sku));
    all(sku, wrong)
}

/// After which SKU, and how many.
pub fn list_stock(request: &pb::ListStockRequest) -> Result<(String, u32), Status> {
    let mut wrong = FieldViolations::default();
    let size = page_token::size(request.page_size, PAGE_DEFAULT, PAGE_MAX);
    let size = wrong.take("page_size", size);
    let after = page_token::decode::<String>(LIST_STOCK, &request.page_token);
    let after = wrong.take("page_token", after);
    all(after.map(Option::unwrap_or_default).zip(size), wrong)
}

pub fn adjust_stock(request: &pb::AdjustStockRequest) -> Result<Adjustment, Status> {
    let mut wrong = FieldViolations::default();
    let sku = wrong.take("sku", Sku::parse(&request.sku));
    let delta = wrong.take("on_hand_delta", Delta::parse(request.on_hand_delta));
    let id = Uuid::try_parse(&request.adjustment_id).map_err(|_| "must be a UUID");
    let id = wrong.take("adjustment_id", id);
    let reason = request.reason.trim();
    let length = (1..=REASON_CHARS_MAX).contains(&reason.chars().count());
    wrong.check(length, "reason", "must have 1 to 200 characters");
    let printable = !reason.chars().any(char::is_control);
    wrong.check(printable, "reason", "must not have control characters");
    let parsed = (|| {
        Some(Adjustment {
            id: id?.into(),
            sku: sku?,
            delta: delta?,
            reason: reason.to_owned(),
        })
    })();
    all(parsed, wrong)
}

pub fn ack(ack: Ack) -> CommandAck {
    match ack {
        Ack::Accepted => CommandAck::accepted(),
        Ack::Decided(outcome) => CommandAck::decided(DecidedOutcome {
            event_id: outcome.event_id.to_string(),
            event_type: outcome.event_type,
            payload: outcome.payload.to_string(),
            headers: outcome.headers.into_iter().collect(),
        }),
    }
}

pub fn reservation(reservation: Reservation) -> pb::Reservation {
    pb::Reservation {
        reservation_id: reservation.id.to_string(),
        order_id: reservation.order_id.to_string(),
        state: state(reservation.state).into(),
        lines: reservation
            .lines
            .into_iter()
            .map(|line| pb::StockLine {
                sku: line.sku.to_string(),
                quantity: line.quantity.get(),
            })
            .collect(),
        expire_time: reservation.expires_at.map(Into::into),
        create_time: Some(reservation.created_at.into()),
        update_time: Some(reservation.updated_at.into()),
        version: reservation.version,
    }
}

fn state(state: State) -> pb::reservation::State {
    match state {
        State::Pending => pb::reservation::State::Pending,
        State::Committed => pb::reservation::State::Committed,
        State::Released => pb::reservation::State::Released,
        State::Expired => pb::reservation::State::Expired,
        State::Refused => pb::reservation::State::Refused,
        State::Returned => pb::reservation::State::Returned,
    }
}

pub fn stock(level: &StockLevel) -> pb::Stock {
    pb::Stock {
        sku: level.sku.to_string(),
        on_hand: level.on_hand,
        reserved: level.reserved,
        available: level.available(),
    }
}

pub fn stock_page(levels: &[StockLevel], more: bool) -> pb::ListStockResponse {
    let last = levels.last().filter(|_| more);
    pb::ListStockResponse {
        stock: levels.iter().map(stock).collect(),
        next_page_token: last
            .map(|level| page_token::encode(LIST_STOCK, &level.sku.as_str()))
            .unwrap_or_default(),
    }
}
