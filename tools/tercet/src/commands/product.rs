//! `tercet product`: list.

use clap::Subcommand;
use tercet_contracts::order::v1 as pb;

use crate::{
    client::Remote,
    commands::pages::{self, Limit, Page},
    failure::Failure,
    screen::Screen,
    settings::Global,
    view::ProductView,
};

/// What to do with products.
#[derive(Debug, Subcommand)]
pub enum Product {
    /// List what can be ordered, by SKU
    List {
        #[command(flatten)]
        limit: Limit,
    },
}

impl Product {
    /// Does it.
    pub async fn run(self, global: &Global, screen: &Screen) -> Result<(), Failure> {
        let remote = Remote::order(global)?;
        let Self::List { limit } = self;
        let products = pages::collect(limit, async |page_size, page_token| {
            let message = pb::ListProductsRequest {
                page_size,
                page_token,
            };
            let answer = remote.orders().list_products(remote.request(message)).await;
            let page = answer.map_err(|status| remote.failure("ListProducts", &status))?;
            let page = page.into_inner();
            Ok(Page {
                rows: page.products.into_iter().map(ProductView::from).collect(),
                next_page_token: page.next_page_token,
            })
        })
        .await?;
        screen.list(&products.rows);
        if let Some(product) = products.rows.first() {
            screen.suggest(&format!(
                "tercet order place --customer ada {}=1",
                product.sku
            ));
        }
        Ok(())
    }
}
