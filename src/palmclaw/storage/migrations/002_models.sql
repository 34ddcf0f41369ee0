ALTER TABLE session ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN cache_write INTEGER NOT NULL DEFAULT 0;

-- What each session's requests begin with, until it idles or needs another tool family.
CREATE TABLE snapshot (
    session  TEXT PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    families TEXT NOT NULL,
    system   TEXT NOT NULL
) WITHOUT ROWID;

-- What every model request cost; it outlives its session, since the money is spent.
CREATE TABLE request (
    id          INTEGER PRIMARY KEY,
    at          TEXT NOT NULL,
    day         TEXT NOT NULL,
    session     TEXT NOT NULL,
    turn        TEXT NOT NULL,
    purpose     TEXT NOT NULL,
    service     TEXT NOT NULL,
    model       TEXT NOT NULL,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cached      INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    reasoning   INTEGER NOT NULL,
    estimated   INTEGER NOT NULL,
    usd         REAL
);
CREATE INDEX request_day ON request (day);
CREATE INDEX request_turn ON request (turn);
