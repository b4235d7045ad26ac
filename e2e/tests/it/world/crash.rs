//! Processes that die at a named line; see `tercet-crash-point`.

use std::{os::unix::process::ExitStatusExt as _, time::Duration};

use tercet_cli::stack::Part;

use super::World;

const VARIABLE: &str = "TERCET_CRASH_AT";
const SIGABRT: i32 = 6;
/// A crash point may lie behind a processor that does not answer.
const CRASHES_WITHIN: Duration = Duration::from_secs(30);

impl World {
    /// Starts a part again so that it dies when it comes to `point`.
    pub(crate) async fn arm(&mut self, part: Part, point: &str) {
        // Nothing old may come to the point before the test's own order does.
        self.published().await;
        self.stack
            .set_variable(part, VARIABLE, Some(point))
            .unwrap();
        self.stack.restart(part).await.unwrap();
    }

    /// Waits until it has died there, the first time or, at `point:N`, the N-th.
    pub(crate) async fn crashed(&mut self, part: Part, point: &str) {
        let ended = self.stack.wait_ended(part, CRASHES_WITHIN).await;
        let status = ended.unwrap_or_else(|error| panic!("{point}: {error:#}"));
        assert_eq!(status.signal(), Some(SIGABRT), "{point}: {status}");
        let log = std::fs::read_to_string(self.stack.log(part)).unwrap();
        let (name, _) = point.split_once(':').unwrap_or((point, ""));
        let said = format!("crash point {name} reached");
        assert!(log.contains(&said), "{point}");
    }

    /// Starts it again as it should be.
    pub(crate) async fn disarm(&mut self, part: Part) {
        self.stack.set_variable(part, VARIABLE, None).unwrap();
        self.stack.restart(part).await.unwrap();
    }
}
