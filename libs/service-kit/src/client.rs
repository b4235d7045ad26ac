//! gRPC clients that notice dead peers, and requests that carry what the peer must know.

use std::error::Error as _;
use std::time::Duration;

use tercet_telemetry::propagation;
use tonic::transport::{Channel, Endpoint};
use tonic::{ConnectError, Request, Status};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// tonic pings neither by default nor while idle: a half-open connection would hang every call.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// Below the server's 256 streams per connection: streams that wait to be opened can pin the
/// connection's window and freeze it.
const CALLS_MAX: usize = 200;

/// A channel to `url`, connected when first used and again whenever it breaks.
///
/// # Errors
/// The URL is not valid.
pub fn channel(url: &str) -> Result<Channel, tonic::transport::Error> {
    Ok(Endpoint::from_shared(url.to_owned())?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
        .concurrency_limit(CALLS_MAX)
        .connect_lazy())
}

/// A request that tells the peer its deadline and belongs to the current trace.
///
/// `Endpoint::timeout` would only stop waiting here: the peer would work on for nobody.
pub fn request<T>(message: T, deadline: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(deadline);
    propagation::inject_metadata(request.metadata_mut());
    request
}

/// No connection could be made, so the call was not sent at all. Anything else may have been.
pub fn is_connect_error(status: &Status) -> bool {
    let mut source = status.source();
    while let Some(error) = source {
        if error.is::<ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}
