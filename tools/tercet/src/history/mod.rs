//! The timeline of one order, read from where each service wrote it down: the saga's log, the three
//! outboxes, and the payment service's journal of calls to the card processor.
//!
//! All of a stack's databases are on one server, so their times can be compared. Where they are not,
//! the order of moments of different services is only as good as the servers' clocks.

mod events;
mod gateway_calls;
mod saga_log;

use anyhow::Context as _;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use crate::{
    stack::Databases,
    timeline::{Moment, Timeline, Who},
};

/// Everything that was written down about `order_id`.
pub async fn of_order(databases: &Databases, order_id: Uuid) -> anyhow::Result<Timeline> {
    let mut moments = of_service(&databases.order.admin_url, order_id, Who::Order).await?;
    moments.extend(of_service(&databases.inventory.admin_url, order_id, Who::Inventory).await?);
    moments.extend(of_service(&databases.payment.admin_url, order_id, Who::Payment).await?);
    Ok(Timeline::new(from_the_placing_on(moments)))
}

/// The saga is started in the transaction that places its order, a moment before the event is written:
/// told after it, as whoever placed the order sees it.
fn from_the_placing_on(mut moments: Vec<Moment>) -> Vec<Moment> {
    let placed = moments.iter().find(|moment| moment.who == Who::Order);
    if let Some(placed) = placed.map(|moment| moment.at) {
        for moment in &mut moments {
            moment.at = moment.at.max(placed);
        }
    }
    moments
}

async fn of_service(url: &str, order_id: Uuid, who: Who) -> anyhow::Result<Vec<Moment>> {
    let mut connection = PgConnection::connect(url)
        .await
        .context("cannot read the history")?;
    let mut moments = events::read(&mut connection, order_id, who).await?;
    match who {
        Who::Order => moments.extend(saga_log::read(&mut connection, order_id).await?),
        Who::Payment => moments.extend(gateway_calls::read(&mut connection, order_id).await?),
        Who::Client | Who::Saga | Who::Inventory | Who::Gateway => {}
    }
    connection.close().await?;
    Ok(moments)
}

#[cfg(test)]
mod tests {
    use time::{Duration, OffsetDateTime, macros::datetime};

    use super::*;

    const START: OffsetDateTime = datetime!(2026-11-30 10:00:00 UTC);

    #[test]
    fn an_order_is_placed_before_its_saga_starts() {
        let later = START + Duration::milliseconds(14);
        let moments = from_the_placing_on(vec![
            Moment::new(later, Who::Order, "placed"),
            Moment::new(START, Who::Saga, "▸ reserve-stock"),
        ]);
        let timeline = Timeline::new(moments);
        let told: Vec<_> = timeline.moments().iter().map(|m| m.what.as_str()).collect();
        assert_eq!(told, ["placed", "▸ reserve-stock"]);
        assert!(timeline.moments().iter().all(|moment| moment.at == later));
    }
}
