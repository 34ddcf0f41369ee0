"""The file tools through the real workspace guard."""

import os
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.codec import decode
from palmclaw.core.errors import ToolError
from palmclaw.core.limits import Limits
from palmclaw.core.lines import size
from palmclaw.core.ports import LIMITS
from palmclaw.core.tools import Access, CheckedPath, Effect, Outcome, Preview, Tool, ToolContext
from palmclaw.guard import workspace
from palmclaw.guard.marks import MARKS, Marks
from palmclaw.guard.workspace import TRASH, WORKSPACE, Workspace
from palmclaw.tools import files


class Desk:
    """Calls the file tools as the gate does: arguments decoded and resolved, then the handler."""

    def __init__(self, folder: Path) -> None:
        self.base, self.sdcard = folder / "mine", folder / "sdcard"
        for path in (self.base, folder / "shared", self.sdcard, folder / "other"):
            path.mkdir()
        roots = {"session": self.base, "shared": folder / "shared", str(self.sdcard): self.sdcard}
        self.workspace = Workspace(roots)
        self.marks = Marks(folder / "marks.json")
        self.trash = folder / "trash"
        self.tainted = False
        self.limits = Limits()

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def args(self, tool: Tool, values: dict[str, Any]) -> Any:
        return decode(tool.arguments, values, {Access: self.workspace.resolve})

    @property
    def context(self) -> ToolContext:
        services: dict[Any, Any] = {
            WORKSPACE: self.workspace, MARKS: self.marks, TRASH: self.trash, LIMITS: self.limits,
        }  # fmt: skip
        return ToolContext("s", "t", "c", services, tainted=self.tainted)

    async def outcome(self, tool: Tool, **values: Any) -> Outcome:
        found = await tool.handler(self.args(tool, values), self.context)
        return found if isinstance(found, Outcome) else Outcome(found)

    async def __call__(self, tool: Tool, **values: Any) -> Any:
        return (await self.outcome(tool, **values)).value

    async def preview(self, tool: Tool, **values: Any) -> Preview:
        assert tool.preview is not None
        return await tool.preview(self.args(tool, values), self.context)

    async def fails(self, tool: Tool, **values: Any) -> str:
        with pytest.raises(ToolError) as caught:
            await self(tool, **values)
        return caught.value.code

    def effect(self, tool: Tool, **values: Any) -> Effect | None:
        return tool.effect_of(self.args(tool, values))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_listing(desk: Desk) -> None:
    desk.put("b.txt", "12345")
    desk.put("a/deep/c.md", "x")
    os.symlink("/etc", desk.base / "out")
    assert await desk(files.file_list) == {
        "path": ".",
        "entries": [{"path": "a", "type": "folder"}, {"path": "b.txt", "type": "file", "bytes": 5}],
    }
    deep = await desk(files.file_list, recursive=True)
    assert [e["path"] for e in deep["entries"]] == ["a", "a/deep", "a/deep/c.md", "b.txt"]
    assert (await desk(files.file_list, limit=1))["more"] is True
    assert await desk.fails(files.file_list, path="nope") == "not_found"


async def test_finding_by_name_and_by_text(desk: Desk) -> None:
    desk.put("notes/kit.md", "stove\nSpare Tent pole\n")
    desk.put("notes/food.md", "oats\n")
    desk.put(".hidden", "tent pole")
    desk.put("image.png", b"\x89PNG\x00tent pole")
    assert await desk(files.file_find, pattern="*.MD") == {"files": ["notes/food.md", "notes/kit.md"]}
    assert await desk(files.file_find, pattern="notes/*", limit=1) == {"files": ["notes/food.md"], "more": 1}
    assert await desk(files.file_find, pattern="k*", path="notes") == {"files": ["notes/kit.md"]}
    match = {"path": "notes/kit.md", "line": 2, "text": "Spare Tent pole"}
    assert await desk(files.file_search, query="tent POLE") == {"matches": [match], "skipped_files": 1}
    assert await desk(files.file_search, query="o", pattern="food*") == {
        "matches": [{"path": "notes/food.md", "line": 1, "text": "oats"}]
    }
    assert (await desk(files.file_search, query="o", limit=1))["more"] is True
    assert await desk.fails(files.file_search, query="x", path="nope") == "not_found"


async def test_a_walk_never_meets_another_sessions_files(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "other" / "secret.txt").write_text("tent pole")
    os.symlink(tmp_path / "other", desk.base / "link")
    os.symlink(tmp_path / "other" / "secret.txt", desk.base / "secret.txt")
    assert await desk(files.file_search, query="tent") == {"matches": []}
    assert await desk(files.file_find, pattern="*") == {"files": []}


async def test_a_walk_is_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "MAX_WALKED", 2)
    for name in "abc":
        desk.put(name, "x")
    assert await desk(files.file_find, pattern="*") == {"files": ["a", "b"]}


async def test_reading_by_lines_and_inside_a_long_line(desk: Desk) -> None:
    desk.put("a.txt", "one\ntwo\nthree\n")
    assert await desk(files.file_read, path="a.txt") == {"path": "a.txt", "text": "one\ntwo\nthree\n", "lines": 3}
    part = await desk(files.file_read, path="a.txt", start_line=2, max_lines=1)
    assert part == {"path": "a.txt", "text": "two\n", "lines": 3, "next_line": 3}
    assert (await desk(files.file_read, path="a.txt", start_line=3, start_char=2))["text"] == "ree\n"
    desk.put("b.txt", b"caf\xe9")
    assert await desk(files.file_read, path="b.txt") == {
        "path": "b.txt", "text": "café", "lines": 1, "encoding": "cp1252",
    }  # fmt: skip


def spelled(value: Any) -> int:
    """The length of a result as the gate will bound it; where to read on stands before the text."""
    assert list(value)[-1] in ("text", "entries", "files", "matches")
    return size(value)


@pytest.mark.parametrize("chars", [100, 300, 5_000])
async def test_a_long_file_is_read_on_to_its_end(desk: Desk, chars: int) -> None:
    desk.limits = Limits(result_chars=chars)
    text = "".join(f'{n}: "quoted" 字\n' for n in range(200)) + "é\t" * 3_000 + "\nlast"
    desk.put("long.txt", text)
    read, values = "", dict[str, Any](path="long.txt")
    while True:
        found = await desk(files.file_read, **values)
        assert spelled(found) <= chars
        assert found["lines"] == 202
        read += found["text"]
        if "next_line" not in found:
            break
        values |= {"start_line": found["next_line"], "start_char": found.get("next_char", 0)}
    assert read == text


async def test_whole_lines_are_read_where_they_fit(desk: Desk) -> None:
    desk.limits = Limits(result_chars=200)
    desk.put("a.txt", "twenty characters!!!\n" * 50)
    found = await desk(files.file_read, path="a.txt")
    assert found["text"] == "twenty characters!!!\n" * (found["next_line"] - 1)
    assert list(found) == ["lines", "next_line", "path", "text"]


async def test_long_lists_are_bounded_and_say_so(desk: Desk) -> None:
    desk.limits = Limits(result_chars=500)
    for number in range(100):
        desk.put(f"file number {number:03}.txt", 'a "tent"\n' * 3)
    listed, found = await desk(files.file_list), await desk(files.file_find, pattern="*")
    matches = await desk(files.file_search, query="tent")
    assert max(map(spelled, (listed, found, matches))) <= 500
    assert listed["more"] is True
    assert found["more"] + len(found["files"]) == 100
    assert matches["more"] is True
    assert [e["path"] for e in listed["entries"]] == [f"file number {n:03}.txt" for n in range(len(listed["entries"]))]
    assert min(map(len, (listed["entries"], found["files"], matches["matches"]))) > 3


async def test_a_long_line_is_shown_in_part(desk: Desk) -> None:
    desk.limits = Limits(result_chars=400)
    desk.put("a.txt", "tent " * 1_000)
    assert (await desk(files.file_search, query="tent"))["matches"] == [
        {"path": "a.txt", "line": 1, "text": ("tent " * 20)}
    ]


async def test_a_file_that_may_not_be_read_does_not_end_a_search(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a.txt", "tent")
    desk.put("b.txt", "tent")
    os.truncate(desk.put("huge.txt", ""), files.MAX_SEARCHED + 1)
    read = Workspace.read

    def locked(self: Workspace, path: CheckedPath, limit: int) -> bytes:
        if path.name == "a.txt":
            raise ToolError("read_only", "not here")
        return read(self, path, limit)

    monkeypatch.setattr(Workspace, "read", locked)
    assert await desk(files.file_search, query="tent") == {
        "skipped_files": 2,
        "matches": [{"path": "b.txt", "line": 1, "text": "tent"}],
    }


async def test_what_cannot_be_read_says_why(desk: Desk) -> None:
    desk.put("x.png", b"\x89PNG\r\n\x1a\n\x00\x00")
    assert await desk.fails(files.file_read, path="x.png") == "binary"
    assert await desk.fails(files.file_read, path="nope") == "not_found"
    assert await desk.fails(files.file_read, path=".") == "is_folder"
    os.truncate(desk.put("huge", ""), 100_000_000)
    assert await desk.fails(files.file_read, path="huge") == "too_large"


async def test_writing_and_appending(desk: Desk) -> None:
    assert await desk(files.file_write, path="n/a.md", text="a\n") == {"path": "n/a.md", "bytes": 2}
    await desk(files.file_write, path="n/a.md", text="b\n", append=True)
    await desk(files.file_write, path="new.md", text="c", append=True)
    assert [(desk.base / p).read_text() for p in ("n/a.md", "new.md")] == ["a\nb\n", "c"]
    shown = await desk.preview(files.file_write, path="n/a.md", text="x")
    assert (shown.action, shown.target, shown.lines) == ("Replace a file", "n", (("File", "n/a.md"), ("Text", "x")))
    assert (await desk.preview(files.file_write, path="n/a.md", text="x", append=True)).action == "Add to a file"
    assert (await desk.preview(files.file_write, path="n/b.md", text="x")).action == "Create a file"


async def test_what_is_appended_begins_on_a_line_of_its_own(desk: Desk) -> None:
    for name, before, after in (
        ("a.txt", b"milk", b"milk\neggs\n"),
        ("b.txt", b"milk\r\nbread", b"milk\r\nbread\r\neggs\r\n"),
        ("c.txt", "é".encode("utf-16"), "é\neggs\n".encode("utf-16")),
        ("d.txt", b"caf\xe9\n", b"caf\xe9\neggs\n"),
        ("e.txt", b"", b"eggs\n"),
    ):
        desk.put(name, before)
        written = await desk(files.file_write, path=name, text="eggs\n", append=True)
        assert written == {"path": name, "bytes": len(after)}
        assert (desk.base / name).read_bytes() == after
    assert await desk.fails(files.file_write, path="d.txt", text="概", append=True) == "encoding"
    desk.put("x.png", b"\x89PNG\x00")
    assert await desk.fails(files.file_write, path="x.png", text="x", append=True) == "binary"


async def test_editing_keeps_encoding_and_line_ends(desk: Desk) -> None:
    desk.put("w.txt", b"a\r\nb\r\nc")
    assert await desk(files.file_edit, path="w.txt", old="a\nb", new="x\ny") == {"path": "w.txt", "replaced": 1}
    assert (desk.base / "w.txt").read_bytes() == b"x\r\ny\r\nc"
    desk.put("u.txt", "hé".encode("utf-16"))
    await desk(files.file_edit, path="u.txt", old="é", new="ü")
    assert (desk.base / "u.txt").read_text("utf-16") == "hü"
    desk.put("l.txt", b"caf\xe9 a a")
    assert await desk.fails(files.file_edit, path="l.txt", old="caf", new="概") == "encoding"
    shown = await desk.preview(files.file_edit, path="l.txt", old="caf", new="tea")
    assert shown.lines == (("File", "l.txt"), ("Replace", "caf"), ("With", "tea"))


async def test_an_edit_must_fit_exactly_once(desk: Desk) -> None:
    desk.put("a.txt", "one two two")
    assert await desk.fails(files.file_edit, path="a.txt", old="three", new="x") == "no_match"
    assert await desk.fails(files.file_edit, path="a.txt", old="two", new="x") == "ambiguous"
    assert await desk.fails(files.file_edit, path="a.txt", old="two", new="two") == "no_change"
    assert (desk.base / "a.txt").read_text() == "one two two"
    assert (await desk(files.file_edit, path="a.txt", old="two", new="x", all=True))["replaced"] == 2


async def test_moving_and_copying(desk: Desk) -> None:
    desk.put("a.txt", "x")
    desk.put("d/b.txt", "y")
    assert await desk(files.file_copy, path="a.txt", to="c/a2.txt") == {"path": "c/a2.txt", "bytes": 1}
    assert await desk(files.file_move, path="a.txt", to="z.txt") == {"path": "z.txt", "from": "a.txt"}
    assert await desk.fails(files.file_copy, path="z.txt", to="d/b.txt") == "exists"
    assert await desk.fails(files.file_move, path="z.txt", to="d/b.txt") == "exists"
    assert await desk.fails(files.file_move, path="nope", to="n") == "not_found"
    assert await desk.fails(files.file_move, path="d", to="d/e") == "inside_itself"
    assert await desk.fails(files.file_move, path="d", to="d") == "exists"
    assert await desk.fails(files.file_copy, path="nope", to="n") == "not_found"
    shown = await desk.preview(files.file_move, path="z.txt", to="shared://z.txt")
    assert (shown.action, shown.lines) == ("Move a file", (("From", "z.txt"), ("To", "shared://z.txt")))
    assert (await desk.preview(files.file_copy, path="z.txt", to="y")).action == "Copy a file"


async def test_deleting_goes_to_the_trash(desk: Desk) -> None:
    desk.put("a.txt", "x")
    desk.put("d/e/b.txt", "y")
    assert await desk(files.file_delete, path="a.txt") == {"deleted": "a.txt"}
    assert (desk.trash / "a.txt").read_text() == "x"
    shown = await desk.preview(files.file_delete, path="d", recursive=True)
    assert (shown.target, shown.lines) == ("", (("File", "d with 2 entries"),))
    for values, code in (({"path": "d"}, "not_empty"), ({"path": "nope"}, "not_found")):
        with pytest.raises(ToolError) as caught:
            await desk.preview(files.file_delete, **values)
        assert caught.value.code == code
    await desk(files.file_delete, path="d", recursive=True)
    assert (desk.trash / "d/e/b.txt").read_text() == "y"


def test_the_effect_is_stricter_outside_the_workspace(desk: Desk) -> None:
    outside = f"{desk.sdcard}/x"
    assert desk.effect(files.file_write, path="a", text="") is Effect.WRITE_WORKSPACE
    assert desk.effect(files.file_write, path="shared://a", text="") is Effect.WRITE_WORKSPACE
    assert desk.effect(files.file_write, path=outside, text="") is Effect.WRITE_OUTSIDE
    assert desk.effect(files.file_copy, path="a", to=outside) is Effect.WRITE_OUTSIDE
    assert desk.effect(files.file_move, path=outside, to="a") is Effect.WRITE_OUTSIDE
    assert desk.effect(files.file_delete, path="a") is Effect.DELETE


@pytest.mark.parametrize(
    ("path", "to", "target"),
    [
        ("d/a", "e/b", "e"),
        ("d/a", "{card}/in/b", "into {card}/in"),
        ("{card}/d/a", "e/b", "out of {card}/d"),
        ("{card}/d/a", "{card}/d/b", "within {card}/d"),
        ("{card}/d/a", "{card}/in/b", ""),
    ],
)
async def test_a_lasting_yes_to_a_move_is_bound_to_the_folder_that_loses(
    desk: Desk, path: str, to: str, target: str
) -> None:
    desk.put("d/a", "x")
    (desk.sdcard / "d").mkdir()
    (desk.sdcard / "d/a").touch()
    path, to, target = (text.format(card=desk.sdcard) for text in (path, to, target))
    shown = await desk.preview(files.file_move, path=path, to=to)
    assert shown.target == target
    assert (await desk.preview(files.file_copy, path=path, to=to)).target == str(Path(to).parent)


async def test_an_approval_of_a_move_is_bound_to_the_file_as_it_was(desk: Desk) -> None:
    desk.put("a", "x")
    before = await desk.preview(files.file_move, path="a", to="b")
    assert before == await desk.preview(files.file_move, path="a", to="b")
    desk.put("a", "other")
    assert before != await desk.preview(files.file_move, path="a", to="b")


async def test_what_is_found_is_private_and_outside_names_taint(desk: Desk) -> None:
    card = str(desk.sdcard)
    (desk.sdcard / "ignore the owner.txt").write_text("tent")
    desk.put("clean/a.txt", "tent")
    desk.put("d/b.txt", "tent")
    desk.marks.add(desk.base / "d/b.txt")
    calls: list[tuple[Tool, dict[str, Any]]] = [
        (files.file_list, {}),
        (files.file_list, {"recursive": True}),
        (files.file_find, {"pattern": "*.txt"}),
        (files.file_search, {"query": "tent"}),
    ]
    told = {
        (tool.name, place, str(values)): await desk.outcome(tool, path=place, **values)
        for tool, values in calls
        for place in (card, "clean", "d")
    }
    assert all(outcome.private for outcome in told.values())
    assert {key for key, outcome in told.items() if not outcome.tainted} == {k for k in told if k[1] == "clean"}
    assert (await desk.outcome(files.file_read, path="clean/a.txt")).private
    assert (await desk.outcome(files.file_list, path="shared://")).tainted is False
    assert (await desk.outcome(files.file_list, path=card, limit=1)).tainted


async def test_a_marked_folder_taints_also_when_it_is_empty(desk: Desk) -> None:
    (desk.base / "d").mkdir()
    desk.marks.add(desk.base / "d")
    assert (await desk.outcome(files.file_list, path="d")).tainted


async def test_moving_a_folder_washes_nothing(desk: Desk) -> None:
    desk.put("d/e/a.txt", "theirs")
    desk.put("d/mine.txt", "mine")
    desk.marks.add(desk.base / "d/e/a.txt")
    await desk(files.file_move, path="d", to="shared://d")
    assert (await desk.outcome(files.file_read, path="shared://d/e/a.txt")).tainted
    assert not (await desk.outcome(files.file_read, path="shared://d/mine.txt")).tainted
    await desk(files.file_delete, path="shared://d", recursive=True)
    assert desk.marks.holds(desk.trash / "d/e/a.txt")
    assert not desk.marks.holds(desk.trash / "d/mine.txt")


async def test_what_lies_outside_taints(desk: Desk) -> None:
    (desk.sdcard / "x.txt").write_text("from elsewhere")
    desk.put("a.txt", "mine")
    assert (await desk.outcome(files.file_read, path=f"{desk.sdcard}/x.txt")).tainted
    assert not (await desk.outcome(files.file_read, path="a.txt")).tainted


async def test_what_is_written_beside_outside_content_is_marked(desk: Desk) -> None:
    desk.put("a.txt", "mine\n")
    desk.tainted = True
    await desk(files.file_write, path="n.md", text="page says\n")
    await desk(files.file_edit, path="a.txt", old="mine", new="theirs")
    desk.tainted = False
    for path in ("n.md", "a.txt"):
        assert (await desk.outcome(files.file_read, path=path)).tainted
    assert (await desk.outcome(files.file_search, query="page")).tainted
    await desk(files.file_copy, path="n.md", to="copy.md")
    await desk(files.file_move, path="n.md", to="moved.md")
    for path in ("copy.md", "moved.md"):
        assert (await desk.outcome(files.file_read, path=path)).tainted
    await desk(files.file_write, path="moved.md", text="more", append=True)
    assert (await desk.outcome(files.file_read, path="moved.md")).tainted
    await desk(files.file_write, path="moved.md", text="my own words")
    assert not (await desk.outcome(files.file_read, path="moved.md")).tainted
    await desk(files.file_delete, path="copy.md")
    assert not desk.marks.holds(desk.base / "copy.md")
