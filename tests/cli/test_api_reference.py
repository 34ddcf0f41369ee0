"""docs/api.md lists what goes over the API exactly: every value, every field, its type, and that it means something."""

import re
from pathlib import Path

from aiohttp import web

from palmclaw.web.api import routes
from tests.cli import shapes
from tests.servers.desk_runtime import DeskRuntime

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text("utf-8")
SECTION = re.compile(r"^#### (\w+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(\w+)`(\*?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
WORD = re.compile(r'^\| <a id="(\w+)"></a>(\w+) \| (.+?) \| (.+?) \|$', re.MULTILINE)


def test_every_value_and_every_field_is_listed_with_its_type() -> None:
    listed = {
        name: {f"{field}{star}": tp for field, star, tp, _ in ROW.findall(body)} for name, body in SECTION.findall(PAGE)
    }
    found = {name: shapes.field_types(value) for name, value in shapes.values().items()}
    assert {"Inbound", "Receipt", "Status", "TurnEnded", "Fault"} <= found.keys()
    assert listed.keys() == found.keys()
    assert {name: table for name, table in listed.items() if table != found[name]} == {}


def test_every_word_of_an_enumeration_is_listed() -> None:
    listed = {}
    for anchor, name, words, _ in WORD.findall(PAGE):
        assert anchor == name.lower()
        listed[name] = tuple("" if word == "(empty)" else word.strip("`") for word in words.split(", "))
    assert listed == shapes.words()


def test_every_link_in_the_page_leads_to_a_section_of_it() -> None:
    headings = {
        re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    }
    anchors = headings | set(re.findall(r'<a id="(\w+)">', PAGE))
    assert sorted(set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) - anchors) == []


def test_every_route_is_listed() -> None:
    known = {f"{r.method} {_plain(r.path)}" for r in routes(DeskRuntime(), lambda: None) if isinstance(r, web.RouteDef)}
    assert set(re.findall(r"^\| `((?:GET|POST|DELETE) [^`]+)`", PAGE, re.MULTILINE)) == known


def _plain(path: str) -> str:
    return re.sub(r"\{(\w+):.*\}", r"{\1}", path)
