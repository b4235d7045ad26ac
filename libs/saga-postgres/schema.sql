-- Sagas: one row a run, and the timeline that people read.
-- Copy this file into a migration of your own; it needs PostgreSQL 12 or newer.

CREATE TABLE sagas (
    id                 uuid PRIMARY KEY,
    kind               text NOT NULL,
    -- What the saga is about, for example an order: one live saga at a time.
    subject_id         uuid NOT NULL,
    -- The steps it was begun by. No other steps ever continue it.
    definition_version integer NOT NULL,
    definition_hash    text NOT NULL,
    status             text NOT NULL,
    -- A mark on a live saga: a person must look. Everything else stays as it is.
    stuck_reason       text,
    step               text NOT NULL,
    direction          text NOT NULL,
    -- The outstanding command. Only its outcome is obeyed.
    command_id         text,
    wait               text NOT NULL,
    waiting_reason     text,
    attempt            integer NOT NULL,
    asks               integer NOT NULL,
    -- Raised by whoever takes the saga over; participants refuse a lower one.
    epoch              bigint NOT NULL,
    -- Rises with every saved change: the compare-and-set.
    version            bigint NOT NULL,
    -- Ids and sums, as given at the start; undo functions see nothing else.
    data               jsonb NOT NULL,
    learned            jsonb,
    failure            jsonb,
    -- W3C trace context of the call that began the saga.
    traceparent        text,
    started_at         timestamptz NOT NULL,
    step_since         timestamptz NOT NULL,
    next_action_at     timestamptz,
    lease_owner        text,
    lease_until        timestamptz,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT sagas_status_is_known
        CHECK (status IN ('RUNNING', 'COMPENSATING', 'COMPLETED', 'COMPENSATED', 'FAILED')),
    CONSTRAINT sagas_direction_is_known CHECK (direction IN ('FORWARD', 'BACKWARD')),
    -- No live saga is ever without an outstanding command: nothing would move it.
    CONSTRAINT sagas_live_has_a_command
        CHECK (status NOT IN ('RUNNING', 'COMPENSATING') OR command_id IS NOT NULL),
    CONSTRAINT sagas_data_is_small CHECK (octet_length(data::text) <= 4096)
) WITH (fillfactor = 70); -- a step's update finds room on its page and touches no index

CREATE UNIQUE INDEX sagas_one_live_a_subject ON sagas (subject_id)
    WHERE status IN ('RUNNING', 'COMPENSATING');
CREATE INDEX sagas_by_subject ON sagas (subject_id);
CREATE INDEX sagas_by_start ON sagas (started_at DESC, id DESC);
-- The timers. A step that starts leaves `next_action_at` alone unless it must fire earlier.
CREATE INDEX sagas_by_next_action ON sagas (next_action_at)
    WHERE status IN ('RUNNING', 'COMPENSATING');

-- Append-only. `seq` rises within a saga: its writers hold the saga's row.
CREATE TABLE saga_log (
    seq        bigint GENERATED ALWAYS AS IDENTITY,
    saga_id    uuid NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    entry      text NOT NULL,
    step       text NOT NULL,
    direction  text NOT NULL,
    command_id text,
    detail     text NOT NULL,
    PRIMARY KEY (saga_id, seq)
);
