-- Inbox: which messages a consumer has judged, and those it could not.
-- Copy this file into a migration of your own; it needs PostgreSQL 12 or newer.

-- A row means: the effect of the message is in the transaction that wrote the row, or the message
-- was judged late or foreign. Never "seen".
CREATE TABLE inbox_messages (
    consumer    text        NOT NULL,
    message_id  uuid        NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, message_id)
);
-- Rows come in order of time, so a block range index is enough for retention and costs nothing to write.
CREATE INDEX inbox_messages_received_at ON inbox_messages USING brin (received_at);

-- Messages that can never take effect, kept whole for a person to look at.
CREATE TABLE dead_letters (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer     text        NOT NULL,
    topic        text        NOT NULL,
    partition    integer     NOT NULL,
    kafka_offset bigint      NOT NULL,
    message_id   text,                                   -- ce_id as it came, if it came
    key          text,
    payload      bytea       NOT NULL,
    headers      jsonb       NOT NULL,
    error        text        NOT NULL,
    parked_at    timestamptz NOT NULL DEFAULT now(),
    redriven_at  timestamptz,
    payload_hash bytea       NOT NULL GENERATED ALWAYS AS (sha256(payload)) STORED,
    -- A crash between the parking and the offset's commit brings the message again. The payload is
    -- in the key because a topic that was made anew counts its offsets anew.
    CONSTRAINT dead_letters_once UNIQUE (consumer, topic, partition, kafka_offset, payload_hash)
);

-- Tries of a message whose handling may have killed the process. Written before the try, gone after it.
CREATE TABLE inbox_attempts (
    consumer     text    NOT NULL,
    topic        text    NOT NULL,
    partition    integer NOT NULL,
    kafka_offset bigint  NOT NULL,
    attempts     integer NOT NULL,
    PRIMARY KEY (consumer, topic, partition, kafka_offset)
);
