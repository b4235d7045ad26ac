//! Proto → domain, with every bad field found; domain → proto.

use serde::{Serialize, de::DeserializeOwned};
use tercet_contracts::{IDEMPOTENCY_KEY, order::v1 as pb};
use tercet_idempotency::Key;
use tercet_service_kit::page_token;
use tonic::{Request, Status, metadata::MetadataMap};

use super::status;
use crate::{
    app::{CancelOrder, ListOrders, ListProducts, OrderPage, PlaceOrder, Placed, ProductPage},
    domain::{
        CancelReason, CustomerId, Draft, NewOrder, OrderId, OrderState, PricedLine, Product,
        Snapshot, Violation,
    },
};

const PAGE_DEFAULT: u32 = 50;
const PAGE_MAX: u32 = 200;
const PRODUCTS_FILTER: &str = "ListProducts";

pub(super) fn place_order(request: Request<pb::PlaceOrderRequest>) -> PlaceOrder {
    let key = idempotency_key(request.metadata());
    let request = request.into_inner();
    let mut draft = Draft {
        customer_id: request.customer_id,
        currency: request.currency,
        payment_method: request.payment_method,
        lines: request
            .lines
            .into_iter()
            .map(|line| (line.sku, line.quantity))
            .collect(),
        rejected: Vec::new(),
    };
    match key {
        _ if request.validate_only => PlaceOrder::Check(draft),
        Ok(key) => PlaceOrder::Once(draft, key),
        Err(violation) => {
            draft.rejected.push(violation);
            PlaceOrder::Check(draft)
        }
    }
}

pub(super) fn cancel_order(
    request: Request<pb::CancelOrderRequest>,
) -> Result<CancelOrder, Status> {
    let key = idempotency_key(request.metadata());
    let order_id = parse_id(&request.into_inner().order_id);
    match (order_id, key) {
        (Ok(order_id), Ok(key)) => Ok(CancelOrder { order_id, key }),
        (order_id, key) => Err(status::invalid(
            key.err().into_iter().chain(order_id.err()).collect(),
        )),
    }
}

pub(super) fn order_id(text: &str) -> Result<OrderId, Status> {
    parse_id(text).map_err(|violation| status::invalid(vec![violation]))
}

pub(super) fn list_orders(request: &pb::ListOrdersRequest) -> Result<ListOrders, Status> {
    let mut found = Vec::new();
    let customer_id = match request.customer_id.as_str() {
        "" => None,
        text => take(&mut found, "customer_id", CustomerId::parse(text)),
    };
    let filter = orders_filter(&request.customer_id);
    let page = page(&mut found, &filter, request.page_size, &request.page_token);
    match page {
        Some((page_size, after)) if found.is_empty() => Ok(ListOrders {
            customer_id,
            after,
            page_size,
        }),
        _ => Err(status::invalid(found)),
    }
}

pub(super) fn list_products(request: &pb::ListProductsRequest) -> Result<ListProducts, Status> {
    let mut found = Vec::new();
    let (size, token) = (request.page_size, &request.page_token);
    let page = page(&mut found, PRODUCTS_FILTER, size, token);
    let (page_size, after) = page.ok_or_else(|| status::invalid(found))?;
    Ok(ListProducts { after, page_size })
}

/// The size of the page and where it begins; `None` if something is wrong with either.
pub(super) fn page<P: DeserializeOwned>(
    found: &mut Vec<Violation>,
    filter: &str,
    size: i32,
    token: &str,
) -> Option<(u32, Option<P>)> {
    let size = take(
        found,
        "page_size",
        page_token::size(size, PAGE_DEFAULT, PAGE_MAX),
    );
    let after = take(found, "page_token", page_token::decode(filter, token));
    Some((size?, after?))
}

/// Empty at the end.
pub(super) fn next_page_token<P: Serialize>(filter: &str, next: Option<&P>) -> String {
    next.map(|position| page_token::encode(filter, position))
        .unwrap_or_default()
}

pub(super) fn take<T, E: ToString>(
    found: &mut Vec<Violation>,
    field: &str,
    read: Result<T, E>,
) -> Option<T> {
    read.map_err(|error| found.push(violation(field, error.to_string())))
        .ok()
}

fn orders_filter(customer_id: &str) -> String {
    format!("ListOrders/{customer_id}")
}

fn parse_id(text: &str) -> Result<OrderId, Violation> {
    OrderId::parse(text).map_err(|error| violation("order_id", error.to_string()))
}

fn idempotency_key(metadata: &MetadataMap) -> Result<Key, Violation> {
    let wrong = |description: String| violation(IDEMPOTENCY_KEY, description);
    let value = metadata
        .get(IDEMPOTENCY_KEY)
        .ok_or_else(|| wrong("must be set in the call's metadata".to_owned()))?;
    // Bytes that are not text are as little a key as text that is not ASCII.
    let text = String::from_utf8_lossy(value.as_bytes());
    Key::parse(&text).map_err(|error| wrong(error.to_string()))
}

fn violation(field: &str, description: String) -> Violation {
    Violation {
        field: field.to_owned(),
        description,
    }
}

pub(super) fn placed(placed: Placed) -> pb::PlaceOrderResponse {
    let order = match placed {
        Placed::Checked(order) => checked(&order),
        Placed::Saved(answer) => snapshot(answer.snapshot),
    };
    pb::PlaceOrderResponse { order: Some(order) }
}

pub(super) fn order_page(page: OrderPage, customer_id: &str) -> pb::ListOrdersResponse {
    pb::ListOrdersResponse {
        next_page_token: next_page_token(&orders_filter(customer_id), page.next.as_ref()),
        orders: page.orders.into_iter().map(snapshot).collect(),
    }
}

pub(super) fn product_page(page: ProductPage) -> pb::ListProductsResponse {
    pb::ListProductsResponse {
        next_page_token: next_page_token(PRODUCTS_FILTER, page.next.as_ref()),
        products: page.products.into_iter().map(product).collect(),
    }
}

pub(super) fn snapshot(Snapshot { order, stage }: Snapshot) -> pb::Order {
    pb::Order {
        order_id: order.id.to_string(),
        customer_id: order.customer_id.as_str().to_owned(),
        state: state(order.state).into(),
        stage,
        currency: order.currency.to_string(),
        total_minor: order.total_minor,
        payment_method: order.payment_method.as_str().to_owned(),
        lines: order.lines.iter().map(line).collect(),
        cancel_reason: order.cancel_reason.map(cancel_reason),
        saga_id: order.saga_id.to_string(),
        payment_id: order.payment_id.to_string(),
        reservation_id: order.reservation_id.to_string(),
        create_time: Some(order.created_at.into()),
        update_time: Some(order.updated_at.into()),
        version: order.version,
    }
}

/// As it would be saved: no ids, no times, no state.
fn checked(order: &NewOrder) -> pb::Order {
    pb::Order {
        customer_id: order.customer_id.as_str().to_owned(),
        stage: "checked only, not placed".to_owned(),
        currency: order.total.currency.to_string(),
        total_minor: order.total.minor,
        payment_method: order.payment_method.as_str().to_owned(),
        lines: order.lines.iter().map(line).collect(),
        ..pb::Order::default()
    }
}

fn state(state: OrderState) -> pb::order::State {
    match state {
        OrderState::Pending => pb::order::State::Pending,
        OrderState::Confirmed => pb::order::State::Confirmed,
        OrderState::Cancelling => pb::order::State::Cancelling,
        OrderState::Cancelled => pb::order::State::Cancelled,
    }
}

fn line(line: &PricedLine) -> pb::OrderLine {
    pb::OrderLine {
        sku: line.sku.to_string(),
        quantity: line.quantity,
        unit_price_minor: line.unit_price_minor,
    }
}

fn cancel_reason(reason: CancelReason) -> pb::CancelReason {
    pb::CancelReason {
        reason: reason.reason,
        message: reason.message,
        missing_lines: reason
            .missing_lines
            .into_iter()
            .map(|line| pb::MissingLine {
                sku: line.sku.to_string(),
                requested: line.requested,
                available: line.available,
            })
            .collect(),
    }
}

fn product(product: Product) -> pb::Product {
    pb::Product {
        sku: product.sku.to_string(),
        name: product.name,
        currency: product.unit_price.currency.to_string(),
        unit_price_minor: product.unit_price.minor,
    }
}
