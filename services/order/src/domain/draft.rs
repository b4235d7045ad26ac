//! An order as it was asked for, and everything that is wrong with it.
//!
//! A caller hears of all bad fields at once, also of those that only the product table knows to be
//! bad. So nothing is read before the products are at hand.

use std::collections::{BTreeSet, HashMap};

use crate::domain::{
    Currency, CustomerId, Money, MoneyError, NewOrder, PaymentMethod, PricedLine, Product, Sku,
};

/// Most lines of one request.
pub const LINES_MAX: usize = 50;
/// Most pieces of one SKU in one order.
pub const QUANTITY_MAX: i64 = 1_000_000;

/// A field that must change before the request can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field, for example `lines[0].quantity`.
    pub field: String,
    /// What must be, as a sentence.
    pub description: String,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub customer_id: String,
    pub currency: String,
    pub payment_method: String,
    /// SKU and quantity, as sent.
    pub lines: Vec<(String, i64)>,
    /// What was found wrong outside of the order itself, for example a missing key.
    pub rejected: Vec<Violation>,
}

impl Draft {
    /// Which products must be looked up to price it; never more than [`LINES_MAX`].
    pub fn skus(&self) -> BTreeSet<Sku> {
        self.lines
            .iter()
            .take(LINES_MAX)
            .filter_map(|(sku, _)| Sku::parse(sku).ok())
            .collect()
    }

    /// Reads, checks and prices all of it. Lines of one SKU become one.
    pub fn price(&self, products: &HashMap<Sku, Product>) -> Result<NewOrder, Vec<Violation>> {
        let mut violations = Violations(self.rejected.clone());
        let customer_id = violations.take("customer_id", CustomerId::parse(&self.customer_id));
        let currency = violations.take("currency", Currency::parse(&self.currency));
        let payment_method =
            violations.take("payment_method", PaymentMethod::parse(&self.payment_method));
        let lines = self.price_lines(currency, products, &mut violations);
        let total = currency.and_then(|currency| {
            let total = total(&lines, currency).map_err(|error| error.to_string());
            violations.take("lines", total)
        });
        match (customer_id, payment_method, total, violations.0) {
            (Some(customer_id), Some(payment_method), Some(total), violations)
                if violations.is_empty() =>
            {
                Ok(NewOrder {
                    customer_id,
                    payment_method,
                    lines,
                    total,
                })
            }
            (_, _, _, violations) => Err(violations),
        }
    }

    fn price_lines(
        &self,
        currency: Option<Currency>,
        products: &HashMap<Sku, Product>,
        violations: &mut Violations,
    ) -> Vec<PricedLine> {
        match self.lines.len() {
            0 => violations.add("lines", "must have at least one line"),
            1..=LINES_MAX => {}
            _ => violations.add("lines", format!("must have at most {LINES_MAX} lines")),
        }
        let mut priced = Vec::new();
        for (index, (sku, quantity)) in self.lines.iter().take(LINES_MAX).enumerate() {
            let product = find(sku, currency, products);
            let product = violations.take(&format!("lines[{index}].sku"), product);
            let field = format!("lines[{index}].quantity");
            let quantity = violations.take(&field, check_quantity(*quantity));
            if let (Some(product), Some(quantity)) = (product, quantity) {
                violations.take(&field, add_line(&mut priced, product, quantity));
            }
        }
        priced
    }
}

/// Everything that was found wrong so far.
#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn add(&mut self, field: &str, description: impl Into<String>) {
        self.0.push(Violation {
            field: field.to_owned(),
            description: description.into(),
        });
    }

    fn take<T, E: ToString>(&mut self, field: &str, read: Result<T, E>) -> Option<T> {
        read.map_err(|error| self.add(field, error.to_string()))
            .ok()
    }
}

fn find<'a>(
    sku: &str,
    currency: Option<Currency>,
    products: &'a HashMap<Sku, Product>,
) -> Result<&'a Product, String> {
    let sku = Sku::parse(sku).map_err(|error| error.to_string())?;
    let product = products
        .get(&sku)
        .ok_or_else(|| format!("there is no product {sku}"))?;
    match (currency, product.unit_price.currency) {
        (Some(asked), sold_in) if asked != sold_in => {
            Err(format!("{sku} is sold in {sold_in}, not in {asked}"))
        }
        _ => Ok(product),
    }
}

fn check_quantity(quantity: i64) -> Result<i64, String> {
    match quantity {
        1..=QUANTITY_MAX => Ok(quantity),
        ..=0 => Err("must be 1 or more".to_owned()),
        _ => Err(too_many()),
    }
}

fn too_many() -> String {
    format!("must be at most {QUANTITY_MAX} pieces of one SKU")
}

/// Adds to the line of the same SKU if there is one. Two quantities within bounds cannot overflow.
fn add_line(lines: &mut Vec<PricedLine>, product: &Product, quantity: i64) -> Result<(), String> {
    if let Some(line) = lines.iter_mut().find(|line| line.sku == product.sku) {
        line.quantity = check_quantity(line.quantity.saturating_add(quantity))?;
        return Ok(());
    }
    lines.push(PricedLine {
        sku: product.sku.clone(),
        quantity,
        unit_price_minor: product.unit_price.minor,
    });
    Ok(())
}

fn total(lines: &[PricedLine], currency: Currency) -> Result<Money, MoneyError> {
    lines.iter().try_fold(Money::zero(currency), |sum, line| {
        let price = Money {
            minor: line.unit_price_minor,
            currency,
        };
        sum.plus(price.times(line.quantity)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products() -> HashMap<Sku, Product> {
        [
            ("TEA", 890, "EUR"),
            ("MUG", 1900, "EUR"),
            ("HAT", 5, "USD"),
            ("SUN", i64::MAX, "EUR"),
        ]
        .map(|(sku, minor, currency)| {
            let sku = Sku::parse(sku).unwrap();
            let unit_price = Money {
                minor,
                currency: Currency::parse(currency).unwrap(),
            };
            (
                sku.clone(),
                Product {
                    sku,
                    name: "…".to_owned(),
                    unit_price,
                },
            )
        })
        .into()
    }

    fn priced(lines: &[(&str, i64)]) -> Result<NewOrder, Vec<Violation>> {
        draft(lines).price(&products())
    }

    fn draft(lines: &[(&str, i64)]) -> Draft {
        Draft {
            customer_id: "ann".to_owned(),
            currency: "EUR".to_owned(),
            payment_method: "pm_card_visa".to_owned(),
            lines: lines
                .iter()
                .map(|(sku, quantity)| ((*sku).to_owned(), *quantity))
                .collect(),
            rejected: Vec::new(),
        }
    }

    fn fields(violations: &[Violation]) -> Vec<&str> {
        violations
            .iter()
            .map(|violation| violation.field.as_str())
            .collect()
    }

    #[test]
    fn the_server_prices_and_sums_lines_of_one_sku() {
        let order = priced(&[("TEA", 1), ("MUG", 2), ("TEA", 2)]).unwrap();
        assert_eq!(order.total.minor, 3 * 890 + 2 * 1900);
        let lines: Vec<_> = order
            .lines
            .iter()
            .map(|line| (line.sku.as_str(), line.quantity))
            .collect();
        assert_eq!(lines, [("TEA", 3), ("MUG", 2)]);
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let draft = Draft {
            customer_id: String::new(),
            payment_method: "4242 4242".to_owned(),
            rejected: vec![Violation {
                field: "idempotency-key".to_owned(),
                description: "must be set".to_owned(),
            }],
            ..draft(&[("TEA", 0), ("", 1), ("NONE", 1), ("HAT", QUANTITY_MAX + 1)])
        };
        let violations = draft.price(&products()).unwrap_err();
        assert_eq!(
            fields(&violations),
            [
                "idempotency-key",
                "customer_id",
                "payment_method",
                "lines[0].quantity",
                "lines[1].sku",
                "lines[2].sku",
                "lines[3].sku",
                "lines[3].quantity",
            ]
        );
    }

    #[test]
    fn the_number_of_lines_has_bounds() {
        assert_eq!(fields(&priced(&[]).unwrap_err()), ["lines"]);
        assert!(priced(&[("TEA", 1); LINES_MAX]).is_ok());
        assert_eq!(
            fields(&priced(&[("TEA", 1); LINES_MAX + 1]).unwrap_err()),
            ["lines"]
        );
    }

    #[test]
    fn a_sum_of_lines_keeps_the_bound_of_one() {
        let violations = priced(&[("TEA", QUANTITY_MAX), ("TEA", 1)]).unwrap_err();
        assert_eq!(fields(&violations), ["lines[1].quantity"]);
    }

    #[test]
    fn a_total_that_overflows_is_refused() {
        assert_eq!(fields(&priced(&[("SUN", 2)]).unwrap_err()), ["lines"]);
        assert_eq!(
            fields(&priced(&[("SUN", 1), ("TEA", 1)]).unwrap_err()),
            ["lines"]
        );
    }
}
