-- Idempotency keys, claimed and answered in the transaction of the work itself.
-- Copy this file into a migration of your own; it needs PostgreSQL 12 or newer.
CREATE TABLE idempotency_keys (
    tenant       text        NOT NULL,
    method       text        NOT NULL,
    key          text        NOT NULL,
    request_hash bytea       NOT NULL,
    response     bytea,                                  -- null only inside the claiming transaction
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant, method, key)
);
CREATE INDEX idempotency_keys_expires_at ON idempotency_keys (expires_at);
