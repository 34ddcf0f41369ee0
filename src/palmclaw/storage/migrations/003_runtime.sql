ALTER TABLE session ADD COLUMN queue TEXT NOT NULL DEFAULT '';
-- Of a channel's messages, those sent before this moment start nothing any more (by the channel's clock).
ALTER TABLE session ADD COLUMN stopped TEXT NOT NULL DEFAULT '';
-- Where the session was begun anew: what lies before is kept, and no longer read by a model.
ALTER TABLE session ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
-- A sub-agent's session: whose it is, what it is called, what it may use (JSON).
ALTER TABLE session ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN charge TEXT NOT NULL DEFAULT '';
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';

-- The turn that this one goes on with after a crash; and of a broken turn, whether one is still to come.
ALTER TABLE turn ADD COLUMN continues TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN resume TEXT NOT NULL DEFAULT '' CHECK (resume IN ('', 'due', 'done', 'person'));
-- What the turn was begun with (a JSON list of Inbound), so that another can go on with it.
ALTER TABLE turn ADD COLUMN begun TEXT NOT NULL DEFAULT '';
CREATE INDEX turn_resume ON turn (resume) WHERE resume = 'due';

-- Every message that reached us, before anybody was told that it had; `state` is its fate.
CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    channel     TEXT NOT NULL,
    external_id TEXT NOT NULL,
    session     TEXT NOT NULL,
    body        TEXT NOT NULL,
    state       TEXT NOT NULL,
    reason      TEXT NOT NULL DEFAULT '',
    turn        TEXT NOT NULL DEFAULT '',
    received    TEXT NOT NULL
);
CREATE UNIQUE INDEX inbox_once ON inbox (channel, external_id) WHERE external_id <> '';
CREATE INDEX inbox_waiting ON inbox (session, id) WHERE state IN ('waiting', 'summarized');
CREATE INDEX inbox_turn ON inbox (turn) WHERE turn <> '';
CREATE INDEX inbox_session ON inbox (session, id);

-- Every message on its way out, before it is sent. Found `sending` after a crash, nobody knows: it is never resent.
CREATE TABLE outbox (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    key      TEXT NOT NULL UNIQUE,
    channel  TEXT NOT NULL,
    chat     TEXT NOT NULL,
    thread   TEXT NOT NULL,
    session  TEXT NOT NULL,
    turn     TEXT NOT NULL,
    body     TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'unknown', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    remote   TEXT NOT NULL DEFAULT '',
    error    TEXT NOT NULL DEFAULT '',
    created  TEXT NOT NULL,
    ended    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX outbox_open ON outbox (channel, chat, thread, id) WHERE state IN ('waiting', 'sending');
CREATE INDEX outbox_turn ON outbox (turn);

-- What the owner is being asked; answered once, from whichever surface comes first.
CREATE TABLE question (
    id       TEXT PRIMARY KEY,
    session  TEXT NOT NULL,
    turn     TEXT NOT NULL,
    body     TEXT NOT NULL,
    asked    TEXT NOT NULL,
    deadline TEXT NOT NULL,
    answer   TEXT NOT NULL DEFAULT '',
    by       TEXT NOT NULL DEFAULT '',
    answered TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX question_open ON question (asked) WHERE answer = '';

-- Who may speak to the agent, besides those whom the configuration names; and who has asked to.
CREATE TABLE sender (
    channel TEXT NOT NULL,
    id      TEXT NOT NULL,
    name    TEXT NOT NULL DEFAULT '',
    role    TEXT NOT NULL CHECK (role IN ('owner', 'guest')),
    since   TEXT NOT NULL,
    PRIMARY KEY (channel, id)
) WITHOUT ROWID;
CREATE TABLE pairing (
    code    TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    sender  TEXT NOT NULL,
    name    TEXT NOT NULL DEFAULT '',
    asked   TEXT NOT NULL,
    expires TEXT NOT NULL,
    UNIQUE (channel, sender)
) WITHOUT ROWID;
