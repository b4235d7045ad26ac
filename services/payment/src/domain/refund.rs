//! How money goes back exactly once, though answers get lost and keys expire.
//!
//! The processor is asked under the payment's own id as `Idempotency-Key`. Another key is used only
//! when the one before is known to be spent: the processor's refusal is stored under it, or it is so
//! old that the processor may have forgotten it, *and* the list of refunds shows none of ours.

use crate::domain::{PaymentId, RefundId};

/// An open refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub id: RefundId,
    pub amount_minor: i64,
    pub key_number: i32,
    /// The processor may have forgotten this key, or is about to.
    pub key_is_old: bool,
}

/// A refund as the processor lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Ours, if it carries one: refunds by other hands never count.
    pub refund_id: Option<RefundId>,
    pub state: RefundState,
}

/// What the processor says of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundState {
    Succeeded,
    /// On its way.
    Pending,
    /// It came to nothing; its key is spent.
    Failed,
}

/// What to do about an open refund, given the processor's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTry {
    /// It is done.
    Succeeded,
    /// Look again later; ask for nothing.
    Poll,
    /// Ask, under the key that the refund has.
    Ask,
    /// The key is too old to be asked under: take the next one first.
    TakeNextKey,
}

impl Refund {
    /// Exactly the payment's id, or `{payment_id}:r{n}`.
    pub fn idempotency_key(&self, payment_id: PaymentId) -> String {
        match self.key_number {
            0 => payment_id.to_string(),
            n => format!("{payment_id}:r{n}"),
        }
    }

    /// Before every try after the first.
    pub fn next_try(&self, listed: &[Listed]) -> NextTry {
        let ours = || {
            listed
                .iter()
                .filter(|listed| listed.refund_id == Some(self.id))
                .map(|listed| listed.state)
        };
        if ours().any(|state| state == RefundState::Succeeded) {
            NextTry::Succeeded
        } else if ours().any(|state| state == RefundState::Pending) {
            NextTry::Poll
        } else if self.key_is_old {
            NextTry::TakeNextKey
        } else {
            NextTry::Ask
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn refund(key_number: i32, key_is_old: bool) -> Refund {
        Refund {
            id: Uuid::from_u128(7).into(),
            amount_minor: 100,
            key_number,
            key_is_old,
        }
    }

    fn listed(id: u128, state: RefundState) -> Listed {
        Listed {
            refund_id: Some(Uuid::from_u128(id).into()),
            state,
        }
    }

    #[test]
    fn the_first_key_is_exactly_the_payments_id() {
        let payment = PaymentId::from(Uuid::from_u128(1));
        let id = "00000000-0000-0000-0000-000000000001";
        assert_eq!(refund(0, false).idempotency_key(payment), id);
        assert_eq!(
            refund(2, false).idempotency_key(payment),
            format!("{id}:r2")
        );
    }

    #[test]
    fn only_our_own_refund_counts() {
        let others = [
            listed(8, RefundState::Succeeded),
            Listed {
                refund_id: None,
                state: RefundState::Succeeded,
            },
        ];
        assert_eq!(refund(0, false).next_try(&others), NextTry::Ask);
        let ours = [
            listed(8, RefundState::Failed),
            listed(7, RefundState::Succeeded),
        ];
        assert_eq!(refund(0, false).next_try(&ours), NextTry::Succeeded);
        // A success under any of our keys ends it.
        let both = [
            listed(7, RefundState::Failed),
            listed(7, RefundState::Succeeded),
        ];
        assert_eq!(refund(1, true).next_try(&both), NextTry::Succeeded);
    }

    #[test]
    fn a_pending_refund_is_waited_for_however_old_its_key_is() {
        let pending = [listed(7, RefundState::Pending)];
        assert_eq!(refund(0, false).next_try(&pending), NextTry::Poll);
        assert_eq!(refund(0, true).next_try(&pending), NextTry::Poll);
    }

    #[test]
    fn an_old_key_is_left_only_when_the_list_shows_nothing_of_ours() {
        assert_eq!(refund(0, true).next_try(&[]), NextTry::TakeNextKey);
        let failed = [listed(7, RefundState::Failed)];
        assert_eq!(refund(0, true).next_try(&failed), NextTry::TakeNextKey);
        assert_eq!(refund(0, false).next_try(&failed), NextTry::Ask);
    }
}
