-- One row for each ReserveStock that was decided, also for a refusal, and a tombstone for one that
-- was undone before it came: so each outcome has an aggregate and a version.
CREATE TABLE reservations (
    id            uuid PRIMARY KEY,             -- chosen by the saga
    order_id      uuid NOT NULL,
    state         text NOT NULL,
    version       bigint NOT NULL,              -- rises with every event, and only with one
    expires_at    timestamptz,                  -- null if it never held anything
    missing_lines jsonb,                        -- why it was refused: [{sku, requested, available}]
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT reservations_state
        CHECK (state IN ('PENDING', 'COMMITTED', 'RELEASED', 'EXPIRED', 'REFUSED', 'RETURNED')),
    CONSTRAINT reservations_hold_ends CHECK (state <> 'PENDING' OR expires_at IS NOT NULL),
    CONSTRAINT reservations_version CHECK (version >= 1)
);

-- The sweeper's: only open holds are in it, oldest first.
CREATE INDEX reservations_open_holds ON reservations (expires_at) WHERE state = 'PENDING';

-- What is, was or should have been held. No reference to stock: a refused line may name no SKU of ours.
CREATE TABLE reservation_lines (
    reservation_id uuid NOT NULL REFERENCES reservations (id),
    sku            text COLLATE "C" NOT NULL,
    quantity       bigint NOT NULL,
    PRIMARY KEY (reservation_id, sku),
    CONSTRAINT reservation_lines_quantity CHECK (quantity > 0)
);
