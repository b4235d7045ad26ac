//! Tries of messages that may kill the process: counted before the try, forgotten after it.

use sqlx::PgPool;

use crate::{Envelope, Error};

/// Counts one more try of this message, committed before the try begins. Answers with its number.
pub(crate) async fn begin(
    pool: &PgPool,
    consumer: &str,
    envelope: &Envelope,
) -> Result<i32, Error> {
    let attempts = sqlx::query_scalar(
        "INSERT INTO inbox_attempts AS a (consumer, topic, partition, kafka_offset, attempts)
         VALUES ($1, $2, $3, $4, 1)
         ON CONFLICT (consumer, topic, partition, kafka_offset)
         DO UPDATE SET attempts = a.attempts + 1
         RETURNING attempts",
    )
    .bind(consumer)
    .bind(&envelope.topic)
    .bind(envelope.partition)
    .bind(envelope.offset)
    .fetch_one(pool)
    .await?;
    Ok(attempts)
}

/// The try ended, and the process with it did not: forgets this message and those before it.
pub(crate) async fn end(pool: &PgPool, consumer: &str, envelope: &Envelope) -> Result<(), Error> {
    sqlx::query(
        "DELETE FROM inbox_attempts
          WHERE consumer = $1 AND topic = $2 AND partition = $3 AND kafka_offset <= $4",
    )
    .bind(consumer)
    .bind(&envelope.topic)
    .bind(envelope.partition)
    .bind(envelope.offset)
    .execute(pool)
    .await?;
    Ok(())
}
