//! `tercet stock`: list, adjust.

use clap::{Args, Subcommand};
use tercet_contracts::inventory::v1 as pb;
use uuid::Uuid;

use crate::{
    client::Remote,
    commands::pages::{self, Limit, Page},
    failure::{Exit, Failure},
    ids,
    screen::Screen,
    settings::Global,
    view::StockView,
};

/// What to do with stock.
#[derive(Debug, Subcommand)]
pub enum Stock {
    /// List the stock, by SKU
    List {
        #[command(flatten)]
        limit: Limit,
    },
    /// Add to or take from the goods on hand; refused below what is reserved
    #[command(after_help = "\
Example:
  tercet stock adjust CUP -2 --reason \"two broken in the shelf\"")]
    Adjust(Adjust),
}

/// What changes and why.
#[derive(Debug, Args)]
pub struct Adjust {
    /// Which stock
    sku: String,
    /// Added to the goods on hand; may be negative
    #[arg(allow_negative_numbers = true)]
    delta: i64,
    /// Why, for the journal
    #[arg(long)]
    reason: String,
    /// The adjustment's id; the same one sent again has no second effect. Made and printed if not given
    #[arg(long, value_name = "UUID")]
    id: Option<Uuid>,
}

impl Stock {
    /// Does it.
    pub async fn run(self, global: &Global, screen: &Screen) -> Result<(), Failure> {
        let remote = Remote::inventory(global)?;
        match self {
            Self::List { limit } => list(&remote, screen, limit).await,
            Self::Adjust(args) => args.run(&remote, screen).await,
        }
    }
}

impl Adjust {
    async fn run(self, remote: &Remote, screen: &Screen) -> Result<(), Failure> {
        let id = self.id.unwrap_or_else(ids::fresh);
        screen.say(&screen.talk_ink().dim(&format!("adjustment: {id}")));
        let message = pb::AdjustStockRequest {
            sku: self.sku,
            on_hand_delta: self.delta,
            reason: self.reason,
            adjustment_id: id.to_string(),
        };
        let answer = remote.stock().adjust_stock(remote.request(message)).await;
        let answer = answer.map_err(|status| {
            let failure = remote.failure("AdjustStock", &status);
            if failure.exit == Exit::Unreachable {
                failure.advise(format!("repeat it with --id {id}: it has one effect only"))
            } else {
                failure
            }
        })?;
        let stock = answer
            .into_inner()
            .stock
            .map(StockView::from)
            .ok_or_else(|| {
                Failure::new(
                    Exit::Failed,
                    "the inventory service answered without a stock",
                )
            })?;
        screen.list(&[stock]);
        Ok(())
    }
}

async fn list(remote: &Remote, screen: &Screen, limit: Limit) -> Result<(), Failure> {
    let stock = pages::collect(limit, async |page_size, page_token| {
        let message = pb::ListStockRequest {
            page_size,
            page_token,
        };
        let answer = remote.stock().list_stock(remote.request(message)).await;
        let page = answer
            .map_err(|status| remote.failure("ListStock", &status))?
            .into_inner();
        Ok(Page {
            rows: page.stock.into_iter().map(StockView::from).collect(),
            next_page_token: page.next_page_token,
        })
    })
    .await?;
    screen.list(&stock.rows);
    if stock.more {
        screen.suggest("there are more: --limit ROWS");
    }
    Ok(())
}
