//! `tercet saga`: list, show.

use clap::{Args, Subcommand, ValueEnum};
use tercet_contracts::saga::v1 as pb;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    client::Remote,
    commands::pages::{self, Limit, Page},
    failure::{Exit, Failure},
    screen::{Ink, Screen},
    settings::Global,
    timeline::{Moment, Timeline, Who},
    view::{SagaLogView, SagaView, SagaWithLog},
};

const WIDTH: usize = 100;

/// What to do with sagas.
#[derive(Debug, Subcommand)]
pub enum Saga {
    /// List sagas, the newest first
    List(List),
    /// Show one saga with its timeline
    Show {
        /// The saga's id, or its order's
        #[arg(value_name = "SAGA_ID")]
        saga_id: String,
    },
}

/// Which sagas.
#[derive(Debug, Args)]
pub struct List {
    /// Only those in this status
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only those that wait for a person
    #[arg(long)]
    stuck: bool,
    #[command(flatten)]
    limit: Limit,
}

/// Where a saga stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Status {
    /// Going forward
    Running,
    /// Being undone
    Compensating,
    /// Ended well
    Completed,
    /// Ended, everything undone
    Compensated,
    /// Closed by a person
    Failed,
}

impl From<Status> for pb::saga::Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Running => Self::Running,
            Status::Compensating => Self::Compensating,
            Status::Completed => Self::Completed,
            Status::Compensated => Self::Compensated,
            Status::Failed => Self::Failed,
        }
    }
}

impl Saga {
    /// Does it.
    pub async fn run(self, global: &Global, screen: &Screen) -> Result<(), Failure> {
        let remote = Remote::order(global)?;
        match self {
            Self::List(args) => args.run(&remote, screen).await,
            Self::Show { saga_id } => show(&remote, screen, saga_id).await,
        }
    }
}

impl List {
    async fn run(self, remote: &Remote, screen: &Screen) -> Result<(), Failure> {
        let status = self
            .status
            .map_or(pb::saga::Status::Unspecified, pb::saga::Status::from);
        let sagas = pages::collect(self.limit, async |page_size, page_token| {
            let message = pb::ListSagasRequest {
                page_size,
                page_token,
                status: status.into(),
                stuck_only: self.stuck,
            };
            let answer = remote.sagas().list_sagas(remote.request(message)).await;
            let page = answer
                .map_err(|status| remote.failure("ListSagas", &status))?
                .into_inner();
            Ok(Page {
                rows: page.sagas.into_iter().map(SagaView::from).collect(),
                next_page_token: page.next_page_token,
            })
        })
        .await?;
        screen.list(&sagas.rows);
        if let Some(saga) = sagas.rows.first() {
            screen.suggest(&format!("tercet saga show {}", saga.saga_id));
        }
        Ok(())
    }
}

async fn show(remote: &Remote, screen: &Screen, saga_id: String) -> Result<(), Failure> {
    let message = pb::GetSagaRequest { saga_id };
    let answer = remote.sagas().get_saga(remote.request(message)).await;
    let answer = answer
        .map_err(|status| {
            remote
                .failure("GetSaga", &status)
                .advise("tercet saga list")
        })?
        .into_inner();
    let saga = answer
        .saga
        .map(SagaView::from)
        .ok_or_else(|| Failure::new(Exit::Failed, "the order service answered without a saga"))?;
    let log = answer.log.into_iter().map(SagaLogView::from).collect();
    screen.one(&SagaWithLog { saga, log }, draw);
    Ok(())
}

fn draw(saga: &SagaWithLog, ink: Ink) -> String {
    let moments = saga.log.iter().filter_map(moment).collect();
    let timeline = Timeline::new(moments).draw(ink, WIDTH);
    format!("{}\n\n{timeline}", saga.saga.draw(ink))
}

fn moment(entry: &SagaLogView) -> Option<Moment> {
    let at = OffsetDateTime::parse(entry.time.as_deref()?, &Rfc3339).ok()?;
    let words = entry.entry.to_lowercase().replace('_', " ");
    let step = match entry.direction.as_str() {
        "BACKWARD" => format!("undo {}", entry.step),
        _ => entry.step.clone(),
    };
    let parts = [words, step, entry.detail.clone()];
    let parts = parts.iter().filter(|part| !part.trim().is_empty()).cloned();
    Some(Moment::new(
        at,
        Who::Saga,
        parts.collect::<Vec<_>>().join(" · "),
    ))
}
