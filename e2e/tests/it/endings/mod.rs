//! Every way in which an order can end, one test each. What an ending must leave behind is asserted
//! everywhere: order, payment, the processor's books, reservation, stock and its journal, saga and
//! its log, and the events on the topics.
//!
//! All but one share a world; each has a product of its own there.

mod cancel_during_charge;
mod cancelled_half_way;
mod charge_timed_out;
mod confirmed;
mod declined_card;
mod duplicate_request;
mod expired_hold;
mod out_of_stock;

/// The log up to a step's own outcome: what all orders have in common.
const RESERVED: [&str; 3] = [
    "SAGA_STARTED",
    "STEP_STARTED reserve-stock",
    "STEP_SUCCEEDED reserve-stock",
];
const CHARGED: [&str; 2] = [
    "STEP_STARTED charge-payment",
    "STEP_SUCCEEDED charge-payment",
];
const CONFIRMED: [&str; 4] = [
    "STEP_STARTED commit-stock",
    "STEP_SUCCEEDED commit-stock",
    "LOCAL_STEP_DONE confirm-order",
    "COMPLETED",
];
/// A cancel comes while the charge is outstanding: nobody knows what became of it, so it is undone.
const CANCELLED_WHILE_CHARGING: [&str; 4] = [
    "STEP_STARTED charge-payment",
    "CANCEL_REQUESTED",
    "STEP_UNKNOWN charge-payment",
    "TURNED_BACK",
];
const CHARGE_UNDONE: [&str; 2] = [
    "UNDO_STARTED charge-payment",
    "UNDO_SUCCEEDED charge-payment",
];
const STOCK_BACK: [&str; 3] = [
    "UNDO_STARTED reserve-stock",
    "UNDO_SUCCEEDED reserve-stock",
    "COMPENSATED",
];
