CREATE TABLE session (
    id      TEXT PRIMARY KEY,
    title   TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    updated TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE turn (
    id        TEXT PRIMARY KEY,
    session   TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    origin    TEXT NOT NULL,
    sender    TEXT NOT NULL,
    model     TEXT NOT NULL DEFAULT '',
    state     TEXT NOT NULL CHECK (state IN ('running', 'ended', 'interrupted')),
    stop      TEXT NOT NULL DEFAULT '',
    error     TEXT NOT NULL DEFAULT '',
    input     INTEGER NOT NULL DEFAULT 0,
    output    INTEGER NOT NULL DEFAULT 0,
    cached    INTEGER NOT NULL DEFAULT 0,
    reasoning INTEGER NOT NULL DEFAULT 0,
    requests  INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    started   TEXT NOT NULL,
    ended     TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX turn_session ON turn (session, started);
CREATE INDEX turn_running ON turn (state) WHERE state = 'running';

-- The log: only ever appended to; a request is a projection of its newest part.
CREATE TABLE message (
    session  TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    turn     TEXT NOT NULL DEFAULT '',
    role     TEXT NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (session, position)
) WITHOUT ROWID;
CREATE INDEX message_turn ON message (turn);

-- The journal: every call that is not a read is here before its effect.
CREATE TABLE call (
    turn    TEXT NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    tool    TEXT NOT NULL,
    effect  TEXT NOT NULL,
    digest  TEXT NOT NULL,
    state   TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'unknown')),
    result  TEXT NOT NULL DEFAULT '',
    began   TEXT NOT NULL,
    ended   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (turn, call_id)
) WITHOUT ROWID;

-- What the owner was asked and said; rows with scope session or always are lasting permissions.
CREATE TABLE approval (
    id      INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    tool    TEXT NOT NULL,
    target  TEXT NOT NULL,
    answer  TEXT NOT NULL,
    at      TEXT NOT NULL
);
CREATE INDEX approval_lasting ON approval (tool, target) WHERE answer IN ('session', 'always');
