//! `SagaAdminService`: what people who run the system see of its sagas.

use tercet_contracts::saga::v1::{self as pb, saga, saga_admin_service_server::SagaAdminService};
use tercet_saga::Status as SagaStatus;
use tercet_saga_postgres::admin::{LogLine, SagaView};
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::{convert, status};
use crate::{
    app::{App, ListSagas},
    domain::Violation,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct SagaAdmin {
    app: App,
}

impl SagaAdmin {
    pub fn new(app: App) -> Self {
        Self { app }
    }
}

#[tonic::async_trait]
impl SagaAdminService for SagaAdmin {
    async fn list_sagas(
        &self,
        request: Request<pb::ListSagasRequest>,
    ) -> Result<Response<pb::ListSagasResponse>, Status> {
        let request = request.into_inner();
        let filter = filter(&request);
        let list = list_sagas(&request, &filter)?;
        let page = self.app.list_sagas(list).await.map_err(status::from)?;
        Ok(Response::new(pb::ListSagasResponse {
            next_page_token: convert::next_page_token(&filter, page.next.as_ref()),
            sagas: page.sagas.into_iter().map(view).collect(),
        }))
    }

    async fn get_saga(
        &self,
        request: Request<pb::GetSagaRequest>,
    ) -> Result<Response<pb::GetSagaResponse>, Status> {
        let id = saga_id(&request.into_inner().saga_id)?;
        let found = self.app.get_saga(id).await.map_err(status::from)?;
        Ok(Response::new(pb::GetSagaResponse {
            saga: Some(view(found.saga)),
            log: found.log.into_iter().map(line).collect(),
        }))
    }
}

fn filter(request: &pb::ListSagasRequest) -> String {
    format!("ListSagas/{}/{}", request.status, request.stuck_only)
}

fn list_sagas(request: &pb::ListSagasRequest, filter: &str) -> Result<ListSagas, Status> {
    let mut found = Vec::new();
    let known = saga::Status::try_from(request.status);
    let asked = convert::take(&mut found, "status", known);
    let page = convert::page(&mut found, filter, request.page_size, &request.page_token);
    match (asked, page) {
        (Some(asked), Some((page_size, after))) => Ok(ListSagas {
            status: domain_status(asked),
            stuck_only: request.stuck_only,
            after,
            page_size,
        }),
        _ => Err(status::invalid(found)),
    }
}

fn saga_id(text: &str) -> Result<Uuid, Status> {
    Uuid::try_parse(text).map_err(|_| {
        status::invalid(vec![Violation {
            field: "saga_id".to_owned(),
            description: "must be a UUID: of a saga, or of an order".to_owned(),
        }])
    })
}

fn domain_status(status: saga::Status) -> Option<SagaStatus> {
    match status {
        saga::Status::Unspecified => None,
        saga::Status::Running => Some(SagaStatus::Running),
        saga::Status::Compensating => Some(SagaStatus::Compensating),
        saga::Status::Completed => Some(SagaStatus::Completed),
        saga::Status::Compensated => Some(SagaStatus::Compensated),
        saga::Status::Failed => Some(SagaStatus::Failed),
    }
}

/// Words that this version does not know are shown as unspecified.
fn view(saga: SagaView) -> pb::Saga {
    let status = saga::Status::from_str_name(&format!("STATUS_{}", saga.status));
    pb::Saga {
        saga_id: saga.saga_id.to_string(),
        kind: saga.kind,
        definition_version: saga.definition_version,
        status: status.unwrap_or_default().into(),
        stuck_reason: saga.stuck_reason.unwrap_or_default(),
        step: saga.step,
        direction: direction(&saga.direction).into(),
        attempt: saga.attempt,
        epoch: saga.epoch,
        version: saga.version,
        command_id: saga.command_id.unwrap_or_default(),
        order_id: saga.subject_id.to_string(),
        failure_reason: saga.failure_reason.unwrap_or_default(),
        create_time: Some(saga.started_at.into()),
        update_time: Some(saga.updated_at.into()),
        next_action_time: saga.next_action_at.map(Into::into),
    }
}

fn line(line: LogLine) -> pb::SagaLogEntry {
    pb::SagaLogEntry {
        seq: line.seq,
        time: Some(line.at.into()),
        entry: line.entry,
        direction: direction(&line.direction).into(),
        step: line.step,
        command_id: line.command_id.unwrap_or_default(),
        detail: line.detail,
    }
}

fn direction(stored: &str) -> pb::Direction {
    pb::Direction::from_str_name(&format!("DIRECTION_{stored}")).unwrap_or_default()
}
