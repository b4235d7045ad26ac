-- What the running service may do. It cannot alter the schema, and nothing it does can rewrite what
-- was called and told: no UPDATE and no DELETE of attempts and events. A payment is never deleted, and
-- a guard only gains its outcome.
GRANT SELECT, INSERT, UPDATE ON payments TO payment_service;
GRANT SELECT, INSERT, UPDATE ON refunds TO payment_service;
GRANT SELECT, INSERT ON gateway_attempts TO payment_service;

GRANT SELECT, INSERT, UPDATE ON command_guards TO payment_service;

GRANT SELECT, INSERT, DELETE ON outbox_events TO payment_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_pending TO payment_service;
GRANT SELECT, UPDATE ON outbox_partitions TO payment_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_relays TO payment_service;
