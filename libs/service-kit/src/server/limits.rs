use std::time::Duration;

/// For `max_decoding_message_size` and `max_encoding_message_size` of each generated server: tonic
/// sets them per service only, and its own default is 4 MiB in and no limit out.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// The bounds of a server. tonic's defaults are none at all.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A call's deadline where the client gave none, and the longest it may ask for.
    pub deadline_max: Duration,
    /// Calls at work in the whole server, until the head of their answer; beyond that they are
    /// refused at once. Waiting here would only move the queue to where nobody sees it, and what is
    /// let in waits for a database connection: a few dozen times their number is soon worked off.
    pub calls_max: usize,
    /// Streams of one connection.
    pub streams_per_connection_max: u32,
    /// Between pings to a silent client.
    pub keepalive_interval: Duration,
    /// For the client to answer a ping.
    pub keepalive_timeout: Duration,
    /// After this a client is asked to connect anew: so that new instances get their share.
    pub connection_age_max: Duration,
    /// For the calls at work on such a connection.
    pub connection_age_grace: Duration,
    /// All headers of a call.
    pub header_bytes_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline_max: Duration::from_secs(10),
            calls_max: 512,
            streams_per_connection_max: 256,
            keepalive_interval: Duration::from_secs(10),
            keepalive_timeout: Duration::from_secs(5),
            connection_age_max: Duration::from_hours(1),
            connection_age_grace: Duration::from_mins(1),
            header_bytes_max: 16 * 1024,
        }
    }
}
