-- Every change of `stock`, written in the transaction that made it and never touched again.
-- For each SKU, on_hand and reserved equal the sums of their deltas.
CREATE TABLE stock_journal (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sku            text COLLATE "C" NOT NULL,
    movement       text NOT NULL,
    on_hand_delta  bigint NOT NULL,
    reserved_delta bigint NOT NULL,
    reservation_id uuid REFERENCES reservations (id),   -- whose movement it is; null for an adjustment
    adjustment_id  uuid,                                -- chosen by who adjusts; null for a reservation
    reason         text,                                -- said by who adjusts
    recorded_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT stock_journal_movement
        CHECK (movement IN ('ADJUSTED', 'RESERVED', 'COMMITTED', 'SOLD_AFTER_EXPIRY', 'RELEASED', 'EXPIRED', 'RETURNED')),
    CONSTRAINT stock_journal_one_cause
        CHECK ((movement = 'ADJUSTED') = (adjustment_id IS NOT NULL)
           AND (movement = 'ADJUSTED') = (reservation_id IS NULL)),
    -- A reservation makes each movement at most once, whoever tries.
    CONSTRAINT stock_journal_reservation_once UNIQUE (reservation_id, sku, movement),
    -- An adjustment is made once: the insert of this row is the claim.
    CONSTRAINT stock_journal_adjustment_once UNIQUE (adjustment_id)
);
