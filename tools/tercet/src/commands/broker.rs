//! `tercet broker`: the embedded broker in a process of its own.

use clap::Args;
use serde::Serialize;

use crate::{
    broker::EmbeddedBroker,
    failure::{Exit, Failure},
    screen::Screen,
    signals, topics,
};

/// A broker for development.
#[derive(Debug, Args)]
#[command(after_help = "\
It is librdkafka's mock cluster. It keeps nothing: records live in memory, at most 5 MB or 100,000 a
partition, the oldest dropped in silence. The admin API is missing (topics exist from the start), and
the first join of a consumer group takes about three seconds. Use Kafka for anything you rely on.")]
pub struct Broker {
    /// Where to listen on 127.0.0.1; 0 takes any free port
    #[arg(long, default_value_t = 19092, env = "TERCET_BROKER_PORT")]
    port: u16,
    /// Prefix of the topics that exist from the start; may be given several times
    #[arg(
        long = "topic-prefix",
        value_name = "PREFIX",
        default_value = "tercet",
        env = "TOPIC_PREFIX"
    )]
    prefixes: Vec<String>,
}

/// What a program that starts the broker wants to know.
#[derive(Debug, Serialize)]
struct Running {
    brokers: String,
    topics: Vec<String>,
    partitions: i32,
}

impl Broker {
    /// Runs until Ctrl-C or SIGTERM.
    pub async fn run(self, screen: &Screen) -> Result<(), Failure> {
        let broker = EmbeddedBroker::start(self.port, &self.prefixes)
            .await
            .map_err(|error| {
                Failure::from(error).advise("choose another port: tercet broker --port 0")
            })?;
        let running = Running {
            brokers: broker.address().to_string(),
            topics: self
                .prefixes
                .iter()
                .flat_map(|prefix| topics::names(prefix))
                .collect(),
            partitions: topics::PARTITIONS,
        };
        screen.next(&running, |running, _| running.brokers.clone());
        screen.say("embedded broker: keeps nothing, ends with Ctrl-C");
        tokio::select! {
            ended = broker.serve() => match ended {
                Ok(()) => Ok(()),
                Err(error) => Err(Failure::new(Exit::Failed, format!("the broker's door broke: {error}"))),
            },
            () = signals::ended_by_person() => Ok(()),
        }
    }
}
