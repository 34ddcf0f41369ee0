"""What a far person is told of what a crash broke off."""

from dataclasses import replace
from pathlib import Path

from palmclaw.core.messages import Role, user_message
from palmclaw.core.records import Beginning, OpenTurn
from palmclaw.core.traffic import Address, Fate, Inbound, Outbound, Receipt
from palmclaw.storage.inbox import Inbox
from palmclaw.storage.outbox import Outbox
from palmclaw.storage.sessions import Sessions
from tests.runtime.crash_child import Steps, made

HERE = Address("chat", "c1")
TOLD = Outbound(HERE, "it broke twice", "sorry:second")


def sorry(turn: OpenTurn) -> tuple[Outbound, ...]:
    return (Outbound(turn.address, "it broke twice", f"sorry:{turn.id}"),) if turn.address else ()


async def test_a_turn_that_broke_twice_says_so_once_where_its_answers_go(tmp_path: Path) -> None:
    turns, database = made(tmp_path, Steps(0), [])
    turns, sessions, outbox = replace(turns, sorry=sorry), Sessions(database), Outbox(database)
    inbound = Inbound(HERE.session, "ring", address=HERE)
    try:
        await sessions.begin(Beginning("first", (inbound,), (user_message("ring"),)))
        assert [t.address for t in await turns.recover()] == [HERE]
        assert await outbox.open() == ()  # it is gone on with: there is nothing to be sorry for yet
        await sessions.begin(Beginning("second", (inbound,), continues="first"))
        await turns.recover()
        assert [(r.session, r.turn, r.outbound) for r in await outbox.open()] == [(HERE.session, "second", TOLD)]
        await database.run(lambda db: db.execute("UPDATE turn SET state='running', resume='' WHERE id='second'"))
        await turns.recover()  # the process had died just before the turn was closed
        assert [r.outbound for r in await outbox.open()] == [TOLD]
        notes = [m.text for m in await sessions.all(HERE.session) if m.role is Role.NOTE]
        assert notes == [
            "PalmClaw stopped in the middle of this turn; it has been closed.",
            "PalmClaw stopped twice while it worked on this, so it does not try again by itself.",
        ]
    finally:
        await database.close()


async def test_a_command_is_done_and_answered_in_one(tmp_path: Path) -> None:
    _, database = made(tmp_path, Steps(0), [])
    inbox, outbox = Inbox(database), Outbox(database)
    try:
        stored = await inbox.put(Inbound(HERE.session, "/status", address=HERE, external_id="1"))
        answer = Outbound(HERE, "Nothing is running here.", f"inbox:{stored.receipt.id}")
        receipt = replace(stored.receipt, fate=Fate.ANSWERED, text=answer.text)
        await inbox.answered(receipt, "status", (answer,))
        kept = await inbox.get(stored.receipt.id)
        assert kept is not None
        assert kept.receipt == Receipt(stored.receipt.id, HERE.session, Fate.ANSWERED, reason="status")
        assert [(r.session, r.outbound) for r in await outbox.open()] == [(HERE.session, answer)]
    finally:
        await database.close()
