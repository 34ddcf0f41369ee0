-- How far each session's messages have been taken into the search index, which is made when somebody first searches.
CREATE TABLE searchable (
    session TEXT PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    upto    INTEGER NOT NULL
) WITHOUT ROWID;
