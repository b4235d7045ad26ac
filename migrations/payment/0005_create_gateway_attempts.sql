-- Every call to the processor that was answered, or waited for in vain: written with what it led to,
-- and never touched again. A call that a crash cut off is not in here.
CREATE TABLE gateway_attempts (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id  uuid NOT NULL REFERENCES payments (payment_id),
    operation   text NOT NULL,
    result      text NOT NULL,
    detail      text,                    -- the processor's own words, without card or customer
    attempt     integer NOT NULL,        -- which try of this phase it belonged to, from 1
    recorded_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT gateway_attempts_operation CHECK (operation IN
        ('CREATE_INTENT', 'CONFIRM', 'CANCEL', 'RETRIEVE_INTENT', 'FIND_INTENTS', 'REFUND', 'LIST_REFUNDS')),
    CONSTRAINT gateway_attempts_attempt CHECK (attempt > 0)
);

CREATE INDEX gateway_attempts_payment ON gateway_attempts (payment_id);
