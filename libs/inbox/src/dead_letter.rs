//! Dead letters: messages that can never take effect, kept whole for a person.

use sqlx::{PgPool, types::Json};

use crate::{Envelope, Error};

const ERROR_TEXT_MAX: usize = 2_000;

/// Keeps `envelope` and why it could not be handled. Parking it again does nothing.
///
/// No inbox row is written: the message had no effect, and may have one when it is sent anew.
pub(crate) async fn park(
    pool: &PgPool,
    consumer: &str,
    envelope: &Envelope,
    error: &str,
) -> Result<(), Error> {
    // A NUL fits into neither text nor jsonb, and must not keep the message from being parked.
    let clean = |text: &str| text.replace('\0', "\u{fffd}");
    let headers: std::collections::BTreeMap<String, String> = envelope
        .headers
        .iter()
        .map(|(name, value)| (clean(name), clean(value)))
        .collect();
    sqlx::query(
        "INSERT INTO dead_letters
             (consumer, topic, partition, kafka_offset, message_id, key, payload, headers, error)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT ON CONSTRAINT dead_letters_once DO NOTHING",
    )
    .bind(consumer)
    .bind(&envelope.topic)
    .bind(envelope.partition)
    .bind(envelope.offset)
    .bind(headers.get("ce_id"))
    .bind(envelope.key.as_deref().map(clean))
    .bind(&envelope.payload)
    .bind(Json(&headers))
    .bind(
        clean(error)
            .chars()
            .take(ERROR_TEXT_MAX)
            .collect::<String>(),
    )
    .execute(pool)
    .await?;
    Ok(())
}
