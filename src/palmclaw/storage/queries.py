"""The longer statements on `session`, `turn` and `message`, and how a session comes to be."""

import sqlite3

COUNTED = """
SELECT count(*), sum(input), sum(output), sum(cached), sum(reasoning), max(estimated), sum(cache_write)
FROM request WHERE turn=?
"""
END = """
UPDATE turn SET requests=?, input=?, output=?, cached=?, reasoning=?, estimated=?, cache_write=?, state=?, stop=?,
                error=?, ended=?,
                resume=CASE WHEN resume='person' AND ?='due' THEN 'person' ELSE ? END WHERE id=?
"""
BEFORE = """
SELECT (SELECT model FROM session WHERE id=:session),
       (SELECT t.stop FROM message m JOIN turn t ON t.id = m.turn
        WHERE m.session=:session ORDER BY m.position DESC LIMIT 1),
       EXISTS (SELECT 1 FROM turn WHERE session=:session AND state='running'),
       (SELECT shared FROM session WHERE id=:session)
"""
SHARED = "UPDATE session SET shared=1 WHERE id=:session AND shared=0"
KNOWN = "UPDATE snapshot SET known=:known WHERE session=:session"
NEW_TURN = """
INSERT INTO turn (id, session, origin, sender, model, state, started, continues, begun)
VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?)
"""
OPEN = """
SELECT id, session, continues, resume, begun FROM turn
WHERE state='running' AND :session IN ('', session) ORDER BY started, id
"""
DUE = "SELECT id, begun FROM turn WHERE resume='due' AND :session IN ('', session) ORDER BY started, id"
TAIL = """
SELECT position, body FROM message WHERE session=:session
AND position >= (SELECT since FROM session WHERE id=:session)
AND position >= min((SELECT max(position) FROM message WHERE session=:session) - :count + 1,
                    coalesce((SELECT min(m.position) FROM message m WHERE m.session=:session AND m.turn IN
                        (SELECT value FROM turn t, json_each(json_array(t.id, t.continues)) WHERE value<>'' AND t.id =
                            (SELECT turn FROM message WHERE session=:session AND role='user'
                             ORDER BY position DESC LIMIT 1))),
                        (SELECT coalesce(max(position), 0) FROM message WHERE session=:session AND role='user')))
ORDER BY position
"""
ANEW = """
UPDATE session SET flushed=-1, since=(SELECT coalesce(max(position) + 1, 0) FROM message WHERE session=:session)
WHERE id=:session
"""
SUMMARY = "SELECT upto, text, tainted, private, trimmed FROM summary WHERE session=:session"
STALE = """
UPDATE snapshot SET system='' WHERE session=:session
AND coalesce((SELECT upto FROM summary WHERE session=:session), 0) <> :upto
"""
SUM_UP = """
INSERT OR REPLACE INTO summary (session, upto, text, tainted, private, trimmed, at) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
REFERS = """
SELECT 1 FROM message WHERE instr(body, :media) UNION ALL
SELECT 1 FROM inbox WHERE state IN ('waiting', 'summarized') AND instr(body, :media) LIMIT 1
"""
LIST = """
SELECT s.id, s.title, s.created, s.updated,
       (SELECT count(*) FROM message m WHERE m.session = s.id),
       count(t.id), coalesce(sum(t.input), 0), coalesce(sum(t.output), 0), s.parent
FROM session s LEFT JOIN turn t ON t.session = s.id
GROUP BY s.id ORDER BY s.updated DESC
"""


def make_session(db: sqlite3.Connection, session: str, at: str, title: str = "") -> None:
    """See to it that there is such a session, inside another transaction."""
    db.execute(
        "INSERT OR IGNORE INTO session (id, title, created, updated) VALUES (?, ?, ?, ?)", (session, title, at, at)
    )
