use tercet_contracts::saga::v1 as pb;
use tonic::Code;
use uuid::Uuid;

use crate::world::{World, error, fields};

#[tokio::test]
async fn sagas_are_listed_and_told_by_either_id() {
    let world = World::new().await;
    let running = world.placed().await;
    let done = world.placed_at("end").await;
    let mut sagas = world.service.sagas.clone();

    let request = pb::ListSagasRequest {
        status: pb::saga::Status::Running.into(),
        ..pb::ListSagasRequest::default()
    };
    let page = sagas.list_sagas(request).await.unwrap().into_inner();
    let ids: Vec<_> = page.sagas.iter().map(|saga| &saga.saga_id).collect();
    assert_eq!(ids, [&running.saga_id]);

    for saga_id in [&done.saga_id, &done.order_id] {
        let request = pb::GetSagaRequest {
            saga_id: saga_id.clone(),
        };
        let found = sagas.get_saga(request).await.unwrap().into_inner();
        let saga = found.saga.unwrap();
        assert_eq!(saga.status(), pb::saga::Status::Completed);
        assert_eq!(saga.order_id, done.order_id);
        assert_eq!(found.log.first().unwrap().entry, "SAGA_STARTED");
        assert_eq!(found.log.last().unwrap().entry, "COMPLETED");
    }
}

#[tokio::test]
async fn bad_requests_about_sagas_are_told() {
    let world = World::new().await;
    let mut sagas = world.service.sagas.clone();
    let request = pb::ListSagasRequest {
        status: 99,
        page_size: -1,
        page_token: "x".to_owned(),
        stuck_only: false,
    };
    let refused = error(sagas.list_sagas(request).await);
    assert_eq!(fields(&refused), ["status", "page_size", "page_token"]);

    let request = pb::GetSagaRequest {
        saga_id: Uuid::now_v7().to_string(),
    };
    let refused = error(sagas.get_saga(request).await);
    assert_eq!(refused.code, Code::NotFound);
    assert_eq!(refused.reason, "SAGA_NOT_FOUND");
}
