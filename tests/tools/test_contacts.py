"""The address book."""

from typing import Any

import pytest

from palmclaw.core.errors import Fault
from palmclaw.core.tools import Effect, Preview
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.tools import contacts as tools
from tests.devices.kit import fault, gained, preview, run

MEI = {"id": "c1", "name": "Mei Lin", "phones": ["+85260010001"], "emails": []}
LING = {
    "id": "c2",
    "name": "Mei Ling Chow",
    "phones": ["+85260010002"],
    "emails": ["meiling.chow@quayside.example"],
}


@pytest.mark.parametrize(
    ("query", "ids", "match"),
    [
        ("Mei Lin", ["c1", "c2"], "exact"),
        ("  mei   LIN ", ["c1", "c2"], "exact"),
        ("mei", ["c1", "c2"], "several"),
        ("Chow Mei", ["c2"], "one"),
        ("王小明", ["c3"], "exact"),
        ("小明", ["c3"], "one"),
        ("papermill", ["c4"], "several"),
        ("ingrid@fjordwerk", ["c5"], "one"),
        ("+852 6001 0004", ["c4"], "one"),
        ("2111-0006", ["c6"], "one"),
        ("nobody", [], "none"),
        ("123", [], "none"),
    ],
)
async def test_people_are_found(phone: VirtualPhone, query: str, ids: list[str], match: str) -> None:
    found = await run(tools.contacts_search, phone, query=query)
    assert ([c["id"] for c in found["contacts"]], found["match"]) == (ids, match)


async def test_results_are_whole_and_limited(phone: VirtualPhone) -> None:
    assert await run(tools.contacts_search, phone, query="mei lin") == {"contacts": [MEI, LING], "match": "exact"}
    assert await run(tools.contacts_search, phone, query="Mei", limit=1) == {
        "contacts": [MEI],
        "more": 1,
        "match": "several",
    }
    everyone = await run(tools.contacts_search, phone)
    assert (len(everyone["contacts"]), everyone["match"]) == (8, "several")
    assert everyone["contacts"][3]["org"] == "Papermill"


async def test_two_people_of_one_name_are_several(phone: VirtualPhone) -> None:
    await run(tools.contact_add, phone, name="Mum")
    found = await run(tools.contacts_search, phone, query="mum")
    assert (len(found["contacts"]), found["match"]) == (2, "several")


async def test_the_exact_name_comes_first(phone: VirtualPhone) -> None:
    people = [{"id": "a", "name": "Ann Lee"}, {"id": "b", "name": "Bo", "org": "Ann"}, {"id": "c", "name": "Ann"}]
    phone.load({"contacts": people})
    found = await run(tools.contacts_search, phone, query="ann")
    assert ([c["id"] for c in found["contacts"]], found["match"]) == (["c", "a", "b"], "exact")


async def test_a_contact_is_added_as_it_was_previewed(phone: VirtualPhone) -> None:
    before = phone.dump()
    new: dict[str, Any] = {"name": " Dr.  Hana ", "phones": ["+852 9876-00 (55)"], "emails": [" h@okafor.example "]}
    assert await preview(tools.contact_add, phone, **new, org="Quay") == Preview(
        "Add a contact",
        "Dr. Hana",
        (("Name", "Dr. Hana"), ("Phones", "+85298760055"), ("E-mail", "h@okafor.example"), ("Company", "Quay")),
    )
    added = await run(tools.contact_add, phone, **new)
    rows = gained(before, phone.dump(), ["contacts"])
    assert rows == [added]
    assert added == {
        "id": added["id"],
        "name": "Dr. Hana",
        "phones": ["+85298760055"],
        "emails": ["h@okafor.example"],
    }


@pytest.mark.parametrize(
    ("arguments", "problem", "hint"),
    [
        ({"name": " "}, "name: must not be empty", ""),
        ({"name": "A", "phones": ["1234", "home"]}, "phones[1]: 'home' is not valid", "Example: +85212345678"),
        ({"name": "A", "emails": ["a.example"]}, "emails[0]: 'a.example' is not valid", "Example: ann@example.org"),
    ],
)
async def test_what_is_no_contact(phone: VirtualPhone, arguments: dict[str, Any], problem: str, hint: str) -> None:
    assert await fault(tools.contact_add, phone, **arguments) == Fault("invalid_arguments", problem, True, hint)
    update = {"id": "c1", **arguments}
    assert await fault(tools.contact_update, phone, **update) == Fault("invalid_arguments", problem, True, hint)


async def test_an_update_shows_before_and_after_and_keeps_the_rest(phone: VirtualPhone) -> None:
    shown = await preview(tools.contact_update, phone, id="c4", phones=["+48 511 222 333"], org="", name="Arjun N")
    assert (shown.action, shown.target) == ("Change the contact Arjun Nair", "c4")
    assert shown.lines == (
        ("Name", "Arjun Nair → Arjun N"),
        ("Phones", "+85260010004 → +48511222333"),
        ("Company", "Papermill → (none)"),
    )
    assert await run(tools.contact_update, phone, id="c4", phones=["+48 511 222 333"]) == {
        "id": "c4",
        "name": "Arjun Nair",
        "phones": ["+48511222333"],
        "emails": ["arjun@papermill.example"],
        "org": "Papermill",
    }
    assert phone.dump()["contacts"][3]["birthday"] == "11-19"
    again = await preview(tools.contact_update, phone, id="c4", phones=["+48 511 222 333"])
    assert again.revision != shown.revision
    emptied = await preview(tools.contact_update, phone, id="c4", emails=[])
    assert emptied.lines == (("E-mail", "arjun@papermill.example → (none)"),)


async def test_a_deletion_names_who_goes(phone: VirtualPhone) -> None:
    shown = await preview(tools.contact_delete, phone, id="c1")
    assert (shown.action, shown.lines) == (
        "Delete the contact Mei Lin",
        (("Name", "Mei Lin"), ("Phones", "+85260010001")),
    )
    before = phone.dump()
    assert await run(tools.contact_delete, phone, id="c1") == {"deleted": MEI}
    assert phone.dump() == before | {"contacts": before["contacts"][1:]}


async def test_facts_are_refused_in_the_preview(phone: VirtualPhone) -> None:
    unknown = Fault("not_found", "there is no contact 'c99'", hint="Find it with contacts_search.")
    assert await fault(tools.contact_delete, phone, id="c99") == unknown
    assert await fault(tools.contact_update, phone, id="c99", org="x") == unknown
    assert await fault(tools.contact_update, phone, id="c1") == Fault(
        "invalid_arguments", "give at least one field to change", True
    )


def test_what_the_gate_must_know() -> None:
    every = [tools.contacts_search, tools.contact_add, tools.contact_update, tools.contact_delete]
    assert [t.effect for t in every] == [Effect.READ, Effect.CONTACT, Effect.CONTACT, Effect.DELETE]
    assert {(t.permissions, t.private, t.outside) for t in every} == {(("contacts",), True, False)}


@pytest.mark.parametrize("query", ["meilin", "MeiLin", "mei  lin"])
async def test_a_name_without_its_space_is_still_that_name(phone: VirtualPhone, query: str) -> None:
    found = await run(tools.contacts_search, phone, query=query)
    assert (found["match"], found["contacts"][0]["name"]) == ("exact", "Mei Lin")
