-- What the running service may do. It cannot alter the schema, and nothing it does can rewrite the
-- journal: no UPDATE and no DELETE there. Events and guards are not rewritten either: an event goes
-- when retention takes it, and a guard only gains its outcome.
GRANT SELECT, INSERT, UPDATE ON stock TO inventory_service;
GRANT SELECT, INSERT, UPDATE ON reservations TO inventory_service;
GRANT SELECT, INSERT ON reservation_lines TO inventory_service;
GRANT SELECT, INSERT ON stock_journal TO inventory_service;

GRANT SELECT, INSERT, UPDATE ON command_guards TO inventory_service;

GRANT SELECT, INSERT, DELETE ON outbox_events TO inventory_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_pending TO inventory_service;
GRANT SELECT, UPDATE ON outbox_partitions TO inventory_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_relays TO inventory_service;
