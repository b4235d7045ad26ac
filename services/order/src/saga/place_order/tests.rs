//! Every ending of an order, as a dialogue.

use tercet_saga::{
    Definition, Direction, Timing,
    testing::{Conversation, Dialogue, Ending},
};
use uuid::Uuid;

use super::*;
use crate::domain::LINES_MAX;

fn an_order() -> OrderInProgress {
    OrderInProgress {
        order_id: Uuid::from_u128(2).into(),
        reservation_id: Uuid::from_u128(3).into(),
        payment_id: Uuid::from_u128(4).into(),
        lines: vec![(Sku::parse("TEA-GREEN-100G").unwrap(), 2)],
        hold_ttl_seconds: 900,
        total_minor: 1780,
        currency: Currency::parse("EUR").unwrap(),
        payment_method: PaymentMethod::parse("pm_card_visa").unwrap(),
    }
}

fn place() -> Conversation<PlaceOrder> {
    Dialogue::start(an_order())
}

fn stock_reserved() -> Reply {
    Reply::StockReserved { expires_at: None }
}

fn missing() -> Vec<MissingLine> {
    vec![MissingLine {
        sku: Sku::parse("TEA-GREEN-100G").unwrap(),
        requested: 2,
        available: 1,
    }]
}

fn cancelled(reason: &str, message: &str, missing_lines: Vec<MissingLine>) -> Local {
    let (reason, message) = (reason.to_owned(), message.to_owned());
    Local::CancelOrder(CancelReason {
        reason,
        message,
        missing_lines,
    })
}

fn cancelled_by_customer() -> Local {
    cancelled("CANCELLED_BY_CUSTOMER", "cancelled", Vec::new())
}

#[test]
fn a_happy_order_is_confirmed() {
    let order = an_order();
    let mut saga = place();
    saga.asks(Command::ReserveStock {
        reservation_id: order.reservation_id,
        order_id: order.order_id,
        lines: order.lines.clone(),
        hold_ttl: Duration::from_mins(15),
    });
    saga.answer(stock_reserved());
    saga.asks(Command::ChargePayment {
        payment_id: order.payment_id,
        order_id: order.order_id,
        total_minor: 1780,
        currency: order.currency,
        payment_method: order.payment_method,
    });
    saga.answer(Reply::PaymentCharged);
    saga.asks(Command::CommitReservation {
        reservation_id: order.reservation_id,
    });
    saga.answer(Reply::ReservationCommitted {
        after_expiry: false,
    });
    saga.runs(Local::ConfirmOrder);
    saga.ends(Ending::Completed);
}

#[test]
fn an_order_that_is_out_of_stock_tells_the_missing_lines_and_undoes_nothing() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK)
        .answer(Reply::ReservationRefused {
            reason: "OUT_OF_STOCK".to_owned(),
            missing_lines: missing(),
        });
    let message = "the stock could not be reserved";
    saga.runs(cancelled("OUT_OF_STOCK", message, missing()));
    saga.ends(Ending::Compensated {
        because: "OUT_OF_STOCK",
    });
}

#[test]
fn a_declined_card_gives_the_stock_back() {
    let order = an_order();
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT)
        .answer(Reply::PaymentDeclined {
            reason: "CARD_DECLINED".to_owned(),
        });
    saga.asks(Command::ReleaseReservation {
        reservation_id: order.reservation_id,
        order_id: order.order_id,
    });
    saga.answer(Reply::ReservationReleased { changed: true });
    saga.runs(cancelled(
        "CARD_DECLINED",
        "the payment was declined",
        Vec::new(),
    ));
    saga.ends(Ending::Compensated {
        because: "CARD_DECLINED",
    });
}

#[test]
fn a_hold_that_expired_and_was_sold_gives_the_money_back() {
    let order = an_order();
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT).answer(Reply::PaymentCharged);
    saga.asks_step(COMMIT_STOCK).answer(Reply::CommitRefused {
        reason: "HOLD_EXPIRED".to_owned(),
        missing_lines: missing(),
    });
    saga.asks(Command::RefundPayment {
        payment_id: order.payment_id,
        order_id: order.order_id,
        total_minor: 1780,
        currency: order.currency,
    });
    saga.answer(Reply::PaymentRefunded { changed: true });
    saga.undoes_step(RESERVE_STOCK)
        .answer(Reply::ReservationReleased { changed: false });
    let message = "the hold had expired and the stock was gone";
    saga.runs(cancelled("HOLD_EXPIRED", message, missing()));
    saga.ends(Ending::Compensated {
        because: "HOLD_EXPIRED",
    });
}

#[test]
fn a_commit_after_expiry_confirms_all_the_same() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT).answer(Reply::PaymentCharged);
    saga.asks_step(COMMIT_STOCK)
        .answer(Reply::ReservationCommitted { after_expiry: true });
    saga.runs(Local::ConfirmOrder).ends(Ending::Completed);
}

#[test]
fn a_cancel_while_stock_is_being_reserved_releases_what_may_be_held() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK)
        .cancel("CANCELLED_BY_CUSTOMER");
    saga.undoes_step(RESERVE_STOCK);
    // The hold was made meanwhile: its outcome comes late, and the undo gives it back.
    saga.answer_late(RESERVE_STOCK, Direction::Forward, stock_reserved());
    saga.answer(Reply::ReservationReleased { changed: true });
    saga.runs(cancelled_by_customer());
    saga.ends(Ending::Compensated {
        because: "CANCELLED_BY_CUSTOMER",
    });
}

#[test]
fn a_cancel_while_a_charge_is_unknown_voids_or_refunds_it() {
    for refund in [
        Reply::PaymentVoided { changed: true },
        Reply::PaymentRefunded { changed: true },
    ] {
        let mut saga = place();
        saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
        saga.asks_step(CHARGE_PAYMENT)
            .acks()
            .cancel("CANCELLED_BY_CUSTOMER");
        saga.undoes_step(CHARGE_PAYMENT).answer(refund);
        saga.undoes_step(RESERVE_STOCK)
            .answer(Reply::ReservationReleased { changed: true });
        saga.runs(cancelled_by_customer());
        saga.ends(Ending::Compensated {
            because: "CANCELLED_BY_CUSTOMER",
        });
    }
}

#[test]
fn a_cancel_while_the_stock_is_being_committed_comes_too_late() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT).answer(Reply::PaymentCharged);
    saga.asks_step(COMMIT_STOCK).cancel_is_too_late();
    saga.answer(Reply::ReservationCommitted {
        after_expiry: false,
    });
    saga.runs(Local::ConfirmOrder).ends(Ending::Completed);
}

#[test]
fn a_charge_that_never_ends_is_given_up_and_undone() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT).times_out();
    saga.undoes_step(CHARGE_PAYMENT)
        .answer(Reply::PaymentVoided { changed: true });
    saga.undoes_step(RESERVE_STOCK)
        .answer(Reply::ReservationReleased { changed: true });
    saga.ends(Ending::Compensated {
        because: "TIME_IS_UP",
    });
}

#[test]
fn a_delayed_refund_is_waited_for() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT)
        .cancel("CANCELLED_BY_CUSTOMER");
    saga.undoes_step(CHARGE_PAYMENT)
        .answer(Reply::RefundDelayed {
            reason: "GATEWAY_UNAVAILABLE".to_owned(),
        })
        .is_not_stuck()
        .answer(Reply::PaymentRefunded { changed: true });
    saga.undoes_step(RESERVE_STOCK)
        .answer(Reply::ReservationReleased { changed: true });
    saga.ends(Ending::Compensated {
        because: "CANCELLED_BY_CUSTOMER",
    });
}

#[test]
fn a_refused_refund_waits_for_a_person_and_can_still_end() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT)
        .cancel("CANCELLED_BY_CUSTOMER");
    saga.undoes_step(CHARGE_PAYMENT)
        .answer(Reply::RefundRefused {
            reason: "REFUND_REFUSED".to_owned(),
        })
        .is_stuck("REFUND_REFUSED")
        .answer(Reply::PaymentRefunded { changed: true })
        .is_not_stuck();
    saga.undoes_step(RESERVE_STOCK)
        .answer(Reply::ReservationReleased { changed: true });
    saga.ends(Ending::Compensated {
        because: "CANCELLED_BY_CUSTOMER",
    });
}

#[test]
fn a_commit_without_an_answer_is_asked_again_and_never_guessed() {
    let mut saga = place();
    saga.asks_step(RESERVE_STOCK).answer(stock_reserved());
    saga.asks_step(CHARGE_PAYMENT).answer(Reply::PaymentCharged);
    saga.asks_step(COMMIT_STOCK)
        .no_ack()
        .timer_fires()
        .asks_again();
    saga.times_out().is_stuck("TIME_IS_UP").asks_again();
    saga.answer(Reply::ReservationCommitted {
        after_expiry: false,
    });
    saga.runs(Local::ConfirmOrder).ends(Ending::Completed);
}

#[test]
fn the_steps_obey_the_rules_of_sagas() {
    let definition = Definition::<PlaceOrder>::build(Timing::default()).unwrap();
    let names: Vec<_> = definition.outline().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [RESERVE_STOCK, CHARGE_PAYMENT, COMMIT_STOCK, CONFIRM_ORDER]
    );
}

#[test]
fn the_largest_order_fits_into_a_sagas_row() {
    let sku = Sku::parse(&"X".repeat(Sku::LENGTH_MAX)).unwrap();
    let order = OrderInProgress {
        lines: vec![(sku, crate::domain::QUANTITY_MAX); LINES_MAX],
        payment_method: PaymentMethod::parse(&"p".repeat(PaymentMethod::LENGTH_MAX)).unwrap(),
        total_minor: i64::MAX,
        hold_ttl_seconds: u32::MAX,
        ..an_order()
    };
    // PostgreSQL writes jsonb with a space after each colon and comma.
    let json = serde_json::to_string(&order).unwrap();
    let spaces = json.matches([',', ':']).count();
    assert!(json.len() + spaces <= 4096, "{} bytes", json.len() + spaces);
}

#[test]
fn data_and_commands_survive_being_saved() {
    let saved = serde_json::to_value(an_order()).unwrap();
    let order: OrderInProgress = serde_json::from_value(saved).unwrap();
    assert_eq!(order, an_order());
}
