//! Stock, the baskets that ask for it, and the movements that change it.

use std::{collections::BTreeMap, fmt};

use crate::domain::AdjustmentId;

/// What is sold: 1 to 64 visible ASCII characters, for example `TEA-GREEN-100G`.
///
/// Ordered by bytes, as the database orders the column: everybody locks stock in this order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sku(String);

/// The text is not a SKU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} visible ASCII characters", Sku::MAX_LEN)]
pub struct InvalidSku;

impl Sku {
    pub const MAX_LEN: usize = 64;

    pub fn parse(text: &str) -> Result<Self, InvalidSku> {
        let fits = (1..=Self::MAX_LEN).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidSku)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sku {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many of one SKU, 1 to [`Quantity::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i64);

/// The number is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {}", Quantity::MAX)]
pub struct InvalidQuantity;

impl Quantity {
    /// Far below what could overflow a sum of [`Basket::LINES_MAX`] lines.
    pub const MAX: i64 = 1_000_000;

    pub fn parse(number: i64) -> Result<Self, InvalidQuantity> {
        if (1..=Self::MAX).contains(&number) {
            Ok(Self(number))
        } else {
            Err(InvalidQuantity)
        }
    }

    pub const fn get(self) -> i64 {
        self.0
    }
}

/// So many of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub sku: Sku,
    pub quantity: Quantity,
}

/// A line that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingLine {
    pub sku: Sku,
    pub requested: i64,
    pub available: i64,
}

/// What one reservation asks for: each SKU once, in lock order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basket(BTreeMap<Sku, Quantity>);

/// The lines make no basket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBasket {
    #[error("must have 1 to {} lines", Basket::LINES_MAX)]
    LineCount,
    #[error("the lines of {sku} must add up to {} at most", Quantity::MAX)]
    TooMany { sku: Sku },
}

impl Basket {
    pub const LINES_MAX: usize = 50;

    /// Lines of the same SKU are summed: they draw on the same stock, so each alone might fit
    /// where both do not.
    pub fn from_lines(lines: Vec<Line>) -> Result<Self, InvalidBasket> {
        if !(1..=Self::LINES_MAX).contains(&lines.len()) {
            return Err(InvalidBasket::LineCount);
        }
        let mut basket: BTreeMap<Sku, Quantity> = BTreeMap::new();
        for Line { sku, quantity } in lines {
            let so_far = basket.get(&sku).map_or(0, |sum| sum.get());
            let Ok(sum) = Quantity::parse(so_far + quantity.get()) else {
                return Err(InvalidBasket::TooMany { sku });
            };
            basket.insert(sku, sum);
        }
        Ok(Self(basket))
    }

    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.0.iter().map(|(sku, quantity)| Line {
            sku: sku.clone(),
            quantity: *quantity,
        })
    }

    pub fn skus(&self) -> Vec<&str> {
        self.0.keys().map(Sku::as_str).collect()
    }

    /// In the order of [`Basket::skus`].
    pub fn quantities(&self) -> Vec<i64> {
        self.0.values().map(|quantity| quantity.get()).collect()
    }
}

/// The stock of one SKU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockLevel {
    pub sku: Sku,
    /// Goods in the house, held ones included.
    pub on_hand: i64,
    /// Held by PENDING reservations.
    pub reserved: i64,
}

impl StockLevel {
    pub const fn available(&self) -> i64 {
        self.on_hand - self.reserved
    }
}

/// Why a reservation changes stock; the journal keeps it beside what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    Reserved,
    Released,
    Expired,
    Committed,
    SoldAfterExpiry,
}

impl Movement {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "RESERVED",
            Self::Released => "RELEASED",
            Self::Expired => "EXPIRED",
            Self::Committed => "COMMITTED",
            Self::SoldAfterExpiry => "SOLD_AFTER_EXPIRY",
        }
    }

    /// What one unit does to `on_hand`.
    pub const fn on_hand_sign(self) -> i64 {
        match self {
            Self::Reserved | Self::Released | Self::Expired => 0,
            Self::Committed | Self::SoldAfterExpiry => -1,
        }
    }

    /// What one unit does to `reserved`.
    pub const fn reserved_sign(self) -> i64 {
        match self {
            Self::Reserved => 1,
            Self::Released | Self::Expired | Self::Committed => -1,
            // Taken and sold in one movement: never held in between.
            Self::SoldAfterExpiry => 0,
        }
    }
}

/// A change of `on_hand` by a person or a delivery: not 0, at most [`Delta::MAX`] either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta(i64);

/// The number is not a change of stock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must not be 0, and at most {} either way", Delta::MAX)]
pub struct InvalidDelta;

impl Delta {
    pub const MAX: i64 = 1_000_000_000;

    pub fn parse(number: i64) -> Result<Self, InvalidDelta> {
        if number != 0 && (-Self::MAX..=Self::MAX).contains(&number) {
            Ok(Self(number))
        } else {
            Err(InvalidDelta)
        }
    }

    pub const fn get(self) -> i64 {
        self.0
    }
}

/// More or fewer goods in the house, for a reason that a person can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adjustment {
    pub id: AdjustmentId,
    pub sku: Sku,
    pub delta: Delta,
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(sku: &str, quantity: i64) -> Line {
        Line {
            sku: Sku::parse(sku).unwrap(),
            quantity: Quantity::parse(quantity).unwrap(),
        }
    }

    #[test]
    fn lines_of_one_sku_are_summed_and_sorted() {
        let basket =
            Basket::from_lines(vec![line("TEA", 2), line("MUG", 1), line("TEA", 3)]).unwrap();
        assert_eq!(basket.skus(), ["MUG", "TEA"]);
        assert_eq!(basket.quantities(), [1, 5]);
    }

    #[test]
    fn a_basket_has_bounds() {
        assert_eq!(
            Basket::from_lines(Vec::new()),
            Err(InvalidBasket::LineCount)
        );
        let too_long = vec![line("TEA", 1); Basket::LINES_MAX + 1];
        assert_eq!(Basket::from_lines(too_long), Err(InvalidBasket::LineCount));
        let too_much = vec![line("TEA", Quantity::MAX), line("TEA", 1)];
        assert!(matches!(
            Basket::from_lines(too_much),
            Err(InvalidBasket::TooMany { .. })
        ));
    }

    #[test]
    fn a_sku_is_short_visible_ascii() {
        for bad in ["", "TEA GREEN", "TEA\0", "TEA\n", "TÉ", &"X".repeat(65)] {
            assert_eq!(Sku::parse(bad), Err(InvalidSku), "{bad:?}");
        }
        assert!(Sku::parse("TEA-GREEN-100G").is_ok());
    }

    /// Every life of a hold ends with nothing reserved, and with the goods gone only if sold.
    #[test]
    fn the_movements_of_every_life_add_up() {
        use Movement::{Committed, Expired, Released, Reserved, SoldAfterExpiry};
        let lives: [(&[Movement], i64); 4] = [
            (&[Reserved, Committed], -1),
            (&[Reserved, Released], 0),
            (&[Reserved, Expired], 0),
            (&[Reserved, Expired, SoldAfterExpiry], -1),
        ];
        for (life, sold) in lives {
            let on_hand: i64 = life.iter().map(|movement| movement.on_hand_sign()).sum();
            let reserved: i64 = life.iter().map(|movement| movement.reserved_sign()).sum();
            assert_eq!((on_hand, reserved), (sold, 0), "{life:?}");
        }
    }

    proptest! {
        #[test]
        fn summing_loses_nothing_and_sorts(
            lines in prop::collection::vec(("[A-C]", 1..1000_i64), 1..Basket::LINES_MAX)
        ) {
            let total: i64 = lines.iter().map(|(_, quantity)| quantity).sum();
            let basket = Basket::from_lines(
                lines.iter().map(|(sku, quantity)| line(sku, *quantity)).collect(),
            ).unwrap();
            prop_assert_eq!(basket.quantities().iter().sum::<i64>(), total);
            prop_assert!(basket.skus().is_sorted_by(|a, b| a < b));
        }
    }
}
