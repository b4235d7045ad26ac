//! The HTTP surface: Stripe's paths under `/v1`, the simulator's own under `/sim`.

mod answer;
mod app;
mod call;
mod confirm;
mod intents;
mod key;
mod refunds;
mod sim;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    routing::{get, post},
};

pub(crate) use app::App;

/// A form of this API is a few hundred bytes.
const BODY_BYTES_MAX: usize = 64 * 1024;

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route(
            "/v1/payment_intents",
            post(intents::create).get(intents::list),
        )
        .route("/v1/payment_intents/search", get(intents::search))
        .route("/v1/payment_intents/{id}", get(intents::retrieve))
        .route("/v1/payment_intents/{id}/confirm", post(confirm::confirm))
        .route("/v1/payment_intents/{id}/cancel", post(intents::cancel))
        .route("/v1/refunds", post(refunds::create).get(refunds::list))
        .route("/v1/refunds/{id}", get(refunds::retrieve))
        .route("/sim/books", get(sim::books))
        .route("/sim/release/{payment_id}", post(sim::release))
        .route("/healthz", get(sim::healthz))
        .fallback(sim::unknown_path)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(app)
}
