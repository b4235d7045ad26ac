-- Products and orders. The outbox, the inbox, the idempotency keys and the sagas come from the
-- libraries (0001 to 0004, copied verbatim).

CREATE TABLE products (
    sku              text PRIMARY KEY,
    name             text NOT NULL,
    currency         text NOT NULL,
    unit_price_minor bigint NOT NULL,
    -- 50 of them must fit into the 4 KiB of a saga's data.
    CONSTRAINT products_sku_is_short CHECK (length(sku) BETWEEN 1 AND 40),
    CONSTRAINT products_currency_is_iso_4217 CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT products_price_is_positive CHECK (unit_price_minor > 0)
);

CREATE TABLE orders (
    id             uuid PRIMARY KEY,
    customer_id    text NOT NULL,
    state          text NOT NULL DEFAULT 'PENDING',
    currency       text NOT NULL,
    total_minor    bigint NOT NULL,
    payment_method text NOT NULL,
    -- [{sku, quantity, unit_price_minor}]: written once with the order, read only with it.
    lines          jsonb NOT NULL,
    -- {reason, message, missing_lines}
    cancel_reason  jsonb,
    -- Chosen here before anything was sent. No foreign key to sagas: an order outlives its saga.
    saga_id        uuid NOT NULL,
    payment_id     uuid NOT NULL,
    reservation_id uuid NOT NULL,
    -- The version of the order's latest event: rises only with an event, under the row's lock.
    version        bigint NOT NULL DEFAULT 1,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT orders_state_is_known
        CHECK (state IN ('PENDING', 'CONFIRMED', 'CANCELLING', 'CANCELLED')),
    CONSTRAINT orders_currency_is_iso_4217 CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT orders_total_is_positive CHECK (total_minor > 0),
    CONSTRAINT orders_cancelled_has_reason
        CHECK ((state = 'CANCELLED') = (cancel_reason IS NOT NULL))
);

-- ListOrders, newest first, of all customers and of one.
CREATE INDEX orders_by_time ON orders (created_at DESC, id DESC);
CREATE INDEX orders_by_customer ON orders (customer_id, created_at DESC, id DESC);
