"""No path leads out of a root: neither when it is checked nor when it is opened."""

import errno
import os
import resource
import signal
import socket
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palmclaw.core.errors import OutOfBounds, ToolError
from palmclaw.core.tools import Access, CheckedPath
from palmclaw.guard.durable import aside
from palmclaw.guard.workspace import MAX_PATH, Workspace, _failed

READ, WRITE = Access.READ, Access.WRITE


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    for name in ("mine", "other", "shared", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine" / "docs").mkdir()
    (tmp_path / "mine" / "docs" / "a.txt").write_text("a")
    (tmp_path / "other" / "secret.txt").write_text("secret")
    return Workspace({"session": tmp_path / "mine", "shared": tmp_path / "shared"})


def nothing(place: Path) -> None:
    """For those who need not know where it went."""


def base(space: Workspace) -> Path:
    return space.roots["session"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("docs/a.txt", "docs/a.txt"),
        ("./docs/../docs/a.txt", "docs/a.txt"),
        ("session://docs/a.txt", "docs/a.txt"),
        ("shared://list.md", "shared://list.md"),
        ("shared://", "shared://"),
        ("shared://../mine/docs/a.txt", "docs/a.txt"),
        ("", "."),
        (" ", "."),
        ("new/deep/file.txt", "new/deep/file.txt"),
        ("~/x", "~/x"),
        (" a ", " a "),
        ("shared:// a", "shared:// a"),
        ("..%2f..%2fhosts", "..%2f..%2fhosts"),
        ("ｄｏｃｓ／．．／．．／x", "ｄｏｃｓ／．．／．．／x"),
    ],
)
def test_paths_inside(space: Workspace, text: str, shown: str) -> None:
    assert space.resolve(text, READ).shown == shown


def test_an_absolute_path_inside_is_the_same_path(space: Workspace) -> None:
    assert space.resolve(str(base(space) / "docs/a.txt"), READ) == space.resolve("docs/a.txt", READ)


@pytest.mark.parametrize(
    "text",
    [
        "..",
        "../other/secret.txt",
        "docs/../../other/secret.txt",
        "/etc/passwd",
        "/",
        "session://../other/secret.txt",
        "session:///etc/passwd",
        "shared://../other/secret.txt",
        "shared:///etc/passwd",
        "file:///etc/passwd",
        "workspace://x",
        "docs/a.txt\x00.png",
        "docs/\u202etxt.a",
        "docs/a\u200b.txt",
        "docs/\na",
        "x" * (MAX_PATH + 1),
    ],
)
def test_paths_outside(space: Workspace, text: str) -> None:
    with pytest.raises(OutOfBounds) as caught:
        space.resolve(text, READ)
    assert caught.value.code == "out_of_bounds"
    assert "\u202e" not in str(caught.value)


def test_another_sessions_folder_is_outside_also_by_its_full_path(space: Workspace, tmp_path: Path) -> None:
    with pytest.raises(OutOfBounds):
        space.resolve(str(tmp_path / "other" / "secret.txt"), READ)


def test_case_is_not_folded(space: Workspace, tmp_path: Path) -> None:
    with pytest.raises(OutOfBounds):
        space.resolve(str(tmp_path).upper() + "/mine/docs/a.txt", READ)


def test_links_are_followed_before_the_check(space: Workspace, tmp_path: Path) -> None:
    (base(space) / "out").symlink_to(tmp_path / "outside")
    (base(space) / "out.txt").symlink_to("/etc/hosts")
    (base(space) / "in").symlink_to(base(space) / "docs")
    for text in ("out", "out/new.txt", "out.txt", "out/../other/secret.txt"):
        with pytest.raises(OutOfBounds):
            space.resolve(text, WRITE)
    assert space.resolve("in/a.txt", READ).shown == "docs/a.txt"


def test_a_loop_of_links_is_outside_or_missing(space: Workspace) -> None:
    (base(space) / "loop").symlink_to(base(space) / "loop")
    checked = space.resolve("loop/x", READ)
    with pytest.raises(ToolError):
        space.open(checked)


def test_a_path_the_system_cannot_follow_is_refused(space: Workspace) -> None:
    with pytest.raises(OutOfBounds, match="cannot be followed"):
        space.resolve("\udcff" * 3 + "\ud800", READ)


def test_a_root_that_is_itself_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    space = Workspace({"session": tmp_path / "link"})
    path = space.resolve("a.txt", WRITE)
    space.replace(path, b"x")
    assert (tmp_path / "real" / "a.txt").read_bytes() == b"x"
    assert space.real(path) == (tmp_path / "real" / "a.txt").resolve()


def test_an_outside_folder_that_the_owner_opened(space: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "outside"
    wider = Workspace({**space.roots, str(folder): folder})
    assert wider.resolve(str(folder / "x.txt"), READ).shown == f"{folder}/x.txt"


# opening: what was checked may have changed meanwhile


def swapped(space: Workspace, tmp_path: Path, act: Callable[[CheckedPath], object]) -> None:
    path = space.resolve("docs/a.txt", WRITE)
    (base(space) / "docs").rename(base(space) / "docs_old")
    (base(space) / "docs").symlink_to(tmp_path / "other")
    with pytest.raises(ToolError) as caught:
        act(path)
    assert caught.value.code in ("out_of_bounds", "not_folder")
    assert sorted(p.name for p in (tmp_path / "other").iterdir()) == ["secret.txt"]


def test_a_folder_swapped_for_a_link_is_not_followed(space: Workspace, tmp_path: Path) -> None:
    swapped(space, tmp_path, space.open)


def test_a_folder_swapped_for_a_link_is_not_written_through(space: Workspace, tmp_path: Path) -> None:
    swapped(space, tmp_path, lambda path: space.replace(path, b"x"))


def test_a_folder_swapped_for_a_link_is_not_deleted_through(space: Workspace, tmp_path: Path) -> None:
    swapped(space, tmp_path, lambda path: space.discard(path, tmp_path / "trash", nothing))


def test_a_folder_swapped_for_a_link_is_not_moved_through(space: Workspace, tmp_path: Path) -> None:
    swapped(space, tmp_path, lambda path: space.move(path, space.resolve("b.txt", WRITE)))


def test_a_file_swapped_for_a_link_is_not_followed(space: Workspace, tmp_path: Path) -> None:
    path = space.resolve("docs/a.txt", WRITE)
    (base(space) / "docs/a.txt").unlink()
    (base(space) / "docs/a.txt").symlink_to(tmp_path / "other/secret.txt")
    with pytest.raises(OutOfBounds):
        space.open(path)
    with pytest.raises(OutOfBounds):
        space.replace(path, b"x")
    assert (tmp_path / "other/secret.txt").read_text() == "secret"


def test_a_read_path_is_not_written(space: Workspace) -> None:
    path = space.resolve("docs/a.txt", READ)
    other = space.resolve("b.txt", WRITE)
    acts: list[Callable[[], object]] = [
        lambda: space.replace(path, b"x"),
        lambda: space.move(path, other),
        lambda: space.move(other, path),
        lambda: space.discard(path, base(space), nothing),
    ]
    for act in acts:
        with pytest.raises(OutOfBounds):
            act()
    assert (base(space) / "docs/a.txt").read_text() == "a"


def test_only_regular_files_are_opened(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(base(space) / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(base(space))
        server.bind("sock")
    for text, code in (("docs", "is_folder"), ("", "is_folder"), ("pipe", "is_special_file"), ("sock", "io_error")):
        with pytest.raises(ToolError) as caught:
            space.open(space.resolve(text, READ))
        assert caught.value.code == code
    for text in ("docs", "pipe", ""):
        with pytest.raises(ToolError):
            space.replace(space.resolve(text, WRITE), b"x")


def test_reading_is_bounded(space: Workspace) -> None:
    path = space.resolve("docs/a.txt", READ)
    assert space.read(path, 1) == b"a"
    with pytest.raises(ToolError, match="has 1 bytes; at most 0 are read"):
        space.read(path, 0)


def test_a_missing_file_says_so(space: Workspace) -> None:
    for text in ("nope.txt", "nope/x.txt"):
        with pytest.raises(ToolError) as caught:
            space.read(space.resolve(text, READ), 10)
        assert caught.value.code == "not_found"
    with pytest.raises(ToolError) as caught:
        space.read(space.resolve("docs/a.txt/b", READ), 10)
    assert caught.value.code == "not_folder"


def test_writing_makes_folders_keeps_the_mode_and_leaves_no_pieces(space: Workspace) -> None:
    path = space.resolve("new/deep/b.txt", WRITE)
    space.replace(path, b"1")
    os.chmod(space.real(path), 0o640)
    space.replace(path, b"22")
    assert space.real(path).read_bytes() == b"22"
    assert space.real(path).stat().st_mode & 0o777 == 0o640
    assert [p.name for p in space.real(path).parent.iterdir()] == ["b.txt"]


def test_a_full_disk_leaves_the_old_file(space: Workspace) -> None:
    path = space.resolve("docs/a.txt", WRITE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(ToolError) as caught:
            space.replace(path, b"x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.code == "storage_full"
    assert space.real(path).read_text() == "a"
    assert [p.name for p in (base(space) / "docs").iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EROFS, "read_only"), (errno.EACCES, "read_only"), (errno.ENOSPC, "storage_full"), (errno.EIO, "io_error")],
)
def test_the_systems_refusals_have_names(number: int, code: str) -> None:
    assert _failed(OSError(number, "no"), "a.txt").code == code


def test_listing_leaves_links_out(space: Workspace, tmp_path: Path) -> None:
    (base(space) / "out").symlink_to(tmp_path / "other")
    os.mkfifo(base(space) / "pipe")
    assert [p.shown for p, _ in space.listed(space.resolve("", READ))] == ["docs"]
    with pytest.raises(ToolError):
        space.listed(space.resolve("docs/a.txt", READ))


def test_stat_never_looks_behind_a_link(space: Workspace) -> None:
    (base(space) / "link").symlink_to(base(space) / "docs/a.txt")
    found = space.stat(CheckedPath("session", ("link",), READ))
    assert found is not None
    assert os.path.stat.S_ISLNK(found.st_mode)  # type: ignore[attr-defined]  # re-exported by os.path
    assert space.stat(space.resolve("", READ)) is not None
    assert space.stat(space.resolve("nope/x", READ)) is None
    assert space.stat(space.resolve("docs/nope", READ)) is None
    (base(space) / "docs2").symlink_to(base(space) / "docs")
    with pytest.raises(ToolError):
        space.stat(CheckedPath("session", ("docs2", "a.txt"), READ))


def test_discarded_files_can_be_taken_back(space: Workspace, tmp_path: Path) -> None:
    trash, places = tmp_path / "trash", list[Path]()
    for text in ("a", "b"):
        space.replace(space.resolve("x.txt", WRITE), text.encode())
        space.discard(space.resolve("x.txt", WRITE), trash, places.append)
    assert {p.name: p.read_text() for p in trash.iterdir()} == {"x.txt": "a", "1-x.txt": "b"}
    assert places == [trash / "x.txt", trash / "1-x.txt"]


@pytest.mark.parametrize("text", ["", "shared://"])
def test_a_root_is_neither_moved_nor_deleted(space: Workspace, tmp_path: Path, text: str) -> None:
    root = space.resolve(text, WRITE)
    with pytest.raises(OutOfBounds):
        space.discard(root, tmp_path / "trash", nothing)
    with pytest.raises(OutOfBounds):
        space.move(root, space.resolve("x", WRITE))
    with pytest.raises(OutOfBounds):
        space.move(space.resolve("docs", WRITE), root)


def test_a_read_never_makes_folders(space: Workspace) -> None:
    with pytest.raises(ToolError):
        space.open(space.resolve("fresh/x", READ))
    assert not (base(space) / "fresh").exists()


SEGMENTS = st.one_of(
    st.sampled_from(["..", ".", "docs", "a.txt", "out", "in", "DOCS", "", "／", "․․", "..\u2215", "~", "shared:"]),
    st.text(max_size=5),
)


@given(
    start=st.sampled_from(["", "/", "session://", "shared://", "session:///", "./", "file://", "~/"]),
    segments=st.lists(SEGMENTS, max_size=6),
    access=st.sampled_from(Access),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_is_let_through_lies_inside_a_root(
    tmp_path_factory: pytest.TempPathFactory, start: str, segments: list[str], access: Access
) -> None:
    folder = tmp_path_factory.getbasetemp() / "property"
    if not folder.exists():
        (folder / "mine/docs").mkdir(parents=True)
        (folder / "shared").mkdir()
        (folder / "mine/docs/a.txt").write_text("a")
        (folder / "mine/out").symlink_to("/etc")
        (folder / "mine/in").symlink_to(folder / "mine/docs")
    space = Workspace({"session": folder / "mine", "shared": folder / "shared"})
    try:
        checked = space.resolve(start + "/".join(segments), access)
    except OutOfBounds:
        return
    real = space.real(checked)
    assert real == Path(os.path.realpath(real))
    assert real.is_relative_to(folder / "mine") or real.is_relative_to(folder / "shared")
    assert not any(unicodedata.category(c) in ("Cc", "Cf") for c in str(checked.shown))
    assert space.resolve(checked.shown, access) == checked


def test_moving_between_roots_makes_folders(space: Workspace) -> None:
    source, target = space.resolve("docs", WRITE), space.resolve("shared://old/docs", WRITE)
    space.move(source, target)
    assert (space.roots["shared"] / "old/docs/a.txt").read_text() == "a"
    with pytest.raises(ToolError) as caught:
        space.move(source, space.resolve("x", WRITE))
    assert caught.value.code == "not_found"


# an outside folder that holds the agent's own home


@pytest.fixture
def wide(tmp_path: Path) -> Workspace:
    """The owner has opened a folder in which the home lies; so do the workspaces of this and of another session."""
    for folder in ("home/workspaces/mine", "home/workspaces/other", "home/shared", "photos"):
        (tmp_path / "owner" / folder).mkdir(parents=True)
    home = tmp_path / "owner" / "home"
    (home / "secrets.toml").write_text("key")
    (home / "workspaces/mine/a.txt").write_text("a")
    (tmp_path / "owner/photos/b.txt").write_text("b")
    roots = {
        "session": home / "workspaces/mine",
        "shared": home / "shared",
        str(tmp_path / "owner"): tmp_path / "owner",
    }
    return Workspace(roots, hidden=(home,))


def outer(wide: Workspace, *parts: str, access: Access = WRITE) -> CheckedPath:
    """A path from the outside root that nobody has checked."""
    return CheckedPath(list(wide.roots)[2], parts, access)


@pytest.mark.parametrize("inner", ["", "/secrets.toml", "/workspaces", "/workspaces/other/x", "/palmclaw.db", "/new"])
def test_the_home_is_not_reached_through_an_outside_folder(wide: Workspace, inner: str) -> None:
    for access in Access:
        with pytest.raises(OutOfBounds, match="the agent's own folder"):
            wide.resolve(f"{list(wide.roots)[2]}/home{inner}", access)


def test_the_sessions_own_folders_are_reached_by_their_full_path(wide: Workspace) -> None:
    assert wide.resolve(str(wide.roots["session"] / "a.txt"), READ) == CheckedPath("session", ("a.txt",), READ)
    assert wide.resolve(str(wide.roots["shared"]), READ) == CheckedPath("shared", (), READ)


def test_a_walk_does_not_enter_the_home(wide: Workspace) -> None:
    assert ["/".join(p.parts) for p, _ in wide.walk(outer(wide))] == ["photos", "photos/b.txt"]
    assert [p.shown for p, _ in wide.walk(wide.resolve("", READ))] == ["a.txt"]


def test_the_home_is_not_opened_by_another_name(wide: Workspace, tmp_path: Path) -> None:
    """As where case is not minded, or the folder got its place after the check."""
    (tmp_path / "owner/home").rename(tmp_path / "owner/later")
    moved = Workspace(wide.roots, hidden=(tmp_path / "owner/later",))
    acts: list[Callable[[], object]] = [
        lambda: moved.open(outer(wide, "later", "secrets.toml")),
        lambda: moved.replace(outer(wide, "later", "secrets.toml"), b"x"),
        lambda: moved.stat(outer(wide, "later", "secrets.toml")),
        lambda: moved.listed(outer(wide, "later")),
        lambda: moved.move(outer(wide, "photos"), outer(wide, "later", "photos")),
    ]
    for act in acts:
        with pytest.raises(OutOfBounds, match="the agent's own folder"):
            act()
    itself = Workspace({**wide.roots, "/alias": tmp_path / "owner/later"}, hidden=(tmp_path / "owner/later",))
    with pytest.raises(OutOfBounds, match="the agent's own folder"):
        itself.open(CheckedPath("/alias", ("secrets.toml",), READ))


def test_what_holds_the_home_is_neither_moved_nor_deleted(wide: Workspace, tmp_path: Path) -> None:
    wider = Workspace({**wide.roots, str(tmp_path): tmp_path}, hidden=wide.hidden)
    for path in (CheckedPath(str(tmp_path), ("owner",), WRITE), outer(wide, "home")):
        with pytest.raises(OutOfBounds, match="the agent's own folder"):
            wider.move(path, wide.resolve("x", WRITE))
        with pytest.raises(OutOfBounds, match="the agent's own folder"):
            wider.discard(path, tmp_path / "trash", nothing)
    wider.move(outer(wide, "photos"), wide.resolve("photos", WRITE))
    assert (wide.roots["session"] / "photos/b.txt").read_text() == "b"


def test_a_hidden_folder_that_is_not_there_hides_nothing(tmp_path: Path) -> None:
    roots = {"session": tmp_path / "mine", str(tmp_path): tmp_path}
    space = Workspace(roots, hidden=(tmp_path / "nowhere",))
    (tmp_path / "a.txt").write_text("a")
    assert space.read(space.resolve(str(tmp_path / "a.txt"), READ), 1) == b"a"


# what is not there any more, and what a crash left


def test_a_root_that_was_unmounted_is_an_error_of_its_own(tmp_path: Path) -> None:
    space = Workspace({"session": tmp_path, "/gone": tmp_path / "gone"})
    path = CheckedPath("/gone", ("a.txt",), WRITE)
    acts: list[Callable[[], object]] = [
        lambda: space.open(path),
        lambda: space.replace(path, b"x"),
        lambda: space.listed(CheckedPath("/gone", (), READ)),
        lambda: space.move(path, space.resolve("x", WRITE)),
        lambda: space.discard(path, tmp_path / "trash", nothing),
    ]
    for act in acts:
        with pytest.raises(ToolError, match=r"/gone/ does not exist") as caught:
            act()
        assert caught.value.code == "not_found"
    assert space.stat(path) is None
    assert space.stat(CheckedPath("/gone", (), READ)) is None


def test_a_piece_of_a_write_is_neither_listed_nor_opened(space: Workspace) -> None:
    piece = f"docs/{aside()}"
    (base(space) / piece).write_text("half of what a page said")
    assert [p.name for p, _ in space.listed(space.resolve("docs", READ))] == ["a.txt"]
    with pytest.raises(OutOfBounds, match="a piece of a write"):
        space.resolve(piece, READ)


def test_two_writers_of_one_file_do_not_share_a_temporary_one(space: Workspace) -> None:
    path = space.resolve("docs/a.txt", WRITE)
    contents = [bytes([65 + n]) * 200_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: space.replace(path, content), contents * 4))
    assert space.read(path, 200_000) in contents
    assert [p.name for p in (base(space) / "docs").iterdir()] == ["a.txt"]


def test_two_that_delete_the_same_name_keep_both(space: Workspace, tmp_path: Path) -> None:
    for number in range(16):
        space.replace(space.resolve(f"{number}/x.txt", WRITE), str(number).encode())
    paths = [space.resolve(f"{number}/x.txt", WRITE) for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda path: space.discard(path, tmp_path / "trash", nothing), paths))
    assert sorted(int(p.read_text()) for p in (tmp_path / "trash").iterdir()) == list(range(16))


def test_what_vanishes_from_a_listing_is_left_out(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda handle: [*listdir(handle), "gone.txt"])
    assert [p.name for p, _ in space.listed(space.resolve("docs", READ))] == ["a.txt"]


def test_a_name_that_is_no_text_is_left_out(space: Workspace) -> None:
    (base(space) / os.fsdecode(b"\xff.txt")).touch()
    assert [p.name for p, _ in space.listed(space.resolve("", READ))] == ["docs"]


def test_a_walk_goes_on_beside_a_folder_that_cannot_be_entered(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (base(space) / "a").mkdir()
    listed = Workspace.listed

    def locked(self: Workspace, path: CheckedPath) -> list[tuple[CheckedPath, os.stat_result]]:
        if path.parts == ("a",):
            raise ToolError("read_only", "not here")
        return listed(self, path)

    monkeypatch.setattr(Workspace, "listed", locked)
    assert [p.shown for p, _ in space.walk(space.resolve("", READ))] == ["a", "docs", "docs/a.txt"]
    assert [p.shown for p, _ in space.walk(space.resolve("", READ), depth=1)] == ["a", "docs"]


def test_files_by_name_by_path_and_not_by_a_dot(space: Workspace) -> None:
    for name in ("docs/B.MD", ".hidden.md", "docs/.x.md"):
        (base(space) / name).touch()
    found = {
        pattern: [p.shown for p, _ in space.files(space.resolve(place, READ), pattern)]
        for place, pattern in (("", "*.md"), ("", "docs/*.txt"), ("docs", "docs/*"), ("docs", "b.*"), ("", "docs"))
    }
    assert found == {
        "*.md": ["docs/B.MD"],
        "docs/*.txt": ["docs/a.txt"],
        "docs/*": ["docs/B.MD", "docs/a.txt"],
        "b.*": ["docs/B.MD"],
        "docs": [],
    }
