-- Outbox: events written in the transaction of the change they tell of, published by the relay.
-- Copy this file into a migration of your own; it needs PostgreSQL 12 or newer.

-- Every event, insert-only. Its row outlives its publication until retention takes it.
CREATE TABLE outbox_events (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id          uuid        NOT NULL,
    aggregate_type    text        NOT NULL,
    aggregate_id      text        NOT NULL,
    aggregate_version bigint      NOT NULL CONSTRAINT outbox_events_version_positive CHECK (aggregate_version > 0),
    topic             text        NOT NULL,
    event_type        text        NOT NULL,
    payload           jsonb       NOT NULL,
    headers           jsonb       NOT NULL DEFAULT '{}',
    created_at        timestamptz NOT NULL,
    -- The writer takes the version under its aggregate's row lock. Two writers that did not are told
    -- so here, before a reader meets one version with two meanings.
    CONSTRAINT outbox_events_aggregate_version UNIQUE (aggregate_type, aggregate_id, aggregate_version)
);

-- What the broker has not acknowledged yet: narrow, and empty when all is well.
CREATE TABLE outbox_pending (
    id                bigint      PRIMARY KEY,           -- outbox_events.id
    partition         smallint    NOT NULL,
    aggregate_type    text        NOT NULL,
    aggregate_id      text        NOT NULL,
    aggregate_version bigint      NOT NULL,
    attempts          integer     NOT NULL DEFAULT 0,
    next_attempt_at   timestamptz NOT NULL DEFAULT now(),
    -- Keeps a row that waits for a lower version out of the relay's batch. A hint, never the proof.
    held              boolean     NOT NULL DEFAULT false,
    quarantined_at    timestamptz,
    last_error        text,
    CONSTRAINT outbox_pending_aggregate_version UNIQUE (aggregate_type, aggregate_id, aggregate_version)
) WITH (
    -- A queue: rows live for milliseconds, so dead ones must go by count, not by share.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.0, autovacuum_analyze_threshold = 5000
);

-- The relay's read: of one partition, oldest first, what may be sent at all.
CREATE INDEX outbox_pending_ready ON outbox_pending (partition, id)
    WHERE NOT held AND quarantined_at IS NULL;
-- The relay's check for rows that are held without need. Empty when all is well.
CREATE INDEX outbox_pending_held ON outbox_pending (aggregate_type, aggregate_id, aggregate_version)
    WHERE held;

-- Who publishes a partition. The epoch rises with each change of hands.
CREATE TABLE outbox_partitions (
    partition   smallint    PRIMARY KEY,
    owner       text,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    epoch       bigint      NOT NULL DEFAULT 0
);
INSERT INTO outbox_partitions (partition) SELECT generate_series(0, 31);

-- The relays that are alive, so that they can share the partitions evenly.
CREATE TABLE outbox_relays (
    owner       text        PRIMARY KEY,
    alive_until timestamptz NOT NULL
);

-- The partition of an aggregate: fixed here for ever, and unrelated to Kafka's partitions. A change
-- would let two relays publish one aggregate at once.
CREATE FUNCTION outbox_partition(aggregate_id text) RETURNS smallint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (get_byte(decode(md5(aggregate_id), 'hex'), 0) & 31)::smallint
$$;

-- Appends one event in the caller's transaction, and answers with its row number and the payload as
-- it will be published. `occurredAt` is read after the caller took its aggregate's lock, so it never
-- runs backwards along the versions of one aggregate while the database's clock does not.
CREATE FUNCTION outbox_append(
    event_id uuid, aggregate_type text, aggregate_id text, aggregate_version bigint,
    topic text, event_type text, payload jsonb, headers jsonb
) RETURNS TABLE (id bigint, payload jsonb)
LANGUAGE sql VOLATILE AS $$
    WITH clock AS MATERIALIZED (
        SELECT clock_timestamp() AS at
    ), event AS (
        INSERT INTO outbox_events AS e
            (event_id, aggregate_type, aggregate_id, aggregate_version, topic, event_type,
             payload, headers, created_at)
        SELECT $1, $2, $3, $4, $5, $6,
               $7 || jsonb_build_object('occurredAt',
                   to_char(clock.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
               coalesce($8, '{}'), clock.at
          FROM clock
        RETURNING e.id, e.payload
    ), pending AS (
        INSERT INTO outbox_pending (id, partition, aggregate_type, aggregate_id, aggregate_version)
        SELECT event.id, outbox_partition($3), $2, $3, $4 FROM event
    )
    SELECT event.id, event.payload FROM event
$$;
