-- Each progressive as it was now and then, so that any moment of its past is a short way from one of them. `place` is the
-- offset of the record behind it in the log's partition.
CREATE TABLE IF NOT EXISTS progressive_moments (
    progressive_id text   NOT NULL,
    sequence       bigint NOT NULL,
    at_ms          bigint NOT NULL,
    place          bigint NOT NULL,
    state          bytea  NOT NULL,
    PRIMARY KEY (progressive_id, sequence)
);
CREATE INDEX IF NOT EXISTS progressive_moments_by_time ON progressive_moments (progressive_id, at_ms, sequence);
