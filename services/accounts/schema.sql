-- The entries of each account: one row for each event that moved or set aside money, with what stood behind it.
CREATE TABLE IF NOT EXISTS accounts_entries (
    account_id  text     NOT NULL,
    sequence    bigint   NOT NULL,
    at_ms       bigint   NOT NULL,
    entry       text     NOT NULL,
    amount_cents bigint  NOT NULL,
    reference   text     NOT NULL,
    balance_cents bigint NOT NULL,
    held_cents  bigint   NOT NULL,
    PRIMARY KEY (account_id, sequence)
);
CREATE INDEX IF NOT EXISTS accounts_entries_by_time ON accounts_entries (account_id, at_ms, sequence);
