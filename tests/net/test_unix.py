"""Sockets by file: names that fit, files that are private."""

import os
import socket
import stat
from pathlib import Path

import pytest

from palmclaw.net.unix import LONGEST, addressed, identity, listener


def test_a_name_that_fits_is_left_as_it_is(tmp_path: Path) -> None:
    with addressed(tmp_path / "s") as name:
        assert name == str(tmp_path / "s")


@pytest.mark.parametrize("depth", [1, 20])
def test_a_connection_is_made_however_deep_the_socket_lies(tmp_path: Path, depth: int) -> None:
    folder = tmp_path.joinpath(*["嗨" * 20] * depth)
    folder.mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    server, client = listener(folder / "s"), socket.socket(socket.AF_UNIX)
    with server, client:
        with addressed(folder / "s") as name:
            assert len(os.fsencode(name)) <= LONGEST
            with pytest.raises(ConnectionRefusedError):
                client.connect(name)
            server.listen()
            client.connect(name)
        assert stat.S_IMODE((folder / "s").stat().st_mode) == 0o600
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_lies_there_is_replaced_and_what_cannot_be_is_an_error(tmp_path: Path) -> None:
    listener(tmp_path / "s").close()
    first = identity(tmp_path / "s")
    with listener(tmp_path / "s"):
        assert identity(tmp_path / "s") not in (None, first)
    assert identity(tmp_path / "none") is None
    before = len(os.listdir("/proc/self/fd"))
    for path in (tmp_path, tmp_path / "none" / "s", tmp_path / ("x" * 300)):
        with pytest.raises(OSError):
            listener(path)
    assert len(os.listdir("/proc/self/fd")) == before
