//! Lists come in pages; people ask for a number of rows.

use std::ops::AsyncFnMut;

use clap::Args;

use crate::failure::Failure;

/// The largest page the services give.
const PAGE_SIZE_MAX: usize = 200;

/// How many rows to show.
#[derive(Debug, Clone, Copy, Args)]
pub struct Limit {
    /// At most so many rows
    #[arg(long, value_name = "ROWS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
}

/// One page: its rows and the token of the next one, empty at the end.
pub(super) struct Page<T> {
    pub(super) rows: Vec<T>,
    pub(super) next_page_token: String,
}

/// Rows up to the limit, and whether there are more.
pub(super) struct Rows<T> {
    pub(super) rows: Vec<T>,
    pub(super) more: bool,
}

/// Asks `fetch(page_size, page_token)` until the limit or the end is reached.
pub(super) async fn collect<T>(
    Limit { limit }: Limit,
    mut fetch: impl AsyncFnMut(i32, String) -> Result<Page<T>, Failure>,
) -> Result<Rows<T>, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut rows = Vec::new();
    let mut token = String::new();
    // Bounded: each page but the last brings a row, and a server that brings none ends the loop.
    loop {
        let wanted = (limit - rows.len()).min(PAGE_SIZE_MAX);
        let page = fetch(i32::try_from(wanted).unwrap_or(i32::MAX), token).await?;
        let brought_nothing = page.rows.is_empty();
        rows.extend(page.rows);
        token = page.next_page_token;
        if token.is_empty() || brought_nothing || rows.len() >= limit {
            let more = !token.is_empty() || rows.len() > limit;
            rows.truncate(limit);
            return Ok(Rows { rows, more });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(limit: u32, there: usize) -> (usize, bool, usize) {
        let mut calls = 0;
        let rows = collect(Limit { limit }, async |size, token| {
            calls += 1;
            let from: usize = token.parse().unwrap_or(0);
            let to = there.min(from + usize::try_from(size).unwrap());
            let next_page_token = if to < there {
                to.to_string()
            } else {
                String::new()
            };
            Ok(Page {
                rows: (from..to).collect(),
                next_page_token,
            })
        });
        let rows = rows.await.unwrap();
        (rows.rows.len(), rows.more, calls)
    }

    #[tokio::test]
    async fn takes_as_many_pages_as_it_needs() {
        assert_eq!(ask(50, 20).await, (20, false, 1));
        assert_eq!(ask(50, 80).await, (50, true, 1));
        assert_eq!(ask(450, 1000).await, (450, true, 3));
        assert_eq!(ask(450, 430).await, (430, false, 3));
    }
}
