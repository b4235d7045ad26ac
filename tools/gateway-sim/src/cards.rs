//! The test cards: a `payment_method` names how confirming and refunding it will go.

/// A card that the simulator knows.
#[derive(Debug, PartialEq, Eq)]
pub struct Card {
    /// The `payment_method` a client sends.
    pub token: &'static str,
    /// What confirming an intent with it does.
    pub on_confirm: OnConfirm,
    /// What refunding a charge of it does.
    pub on_refund: OnRefund,
}

/// What a confirm does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConfirm {
    /// Captures and says so.
    Approve,
    /// Answers 402 with this `decline_code`.
    Decline {
        /// Stripe's finer reason for `card_declined`.
        decline_code: &'static str,
    },
    /// The first confirm captures, stores its answer, and never sends it.
    ActThenHang,
    /// The first confirm does nothing and never answers; the next one is approved.
    HangFirst,
    /// The first confirm never answers, and captures only after a while.
    ActLate,
    /// Neither acts nor answers until it is released or the intent is cancelled.
    Hold,
    /// Answers 500, and keeps that answer under the key.
    Fail {
        /// Whether the money was taken before the failure.
        acts: bool,
    },
    /// Captures and says so, slowly.
    Slow,
}

/// What a refund does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRefund {
    /// Gives the money back and says so.
    Succeed,
    /// The first refund gives the money back, stores its answer, and never sends it.
    ActThenHang,
    /// The first refund ends as `failed`; one under another key succeeds.
    FailFirst,
    /// Always answers 400.
    Refuse,
    /// Is `pending` for a while, then `succeeded`.
    Pend,
}

/// Every card, in the order of the README.
pub const CARDS: &[Card] = &[
    confirming("pm_card_visa", OnConfirm::Approve),
    confirming(
        "pm_card_chargeDeclined",
        OnConfirm::Decline {
            decline_code: "generic_decline",
        },
    ),
    confirming(
        "pm_card_chargeDeclinedInsufficientFunds",
        OnConfirm::Decline {
            decline_code: "insufficient_funds",
        },
    ),
    confirming("pm_sim_confirm_acts_then_times_out", OnConfirm::ActThenHang),
    confirming("pm_sim_confirm_times_out", OnConfirm::HangFirst),
    confirming("pm_sim_confirm_acts_late", OnConfirm::ActLate),
    confirming("pm_sim_confirm_held", OnConfirm::Hold),
    confirming("pm_sim_500_stored", OnConfirm::Fail { acts: false }),
    confirming("pm_sim_500_stored_acts", OnConfirm::Fail { acts: true }),
    confirming("pm_sim_slow", OnConfirm::Slow),
    refunding("pm_sim_refund_acts_then_times_out", OnRefund::ActThenHang),
    refunding("pm_sim_refund_fails_once", OnRefund::FailFirst),
    refunding("pm_sim_refund_refused", OnRefund::Refuse),
    refunding("pm_sim_refund_pending", OnRefund::Pend),
];

const fn confirming(token: &'static str, on_confirm: OnConfirm) -> Card {
    Card {
        token,
        on_confirm,
        on_refund: OnRefund::Succeed,
    }
}

const fn refunding(token: &'static str, on_refund: OnRefund) -> Card {
    Card {
        token,
        on_confirm: OnConfirm::Approve,
        on_refund,
    }
}

/// The card behind a `payment_method`, if there is one.
pub fn find(token: &str) -> Option<&'static Card> {
    CARDS.iter().find(|card| card.token == token)
}
