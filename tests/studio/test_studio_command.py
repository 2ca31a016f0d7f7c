"""`cellwright studio` as people call it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from studio_server import ask

from cellwright.base.errors import UserError
from cellwright.studio.serve import PORT, address_of, listen


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_ctrl_c_ends_it_quietly_while_a_page_is_open(tmp_path: Path):
    command = [sys.executable, "-u", "-m", "cellwright", "studio", str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        match = re.search(r"http://127\.0\.0\.1:(\d+)/", lines[1])
        assert match is not None, lines
        assert ask(match[0], "/").status == 200
        with socket.create_connection(("127.0.0.1", int(match[1])), timeout=300) as page:
            page.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert b"event: all" in page.recv(4096) + page.recv(4096)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_taken_port_is_said_and_a_free_one_found():
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        one, other = (each.getsockname()[1] for each in (first, second))
        assert PORT <= one < other
        assert address_of(first, "127.0.0.1") == f"http://127.0.0.1:{one}/"
        with pytest.raises(UserError, match=f"port {one}: address already in use"):
            listen("127.0.0.1", one)


@pytest.mark.parametrize("host", ["192.0.2.1", "\0"])
def test_an_address_that_is_not_ours_is_an_error(host: str):
    with pytest.raises(UserError, match=r"address|listen"):
        listen(host, None)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from typer.testing import CliRunner

    from cellwright.base.optional import MissingPackageError
    from cellwright.cli.app import app

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(app, ["studio", str(tmp_path)], standalone_mode=False)
    said = f"{result.output}{result.exception}"
    assert isinstance(result.exception, MissingPackageError | SystemExit)
    assert "cellwright[studio]" in said
