//! The libraries' tables are the libraries': copies are copies.

use tercet_inventory::startup::MIGRATIONS;

#[test]
fn the_libraries_tables_are_copied_to_the_letter() {
    let sql = |version| {
        let migration = MIGRATIONS.iter().find(|m| m.version == version).unwrap();
        migration.sql.as_str().to_owned()
    };
    assert_eq!(sql(1), tercet_outbox::SCHEMA);
    assert_eq!(sql(2), tercet_inbox::GUARD_SCHEMA);
}
