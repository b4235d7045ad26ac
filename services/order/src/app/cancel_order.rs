//! Cancel an order: before the stock is being committed, its saga turns back at once.

use tercet_idempotency::{Claim, Fingerprint, Key};
use tercet_saga::{Failure, Judgement};

use super::{Answer, App, Error, answer};
use crate::{
    domain::{OrderId, OrderState},
    store,
};

const METHOD: &str = "CancelOrder";
const REASON: &str = "CANCELLED_BY_CUSTOMER";

/// What is asked.
#[derive(Clone, Debug)]
pub struct CancelOrder {
    pub order_id: OrderId,
    pub key: Key,
}

impl App {
    pub async fn cancel_order(&self, request: CancelOrder) -> Result<Answer, Error> {
        let CancelOrder { order_id, key } = request;
        let fingerprint = Fingerprint::new().field("order_id", order_id.to_string());
        let claim = answer::claim(METHOD, key, fingerprint.finish());
        let work = || {
            let claim = claim.clone();
            self.owned(move |app| async move { app.cancel(&claim, order_id).await })
        };
        answer::land(self.cancelling.run(&claim, work).await)
    }

    /// Any error rolls all of it back, the key too: what is refused now may be taken later.
    async fn cancel(&self, claim: &Claim, id: OrderId) -> Result<Answer, Error> {
        let mut tx = self.pool.begin().await?;
        if let Some(earlier) = answer::replay(&mut tx, claim).await? {
            return Ok(earlier);
        }
        let saga_id = store::orders::saga_of(&mut tx, id)
            .await?
            .ok_or(Error::OrderNotFound(id))?;
        let failure = Failure::new(REASON, "cancelled by the customer");
        // Lock order: the saga, then its order.
        let (judgement, follow_up) = self.engine.cancel(&mut tx, saga_id, failure).await?;
        let order = store::orders::lock(&mut tx, id)
            .await?
            .ok_or(Error::OrderNotFound(id))?;
        let snapshot = order.snapshot;
        match (snapshot.order.state, judgement) {
            (OrderState::Confirmed, _) => return Err(Error::NotCancellable(id)),
            (_, Judgement::TooLate) => return Err(Error::Confirming(id)),
            // Turned back now, or being cancelled, or cancelled before.
            (_, Judgement::Obeyed | Judgement::Ignored | Judgement::Late) => {}
        }
        let answer = answer::keep(&mut tx, claim, snapshot).await?;
        tx.commit().await?;

        self.engine.follow_up(follow_up);
        Ok(answer)
    }
}
