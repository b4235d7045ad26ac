//! The libraries' tables: copies are copies.

use tercet_order::MIGRATOR;

#[test]
fn the_libraries_tables_are_copied_to_the_letter() {
    let sql = |version| {
        let migration = MIGRATOR.iter().find(|m| m.version == version).unwrap();
        migration.sql.as_str().to_owned()
    };
    assert_eq!(sql(1), tercet_outbox::SCHEMA);
    assert_eq!(sql(2), tercet_inbox::INBOX_SCHEMA);
    assert_eq!(sql(3), tercet_idempotency::SCHEMA);
    assert_eq!(sql(4), tercet_saga_postgres::SCHEMA);
}
