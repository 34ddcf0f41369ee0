-- Every change of MEMORY.md is here before it is in the file; one that is `due` may not have reached the file.
CREATE TABLE memory_change (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    by      TEXT NOT NULL CHECK (by IN ('owner', 'agent', 'consolidated')),
    session TEXT NOT NULL DEFAULT '',
    before  TEXT NOT NULL,
    after   TEXT NOT NULL,
    -- What was to be done (JSON); empty where a person edited the file.
    edit    TEXT NOT NULL DEFAULT '',
    state   TEXT NOT NULL CHECK (state IN ('due', 'done'))
);
CREATE INDEX memory_due ON memory_change (id) WHERE state = 'due';

-- How far each session has been looked through for what is worth remembering; what there is now is not gone through.
ALTER TABLE session ADD COLUMN remembered INTEGER NOT NULL DEFAULT 0;
UPDATE session SET remembered=(SELECT coalesce(max(m.position) + 1, 0) FROM message m WHERE m.session=session.id);
-- In which cycle of its compaction it was last looked through before something left the window.
ALTER TABLE session ADD COLUMN flushed INTEGER NOT NULL DEFAULT -1;

-- Sessions in which that failed: how often in a row, how long their log was the last time, and why.
CREATE TABLE memory_trouble (
    session  TEXT PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    failures INTEGER NOT NULL,
    upto     INTEGER NOT NULL,
    why      TEXT NOT NULL
) WITHOUT ROWID;
