-- A store of version 1 with one study: a finished trial and one that waits.
CREATE TABLE cellwright_studies (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at DOUBLE PRECISION NOT NULL,
    search TEXT NOT NULL,
    evaluation TEXT NOT NULL,
    order_window INTEGER,
    target INTEGER,
    asked INTEGER NOT NULL,
    told INTEGER NOT NULL,
    exhausted INTEGER NOT NULL,
    leader TEXT
);
CREATE TABLE cellwright_cells (
    id TEXT NOT NULL PRIMARY KEY,
    json TEXT NOT NULL
);
CREATE TABLE cellwright_drivers (
    id TEXT NOT NULL PRIMARY KEY,
    study_id BIGINT NOT NULL REFERENCES cellwright_studies (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    place TEXT NOT NULL,
    pid BIGINT NOT NULL,
    process TEXT NOT NULL,
    slots INTEGER NOT NULL,
    alive_until DOUBLE PRECISION NOT NULL
);
CREATE TABLE cellwright_trials (
    id INTEGER NOT NULL PRIMARY KEY,
    study_id BIGINT NOT NULL REFERENCES cellwright_studies (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    cell_id TEXT NOT NULL REFERENCES cellwright_cells (id),
    cell_json TEXT,
    fidelity BIGINT NOT NULL,
    seed BIGINT NOT NULL,
    info TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'finished', 'failed')),
    attempt INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    driver_id TEXT,
    asked_at DOUBLE PRECISION NOT NULL,
    started_at DOUBLE PRECISION,
    ended_at DOUBLE PRECISION,
    told INTEGER,
    told_after INTEGER,
    status TEXT,
    value DOUBLE PRECISION,
    cost DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    parameters BIGINT,
    peak_memory BIGINT,
    measures TEXT,
    error TEXT,
    UNIQUE (study_id, number),
    UNIQUE (study_id, told)
);
CREATE TABLE cellwright_attempts (
    trial_id BIGINT NOT NULL REFERENCES cellwright_trials (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    driver_id TEXT NOT NULL,
    host TEXT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    ending TEXT,
    message TEXT,
    PRIMARY KEY (trial_id, number)
);
CREATE TABLE cellwright_curves (
    trial_id BIGINT NOT NULL REFERENCES cellwright_trials (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    numbers TEXT NOT NULL,
    PRIMARY KEY (trial_id, name)
);
CREATE INDEX cellwright_trials_open ON cellwright_trials (study_id, state, number)
    WHERE told IS NULL;
CREATE INDEX cellwright_trials_best ON cellwright_trials (study_id, status, value, number);
CREATE INDEX cellwright_trials_overview ON cellwright_trials
    (study_id, state, status, cost, seconds, attempt, ended_at);
CREATE INDEX cellwright_trials_cell ON cellwright_trials (cell_id);
CREATE INDEX cellwright_drivers_study ON cellwright_drivers (study_id);
CREATE TABLE cellwright_schema (version INTEGER NOT NULL);
INSERT INTO cellwright_schema VALUES (1);
INSERT INTO cellwright_studies VALUES
    (1, 'by hand', 1700000000.0, '{"method": "random"}', '{"function": "a:b", "arguments": {}}',
     NULL, 2, 2, 1, 0, NULL);
INSERT INTO cellwright_cells VALUES
    ('c1', '{"format": "cellwright/1", "inputs": ["x", "h0"], "nodes": [{"name": "s", "op": "linear", "inputs": ["x", "h0"]}, {"name": "h", "op": "tanh", "inputs": ["s"]}], "states": ["h"], "output": "h"}');
INSERT INTO cellwright_trials VALUES
    (1, 1, 0, 'c1', NULL, 5, 11, '{}', 'finished', 1, 0, 0, NULL, 1700000001.0, 1700000002.0,
     1700000009.0, 0, 1, 'ok', 4.5, 7.0, 7.0, 100, 1000, NULL, NULL),
    (2, 1, 1, 'c1', NULL, 5, 12, '{}', 'waiting', 0, 0, 0, NULL, 1700000001.0, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO cellwright_attempts VALUES
    (1, 1, 'd1', 'host', 1700000002.0, 1700000009.0, 'finished', NULL);
INSERT INTO cellwright_curves VALUES (1, 'valid', '[6.0, 5.0, 4.5]');
