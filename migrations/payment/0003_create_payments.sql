-- One row for each ChargePayment that was taken, and a tombstone for one that was undone before it
-- came: so each outcome has an aggregate and a version.
CREATE TABLE payments (
    payment_id        uuid PRIMARY KEY,              -- chosen by the saga
    order_id          uuid NOT NULL,
    status            text NOT NULL,
    amount_minor      bigint NOT NULL,               -- what was asked for, in minor units
    currency          text NOT NULL,                 -- ISO-4217
    captured_minor    bigint NOT NULL DEFAULT 0,     -- what was taken
    refunded_minor    bigint NOT NULL DEFAULT 0,     -- what was given back
    payment_method    text,                          -- the processor's token; null for a tombstone
    decline_reason    text,
    gateway_intent_id text,                          -- null until the processor has told it
    version           bigint NOT NULL,               -- rises with every event, and only with one

    -- Whose work this is: the charge, and an undo that waits for the charge's answer or is being done.
    charge_saga_id    uuid,                          -- null for a tombstone
    charge_step       text,
    charge_command_id text,
    refund_saga_id    uuid,
    refund_step       text,
    refund_command_id text,
    trace_context     jsonb NOT NULL DEFAULT '{}',   -- of the command that asked last

    -- Open work, for whichever worker comes: set by the transaction that opened it.
    next_attempt_at   timestamptz,                   -- null when nothing is left to do
    attempts          integer NOT NULL DEFAULT 0,    -- claims in this phase, those that died included
    lease_owner       text,
    lease_until       timestamptz NOT NULL DEFAULT '-infinity',
    told_reason       text,                          -- the delay that was last published

    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT payments_status CHECK (status IN
        ('CHARGING', 'OUTCOME_UNKNOWN', 'CHARGED', 'DECLINED', 'VOIDED', 'REFUNDING', 'REFUNDED')),
    CONSTRAINT payments_version CHECK (version >= 0),
    CONSTRAINT payments_amount CHECK (amount_minor > 0),
    CONSTRAINT payments_captured CHECK (captured_minor BETWEEN 0 AND amount_minor),
    -- The net under every statement: nothing is ever given back twice, whatever the code believes.
    CONSTRAINT payments_refunded CHECK (refunded_minor BETWEEN 0 AND captured_minor),
    CONSTRAINT payments_captured_by_status
        CHECK ((captured_minor > 0) = (status IN ('CHARGED', 'REFUNDING', 'REFUNDED'))),
    CONSTRAINT payments_refunded_by_status
        CHECK (status <> 'REFUNDED' OR refunded_minor = captured_minor),
    -- Nobody forgets open work, and nobody works on what is closed.
    CONSTRAINT payments_open_work CHECK (
        (next_attempt_at IS NOT NULL) = (status IN ('CHARGING', 'OUTCOME_UNKNOWN', 'REFUNDING')))
);

-- The worker's: only open payments are in it, the longest due first.
CREATE INDEX payments_open ON payments (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
-- The list's: newest first.
CREATE INDEX payments_newest ON payments (created_at DESC, payment_id DESC);
