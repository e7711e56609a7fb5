-- The archive: every record of the four logs, where the broker holds it, and the hash of its stored bytes.
CREATE TABLE IF NOT EXISTS backoffice_records (
    stream      text     NOT NULL,
    key         text     NOT NULL,
    sequence    bigint   NOT NULL,
    partition   integer  NOT NULL,
    "offset"    bigint   NOT NULL,
    at_ms       bigint   NOT NULL,
    command_id  text     NOT NULL,
    actor       text     NOT NULL,
    event_name  text     NOT NULL,
    round_id    text,
    previous_hash bytea  NOT NULL,
    hash        bytea    NOT NULL,
    event       jsonb    NOT NULL,
    PRIMARY KEY (stream, key, sequence)
);
CREATE INDEX IF NOT EXISTS backoffice_records_by_round ON backoffice_records (round_id) WHERE round_id IS NOT NULL;
-- A hold that is posted or released does not name its round: the hold that was placed does.
CREATE INDEX IF NOT EXISTS backoffice_records_by_hold ON backoffice_records (key, (event ->> 'hold_id'))
    WHERE stream = 'accounts' AND event ? 'hold_id';
-- The game of a round is that of the table's last opening before it.
CREATE INDEX IF NOT EXISTS backoffice_records_of_openings ON backoffice_records (key, sequence)
    WHERE stream = 'rounds' AND event_name = 'TableOpened';
-- A slip is found by its number.
CREATE INDEX IF NOT EXISTS backoffice_records_of_slips
    ON backoffice_records (key, ((event ->> 'slip_number')::bigint))
    WHERE stream = 'jackpots' AND event_name = 'PayoutDocumented';

-- Every refused command.
CREATE TABLE IF NOT EXISTS backoffice_refusals (
    stream      text     NOT NULL,
    key         text     NOT NULL,
    sequence    bigint   NOT NULL,
    at_ms       bigint   NOT NULL,
    command     text     NOT NULL,
    reason      text     NOT NULL,
    section     text,
    actor       text     NOT NULL,
    PRIMARY KEY (stream, key, sequence)
);
CREATE INDEX IF NOT EXISTS backoffice_refusals_by_time ON backoffice_refusals (at_ms DESC);

-- Every round: what the round log says of it, and what its wagers and its shares of meters won.
-- Several logs write one row and may be read in any order, so each may make it and none overwrites another.
CREATE TABLE IF NOT EXISTS backoffice_rounds (
    round_id    text     NOT NULL PRIMARY KEY,
    table_id    text     NOT NULL,
    state       text,
    opened_ms   bigint,
    closed_ms   bigint,
    won_cents   bigint   NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS backoffice_rounds_by_opening ON backoffice_rounds (opened_ms DESC NULLS LAST);
CREATE INDEX IF NOT EXISTS backoffice_rounds_by_closing ON backoffice_rounds (closed_ms);
