//! `google.protobuf.Timestamp` with the ProtoJSON form that Tercet writes: RFC 3339, UTC, `Z`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

/// A point in time, on the wire the same as `google.protobuf.Timestamp`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct Timestamp {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// 0 to 999,999,999, counted forward.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl prost::Name for Timestamp {
    const NAME: &'static str = "Timestamp";
    const PACKAGE: &'static str = "google.protobuf";
}

impl From<OffsetDateTime> for Timestamp {
    fn from(time: OffsetDateTime) -> Self {
        Self {
            seconds: time.unix_timestamp(),
            nanos: time.nanosecond().cast_signed(),
        }
    }
}

/// The seconds or nanoseconds are outside of what `google.protobuf.Timestamp` allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfRange;

impl std::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the timestamp is out of range")
    }
}

impl std::error::Error for OutOfRange {}

impl TryFrom<Timestamp> for OffsetDateTime {
    type Error = OutOfRange;

    fn try_from(value: Timestamp) -> Result<Self, OutOfRange> {
        let nanos = u32::try_from(value.nanos).map_err(|_| OutOfRange)?;
        Self::from_unix_timestamp(value.seconds)
            .and_then(|time| time.replace_nanosecond(nanos))
            .map_err(|_| OutOfRange)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = OffsetDateTime::try_from(*self).map_err(ser::Error::custom)?;
        serializer.serialize_str(&time.format(&Rfc3339).map_err(ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = OffsetDateTime::parse(&text, &Rfc3339).map_err(de::Error::custom)?;
        Ok(time.to_offset(UtcOffset::UTC).into())
    }
}
