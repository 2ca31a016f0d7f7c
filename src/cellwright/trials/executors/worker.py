"""The program of a worker process: takes calls from a socket, one after the other, and answers.

It never opens the store. So it can be killed at any moment without leaving a lock or half a
transaction, and machines that only work need no access to the database.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from cellwright.trials.executors.executor import Call
from cellwright.trials.executors.messages import receive, send
from cellwright.trials.executors.running import run_call
from cellwright.trials.executors.worker_channel import connect

READY = "ready"

_FIRST_TO_GO = "800"
"""If memory runs out, the system ends this process before its driver and most others."""


def main(where: str, threads: int) -> None:
    """Work until the other side of the socket is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which ends us
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)
    connection = connect(where)
    calls: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, calls), daemon=True).start()
    send(connection, READY)
    while True:
        call = calls.get()
        answer = run_call(Call(**call), threads)
        sys.stdout.flush()
        sys.stderr.flush()
        send(connection, answer)


def _listen(connection: socket.socket, calls: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Take calls, and end this process when its driver has ended, however that came about."""
    while True:
        try:
            calls.put(receive(connection))
        except BaseException:
            os._exit(1)
