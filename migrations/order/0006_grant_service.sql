-- What the running service may do. It cannot alter the schema, and nothing it does can rewrite the
-- journal of the sagas: no UPDATE and no DELETE there.
GRANT SELECT, INSERT, UPDATE ON orders TO order_service;
GRANT SELECT, INSERT ON products TO order_service;
GRANT SELECT, INSERT, UPDATE ON sagas TO order_service;
GRANT SELECT, INSERT ON saga_log TO order_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO order_service;
GRANT SELECT, INSERT, DELETE ON inbox_messages TO order_service;
GRANT SELECT, INSERT, UPDATE ON dead_letters TO order_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON inbox_attempts TO order_service;
-- Published events go after their time, in batches.
GRANT SELECT, INSERT, DELETE ON outbox_events TO order_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_pending TO order_service;
GRANT SELECT, UPDATE ON outbox_partitions TO order_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_relays TO order_service;
