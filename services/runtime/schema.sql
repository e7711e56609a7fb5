-- What processors and projections remember. All of it can be made again from the logs.

-- One row a key: the state of a processor behind the last input that touched it.
CREATE TABLE IF NOT EXISTS snapshots (
    stream      text     NOT NULL,
    partition   integer  NOT NULL,
    key         text     NOT NULL,
    sequence    bigint   NOT NULL,
    hash        bytea    NOT NULL,
    input_sequence bigint NOT NULL,
    input_hash  bytea    NOT NULL,
    persons     bytea    NOT NULL,
    state       bytea    NOT NULL,
    PRIMARY KEY (stream, partition, key)
);

-- The highest command seen of each processor and key.
CREATE TABLE IF NOT EXISTS marks (
    stream      text     NOT NULL,
    partition   integer  NOT NULL,
    key         text     NOT NULL,
    source      text     NOT NULL,
    sequence    bigint   NOT NULL,
    number      integer  NOT NULL,
    PRIMARY KEY (stream, partition, key, source)
);

-- Where a processor stands in a partition of its input and of its own log, below which input offset its log has
-- every answer already, and the shape of its states.
CREATE TABLE IF NOT EXISTS positions (
    stream      text     NOT NULL,
    partition   integer  NOT NULL,
    position    bigint   NOT NULL,
    log_end     bigint   NOT NULL,
    decided_until bigint NOT NULL,
    version     text     NOT NULL,
    alarm       text,
    PRIMARY KEY (stream, partition)
);

-- Where a projection stands in a log.
CREATE TABLE IF NOT EXISTS readers (
    reader      text     NOT NULL,
    topic       text     NOT NULL,
    partition   integer  NOT NULL,
    position    bigint   NOT NULL,
    version     text     NOT NULL,
    last_ms     bigint   NOT NULL DEFAULT 0,
    alarm       text,
    PRIMARY KEY (reader, topic, partition)
);

-- The last record of each key as a projection has it, and the fold of its events where the projection keeps one.
CREATE TABLE IF NOT EXISTS heads (
    reader      text     NOT NULL,
    topic       text     NOT NULL,
    partition   integer  NOT NULL,
    key         text     NOT NULL,
    sequence    bigint   NOT NULL,
    hash        bytea    NOT NULL,
    state       bytea    NOT NULL,
    PRIMARY KEY (reader, topic, key)
);

-- What the log answered to the commands of people.
CREATE TABLE IF NOT EXISTS outcomes (
    stream      text     NOT NULL,
    command_id  text     NOT NULL,
    request_hash bytea   NOT NULL,
    at_ms       bigint   NOT NULL,
    status      integer  NOT NULL,
    answer      text     NOT NULL,
    PRIMARY KEY (stream, command_id)
);
CREATE INDEX IF NOT EXISTS outcomes_by_age ON outcomes (stream, at_ms);

-- What the reads show of one round: a sheet each, folded from the events that belong to it.
CREATE TABLE IF NOT EXISTS sheets (
    stream      text     NOT NULL,
    key         text     NOT NULL,
    sheet       text     NOT NULL,
    body        bytea    NOT NULL,
    PRIMARY KEY (stream, key, sheet)
);
