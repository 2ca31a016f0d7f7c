"""A PostgreSQL server of our own, for as long as tests need it.

It listens on the loopback address only, and its files are in a temporary folder. PostgreSQL does
not run as root; there another user runs it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class NoServerError(Exception):
    """Why there is none."""


def programs() -> Path:
    """The folder that has PostgreSQL's programs."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    raise NoServerError("PostgreSQL is not installed (initdb is not to be found)")


def command_as() -> tuple[list[str], int, int]:
    """What to put before a command so that it does not run as root, and who owns its files."""
    if os.getuid() != 0:
        return [], os.getuid(), os.getgid()
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            if shutil.which("runuser"):
                return ["runuser", "-u", name, "--"], user.pw_uid, user.pw_gid
    raise NoServerError("PostgreSQL does not run as root, and 'runuser' is missing")


LOCKED = "locked"
"""A user that the server asks for a password, once a test has made it."""


@dataclass
class Server:
    """A server that can go away and come back."""

    url: str
    folder: Path
    settings: str

    def start(self) -> None:
        """Let it run; returns when it answers."""
        log = self.folder / "log"
        self._control("-l", log, "-w", "-t", "60", "-o", self.settings, "start")

    def stop(self) -> None:
        """End it at once, as a power cut would; returns when it is gone."""
        self._control("-m", "immediate", "stop")

    def pause(self) -> None:
        """Let it, and all that it does for others, stand still."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after a pause."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        first = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        rest = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for process in (first, *map(int, rest)):
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(process, number)

    def _control(self, *words: object) -> None:
        before, *_ = command_as()
        _run([*before, programs() / "pg_ctl", "-D", self.folder / "data", *words], self.folder)


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """A server, while this is entered; `url` is that of its first database."""
    if importlib.util.find_spec("psycopg") is None:
        raise NoServerError("psycopg is not installed")
    place, (before, user, group) = programs(), command_as()
    folder = Path(tempfile.mkdtemp(prefix="cellwright-postgres-"))
    try:
        os.chown(folder, user, group)
        data = folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        settings = (
            f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= "
            "-c fsync=off -c full_page_writes=off -c max_connections=60 -c shared_buffers=32MB"
        )
        initdb = [place / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8"]
        _run([*before, *initdb, "--no-sync", "--no-instructions"], folder)
        rules = data / "pg_hba.conf"
        locked = f"host all {LOCKED} 127.0.0.1/32 scram-sha-256\n"
        rules.write_text(locked + rules.read_text())
        made = Server(f"postgresql://tester@127.0.0.1:{port}/postgres", folder, settings)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def emptied(url: str) -> str:
    """The same database without anything in it. (A new one for each test takes longer.)"""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return url


def _run(command: list[object], folder: Path) -> None:
    """Run a command to its end. Its output goes to a file: a server that it leaves behind would
    keep a pipe open."""
    with open(folder / "output", "wb") as output:
        words = [str(word) for word in command]
        done = subprocess.run(words, stdout=output, stderr=output, cwd="/", check=False)
    if done.returncode:
        said = (folder / "output").read_text(errors="replace").strip().splitlines() or ["?"]
        raise NoServerError(f"PostgreSQL does not start: {said[-1]}")
