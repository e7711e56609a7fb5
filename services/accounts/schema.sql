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

-- What was posted to each account, added up entry by entry, beside what its fold says is in it. They never differ.
CREATE TABLE IF NOT EXISTS accounts_ledger (
    account_id    text   NOT NULL PRIMARY KEY,
    posted_cents  bigint NOT NULL,
    balance_cents bigint NOT NULL
);
-- A database that has entries already, and no ledger yet, gets it from them.
INSERT INTO accounts_ledger (account_id, posted_cents, balance_cents)
SELECT account_id, coalesce(sum(amount_cents) FILTER (WHERE entry NOT IN ('hold', 'hold released')), 0),
    (array_agg(balance_cents ORDER BY sequence DESC))[1]
FROM accounts_entries WHERE NOT EXISTS (SELECT FROM accounts_ledger) GROUP BY account_id
ON CONFLICT DO NOTHING;
