-- Command guard: a participant decides each command of a saga once, and remembers the outcome.
-- Copy this file into a migration of your own; it needs PostgreSQL 12 or newer.
-- Rows live as long as the aggregates they made: never purge them before.
CREATE TABLE command_guards (
    saga_id    uuid        NOT NULL,
    step       text        NOT NULL,
    direction  text        NOT NULL CONSTRAINT command_guards_direction CHECK (direction IN ('FORWARD', 'BACKWARD')),
    command_id text        NOT NULL,                     -- the command that wrote the row; for a tombstone, the undo
    epoch      bigint      NOT NULL,                     -- the highest this command came with
    undone     boolean     NOT NULL DEFAULT false,       -- on a FORWARD row: it must not be done (any more)
    outcome    jsonb,                                    -- the outcome event, a full copy; null while open
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (saga_id, step, direction)
);
