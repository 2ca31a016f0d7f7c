"""How a driver and its worker process are connected.

By a pair of sockets, of which the process inherits one: nobody else can get in between. Windows
hands no sockets down, so there the process connects over the loopback interface, and shows a key
that it has found in its environment, which only processes of the same user can see.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import select
import socket
from typing import Any

_KEY = "CELLWRIGHT_WORKER_KEY"
_KEY_SECONDS = 10.0
"""Whoever connects has so long to show the key."""


class Inherited:
    """A pair of sockets.

    `where` tells the process how to connect (`connect`), with `environment` and the `options` of
    `subprocess.Popen`.
    """

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        handle = self._theirs.fileno()
        self.where = f"handle:{handle}"
        self.environment: dict[str, str] = {}
        # A session of its own, so that its children can be ended with it.
        self.options: dict[str, Any] = {"pass_fds": [handle], "start_new_session": True}

    def accepted(self, seconds: float) -> socket.socket | None:
        """The connection, if there is one within so many seconds."""
        return self._ours

    def close(self) -> None:
        """Let go of what the process alone needs."""
        self._theirs.close()


class Loopback:
    """A connection over the loopback interface; see `Inherited`."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._key = secrets.token_hex(32)
        self.where = f"port:{self._listening.getsockname()[1]}"
        self.environment = {_KEY: self._key}
        self.options: dict[str, Any] = {}

    def accepted(self, seconds: float) -> socket.socket | None:
        """The connection of the first that shows the key; others are sent away."""
        if not readable(self._listening, seconds):
            return None
        connection, _ = self._listening.accept()
        connection.settimeout(_KEY_SECONDS)
        with contextlib.suppress(OSError):
            shown = connection.recv(len(self._key), socket.MSG_WAITALL)
            if hmac.compare_digest(shown, self._key.encode()):
                connection.settimeout(None)
                return connection
        connection.close()
        return None

    def close(self) -> None:
        """Take no more connections."""
        self._listening.close()


def offered() -> Inherited | Loopback:
    """The kind of connection that this system has."""
    return Inherited() if os.name == "posix" else Loopback()


def connect(where: str) -> socket.socket:
    """The process' side of a connection."""
    kind, _, number = where.partition(":")
    if kind == "handle":
        return socket.socket(fileno=int(number))
    connection = socket.create_connection(("127.0.0.1", int(number)))
    connection.sendall(os.environ.pop(_KEY).encode())
    return connection


def readable(connection: socket.socket, seconds: float) -> bool:
    """Whether something has come, or comes within so many seconds. (`select` fails where a process
    has more than a thousand files open; Windows has nothing else.)"""
    if not hasattr(select, "poll"):
        return bool(select.select([connection], [], [], seconds)[0])
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(1000 * seconds))
