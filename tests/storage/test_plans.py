"""What is asked for with every message is found by an index, however long the tables are."""

from pathlib import Path
from typing import Any

import pytest

from palmclaw.storage import crew, inbox, outbox
from palmclaw.storage.database import Database

OUT = f"SELECT id FROM outbox WHERE state='waiting' AND {outbox._OPEN} AND channel=? AND chat=? AND thread=?"
HOT = [
    ("SELECT id FROM inbox WHERE channel=? AND external_id=? AND external_id<>''", 2),
    ("SELECT id FROM inbox WHERE turn=? AND turn<>'' ORDER BY id", 1),
    (f"SELECT id FROM inbox WHERE state IN {inbox._OPEN_SQL} AND session=? ORDER BY id", 1),
    (f"{OUT} ORDER BY id LIMIT 1", 3),
    (outbox._WAITING, 0),
    (crew._AT_WORK, 1),
    ("SELECT id FROM turn WHERE resume='due'", 0),
    ("SELECT id FROM turn WHERE state='running'", 0),
]


@pytest.mark.parametrize(("query", "count"), HOT, ids=range(len(HOT)))
async def test_no_hot_query_reads_a_whole_table(tmp_path: Path, query: str, count: int) -> None:
    database = Database(tmp_path / "palmclaw.db")

    def plan(db: Any) -> list[str]:
        return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", ("x",) * count)]

    steps = await database.run(plan)
    await database.close()
    assert [s for s in steps if s.startswith("SCAN") and "USING" not in s and "CONSTANT" not in s] == [], steps
