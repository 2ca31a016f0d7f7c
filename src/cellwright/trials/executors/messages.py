"""JSON messages over a socket, each with its length before it."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

_LENGTH = struct.Struct(">Q")


def send(to: socket.socket, message: Any) -> None:
    """Send a message; blocks until it is on its way."""
    data = json.dumps(message).encode()
    to.sendall(_LENGTH.pack(len(data)) + data)


def receive(source: socket.socket) -> Any:
    """The next message; an `EOFError` if the other side has gone."""
    (length,) = _LENGTH.unpack(_exactly(source, _LENGTH.size))
    return json.loads(_exactly(source, length))


def _exactly(source: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        try:
            part = source.recv(min(size - len(data), 1 << 20))
        except ConnectionError:
            part = b""
        if not part:
            raise EOFError
        data += part
    return bytes(data)
