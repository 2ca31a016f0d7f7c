"""Serving the page until Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
from collections.abc import Iterator
from typing import Any

from cellwright.base.errors import UserError, reason
from cellwright.base.optional import require
from cellwright.studio.server import make_app
from cellwright.studio.watch import Watch

PORT = 8700
"""The first port that is tried; if it is taken, those behind it."""

TRIED = 50

GOODBYE_SECONDS = 2
"""How long requests under way may take once Ctrl-C was pressed."""


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on an address.

    Args:
        host: a name or an address.
        port: if None, a free one.

    Raises:
        UserError: nobody can listen there; the message says why.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise UserError(
            f"{host[:100]!r} is no address of this machine; 127.0.0.1 is for this machine alone"
        ) from None
    problem = ""
    for number in range(PORT, PORT + TRIED) if port is None else (port,):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((address[0], number, *address[2:]))
            made.listen(128)
        except OSError as error:
            made.close()
            problem = reason(error)
            if error.errno != errno.EADDRINUSE:
                break
        else:
            return made
    where = f"port {port}" if port is not None else f"ports {PORT} to {PORT + TRIED - 1}"
    raise UserError(f"cannot listen on {host}, {where}: {problem}; choose another with --port")


def address_of(listening: socket.socket, host: str) -> str:
    """What to type into a browser."""
    port = listening.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


def serve(watch: Watch, listening: socket.socket, host: str) -> None:
    """Serve until Ctrl-C is pressed or the process is asked to end.

    Raises:
        MissingPackageError: uvicorn or starlette is not installed.
    """
    uvicorn = require("uvicorn", "the studio", "studio")
    app, news = make_app(watch, host)
    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="on", server_header=False,
        timeout_graceful_shutdown=GOODBYE_SECONDS,
    )  # fmt: skip
    server = uvicorn.Server(config)

    def stop(number: int, frame: Any) -> None:
        news.end()  # pages hold a stream open, for which the server would wait
        server.should_exit = True

    @contextlib.contextmanager
    def heard() -> Iterator[None]:
        before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    # uvicorn raises the signal again once it is down, which would end the command with an error.
    server.capture_signals = heard
    server.run(sockets=[listening])
