//! Whether a database's schema is the one that these programs know.

use std::borrow::Cow;

use sqlx::migrate::Migrator;

/// How a schema compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Schema {
    /// The same.
    Same(i64),
    /// It has a migration that we do not know: older programs refuse to start on it.
    Newer(i64),
    /// It lacks migrations from this one on.
    Older(i64),
    /// A migration that was applied is not the one of that number here.
    Changed(i64),
}

/// The migrations of a service.
pub(super) fn known(service: &str) -> &'static Migrator {
    static ORDER: Migrator = sqlx::migrate!("../../migrations/order");
    static PAYMENT: Migrator = sqlx::migrate!("../../migrations/payment");
    static INVENTORY: Migrator = sqlx::migrate!("../../migrations/inventory");
    match service {
        "order" => &ORDER,
        "payment" => &PAYMENT,
        _ => &INVENTORY,
    }
}

/// Compares what was applied, by number and checksum, with what is known.
pub(super) fn compare(applied: &[(i64, Vec<u8>)], known: &Migrator) -> Schema {
    let known: Vec<(i64, &Cow<'static, [u8]>)> = known
        .iter()
        .map(|migration| (migration.version, &migration.checksum))
        .collect();
    let find = |version| known.iter().find(|(known, _)| *known == version);
    if let Some((version, _)) = applied.iter().find(|(version, _)| find(*version).is_none()) {
        return Schema::Newer(*version);
    }
    let is_changed = |(version, checksum): &&(i64, Vec<u8>)| {
        find(*version).is_some_and(|(_, known)| known.as_ref() != checksum.as_slice())
    };
    if let Some((version, _)) = applied.iter().find(is_changed) {
        return Schema::Changed(*version);
    }
    let is_applied = |version| applied.iter().any(|(applied, _)| *applied == version);
    match known.iter().find(|(version, _)| !is_applied(*version)) {
        Some((version, _)) => Schema::Older(*version),
        None => Schema::Same(
            known
                .last()
                .map(|(version, _)| *version)
                .unwrap_or_default(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_the_same_newer_older_or_changed() {
        for service in ["order", "payment", "inventory"] {
            let known = known(service);
            let applied = || -> Vec<(i64, Vec<u8>)> {
                let all = known.iter();
                all.map(|one| (one.version, one.checksum.to_vec()))
                    .collect()
            };
            let last = applied().last().unwrap().0;
            assert!(last >= 6, "{service}: {last}");
            assert_eq!(compare(&applied(), known), Schema::Same(last));
            assert_eq!(compare(&[], known), Schema::Older(1));

            let mut older = applied();
            older.pop();
            assert_eq!(compare(&older, known), Schema::Older(last));

            let mut newer = applied();
            newer.push((9_999, vec![1]));
            assert_eq!(compare(&newer, known), Schema::Newer(9_999));

            let mut changed = applied();
            changed[2].1 = vec![0];
            assert_eq!(compare(&changed, known), Schema::Changed(changed[2].0));
        }
    }
}
