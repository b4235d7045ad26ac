-- Money on its way back. The id goes with each call to the processor, in the refund's metadata: a try
-- whose answer was lost is found by it, whatever key it was made under.
CREATE TABLE refunds (
    refund_id    uuid PRIMARY KEY,
    payment_id   uuid NOT NULL REFERENCES payments (payment_id),
    amount_minor bigint NOT NULL,
    status       text NOT NULL,
    -- The Idempotency-Key: 0 is the payment's id itself, n is `{payment_id}:r{n}`.
    key_number   integer NOT NULL DEFAULT 0,
    key_since    timestamptz NOT NULL DEFAULT now(),   -- not after the first use of this key
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT refunds_amount CHECK (amount_minor > 0),
    CONSTRAINT refunds_status CHECK (status IN ('OPEN', 'SUCCEEDED')),
    CONSTRAINT refunds_key_number CHECK (key_number >= 0)
);

-- Two at once would each ask for the remainder.
CREATE UNIQUE INDEX refunds_one_open ON refunds (payment_id) WHERE status = 'OPEN';
