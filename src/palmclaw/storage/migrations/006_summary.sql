-- What requests show of a session's older part: `text` in place of all before `upto`, results before `trimmed` cut.
CREATE TABLE summary (
    session TEXT PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    upto    INTEGER NOT NULL,
    text    TEXT NOT NULL,
    tainted INTEGER NOT NULL,
    private INTEGER NOT NULL,
    trimmed INTEGER NOT NULL,
    at      TEXT NOT NULL
) WITHOUT ROWID;

-- The memory that a session has been told of.
ALTER TABLE snapshot ADD COLUMN known TEXT NOT NULL DEFAULT '';
