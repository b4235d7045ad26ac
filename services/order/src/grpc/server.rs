//! `OrderService`: parse → app → render, one short function per RPC.

use std::pin::Pin;

use futures::{Stream, StreamExt as _};
use tercet_contracts::order::v1::{self as pb, order_service_server::OrderService};
use tonic::{Request, Response, Status, metadata::MetadataValue};

use super::{convert, status};
use crate::app::App;

/// Response metadata: the work was done by an earlier call with this key.
const IDEMPOTENT_REPLAYED: &str = "idempotent-replayed";

/// See the module.
#[derive(Clone, Debug)]
pub struct Orders {
    app: App,
}

impl Orders {
    pub fn new(app: App) -> Self {
        Self { app }
    }
}

#[tonic::async_trait]
impl OrderService for Orders {
    async fn place_order(
        &self,
        request: Request<pb::PlaceOrderRequest>,
    ) -> Result<Response<pb::PlaceOrderResponse>, Status> {
        let request = convert::place_order(request);
        let placed = self.app.place_order(request).await.map_err(status::from)?;
        let replayed = placed.is_replayed();
        Ok(marked(convert::placed(placed), replayed))
    }

    async fn get_order(
        &self,
        request: Request<pb::GetOrderRequest>,
    ) -> Result<Response<pb::GetOrderResponse>, Status> {
        let id = convert::order_id(&request.into_inner().order_id)?;
        let order = self.app.get_order(id).await.map_err(status::from)?;
        Ok(Response::new(pb::GetOrderResponse {
            order: Some(convert::snapshot(order)),
        }))
    }

    async fn list_orders(
        &self,
        request: Request<pb::ListOrdersRequest>,
    ) -> Result<Response<pb::ListOrdersResponse>, Status> {
        let request = request.into_inner();
        let list = convert::list_orders(&request)?;
        let page = self.app.list_orders(list).await.map_err(status::from)?;
        Ok(Response::new(convert::order_page(
            page,
            &request.customer_id,
        )))
    }

    async fn cancel_order(
        &self,
        request: Request<pb::CancelOrderRequest>,
    ) -> Result<Response<pb::CancelOrderResponse>, Status> {
        let request = convert::cancel_order(request)?;
        let answer = self.app.cancel_order(request).await.map_err(status::from)?;
        let response = pb::CancelOrderResponse {
            order: Some(convert::snapshot(answer.snapshot)),
        };
        Ok(marked(response, answer.replayed))
    }

    type WatchOrderStream =
        Pin<Box<dyn Stream<Item = Result<pb::WatchOrderResponse, Status>> + Send>>;

    async fn watch_order(
        &self,
        request: Request<pb::WatchOrderRequest>,
    ) -> Result<Response<Self::WatchOrderStream>, Status> {
        let id = convert::order_id(&request.into_inner().order_id)?;
        let watch = self.app.watch_order(id).await.map_err(status::from)?;
        let states = watch.into_stream().map(|state| {
            let order = Some(convert::snapshot(state.map_err(status::from)?));
            Ok(pb::WatchOrderResponse { order })
        });
        Ok(Response::new(Box::pin(states)))
    }

    async fn list_products(
        &self,
        request: Request<pb::ListProductsRequest>,
    ) -> Result<Response<pb::ListProductsResponse>, Status> {
        let list = convert::list_products(&request.into_inner())?;
        let page = self.app.list_products(list).await.map_err(status::from)?;
        Ok(Response::new(convert::product_page(page)))
    }
}

fn marked<T>(response: T, replayed: bool) -> Response<T> {
    let mut response = Response::new(response);
    if replayed {
        let metadata = response.metadata_mut();
        metadata.insert(IDEMPOTENT_REPLAYED, MetadataValue::from_static("true"));
    }
    response
}
