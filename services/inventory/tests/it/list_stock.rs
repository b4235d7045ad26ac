//! Stock is listed in SKU order, page by page.

use crate::support::House;

#[tokio::test]
async fn pages_follow_each_other_and_end() {
    let house = House::with(&[("TEA", 1), ("CUP", 2), ("TEA-2", 3), ("APPLE", 4)]).await;
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let (page, more) = house.app.list_stock(after, 3).await.unwrap();
        seen.extend(page.iter().map(|level| level.sku.to_string()));
        after = seen.last().unwrap().clone();
        if !more {
            break;
        }
    }
    assert_eq!(seen, ["APPLE", "CUP", "TEA", "TEA-2"]);
    let (page, more) = house.app.list_stock(String::new(), 4).await.unwrap();
    assert_eq!(
        (page.len(), more),
        (4, false),
        "a full last page is the last"
    );
}
