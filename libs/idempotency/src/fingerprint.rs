//! What makes two calls with one key the same request: a hash over its stable fields.

use std::fmt;

use sha2::{Digest, Sha256};

/// Collects the fields of a request, in an order that the caller keeps for ever.
///
/// Leave out what may differ between two sendings of one request, and write defaults as what they
/// stand for: an absent field and its default are the same request.
///
/// ```
/// use tercet_idempotency::Fingerprint;
/// let order = |lines: &[(&str, i64)]| {
///     let start = Fingerprint::new().field("customer_id", "c-1").count("lines", lines.len());
///     lines.iter().fold(start, |hash, (sku, quantity)| {
///         hash.field("sku", sku).field("quantity", quantity.to_string())
///     })
///     .finish()
/// };
/// assert_eq!(order(&[("tea", 1)]), order(&[("tea", 1)]));
/// assert_ne!(order(&[("tea", 1)]), order(&[("tea", 2)]));
/// ```
#[derive(Clone, Default)]
pub struct Fingerprint(Sha256);

/// The finished hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestHash([u8; 32]);

impl Fingerprint {
    /// No fields yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field. Names and values carry their lengths, so `("a", "bc")` is not `("ab", "c")`.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), value.as_ref()] {
            self.0.update((part.len() as u64).to_be_bytes());
            self.0.update(part);
        }
        self
    }

    /// Adds the length of a list, so that its elements cannot run into what follows it.
    #[must_use]
    pub fn count(self, name: &str, length: usize) -> Self {
        self.field(name, (length as u64).to_be_bytes())
    }

    /// The hash over all fields.
    pub fn finish(self) -> RequestHash {
        RequestHash(self.0.finalize().into())
    }
}

impl RequestHash {
    /// The hash as it is stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(..)")
    }
}

impl fmt::Debug for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestHash(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let one = Fingerprint::new().field("a", "bc").finish();
        assert_ne!(one, Fingerprint::new().field("ab", "c").finish());
        assert_ne!(
            one,
            Fingerprint::new().field("a", "b").field("c", "").finish()
        );
    }

    /// The hash is stored for a day and compared after an upgrade: it must never change.
    #[test]
    fn the_hash_is_frozen() {
        let hash = Fingerprint::new()
            .field("customer_id", "c-1")
            .count("lines", 2)
            .finish();
        assert_eq!(
            format!("{hash:?}"),
            "RequestHash(ef2b4bdf6273e51677ada256433079a91418f4a3ae9e569a82f7ba73a389b38c)"
        );
    }
}
