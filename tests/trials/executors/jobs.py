"""Functions that worker processes run in tests: good ones and all kinds of bad ones."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from cellwright.base.errors import UserError


def add(a: float, b: float) -> float:
    return a + b


def echo(**values: Any) -> dict[str, Any]:
    return values


def where() -> dict[str, Any]:
    return {"pid": os.getpid(), "omp": os.environ.get("OMP_NUM_THREADS")}


def torch_threads() -> int:
    import torch

    return torch.get_num_threads()


def fail(message: str) -> None:
    raise RuntimeError(message)


def refuse(message: str) -> None:
    raise UserError(message)


def leave(code: int) -> None:
    """End the process without a word."""
    print("last words", flush=True)
    os._exit(code)


def say_goodbye() -> None:
    raise SystemExit(3)


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang() -> None:
    """Never end, whatever is asked."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Event().wait()


def hang_once(marker: str) -> str:
    """Hang at the first call, of any process; say so by a file. Later calls answer."""
    if not os.path.exists(marker):
        with open(marker, "w") as file:
            file.write(str(os.getpid()))
        threading.Event().wait()
    return "answered"


def save_when_asked(folder: str) -> None:
    """Say by a file that it has begun, and by another that it was asked to end."""
    asked = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    with open(os.path.join(folder, "begun"), "w"):
        pass
    while not asked.wait(0.01):
        pass
    with open(os.path.join(folder, "saved"), "w"):
        pass


def hang_in(folder: str) -> None:
    """Say by a file that it has begun, and never end, whatever is asked."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(os.path.join(folder, "begun"), "w") as file:
        file.write(str(os.getpid()))
    threading.Event().wait()


def hog(limit: int) -> None:
    """Take memory, up to twice a limit, and keep it."""
    taken = []
    while 2**24 * len(taken) < 2 * limit:
        taken.append(bytearray(os.urandom(2**12) * 2**12))
    threading.Event().wait()


def not_json() -> object:
    return object()


def start_child(marker: str) -> None:
    """Start a process that would outlive this one, note its number, and hang."""
    import subprocess

    child = subprocess.Popen(["sleep", "600"])
    with open(marker + ".part", "w") as file:
        file.write(str(child.pid))
    os.rename(marker + ".part", marker)
    threading.Event().wait()
