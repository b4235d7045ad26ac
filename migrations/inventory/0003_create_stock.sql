-- What is in the house, and how much of it is promised to somebody.
--
-- SKUs collate "C": every statement locks rows in this order, so the order must not hang on a locale.
CREATE TABLE stock (
    sku        text COLLATE "C" PRIMARY KEY,
    on_hand    bigint NOT NULL,   -- goods in the house, held ones included
    reserved   bigint NOT NULL,   -- held by PENDING reservations
    -- The net under every statement: nothing is ever oversold, whatever the code above believes.
    CONSTRAINT stock_never_oversold CHECK (reserved >= 0 AND on_hand >= reserved)
);
