"""Running a call where one is: its answer or its error as JSON values, and what it took."""

from __future__ import annotations

import contextlib
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.base.memory import is_shortage, peak_memory, shortage
from cellwright.trials.executors.executor import Call


def run_call(call: Call, threads: int | None = None) -> dict[str, Any]:
    """Call the function. Gives the fields of `Ended` but for the key; only a
    `KeyboardInterrupt` gets through."""
    _forget_peak()
    begun = time.monotonic()
    try:
        function = call.resolve()
        if threads is not None:
            set_threads(threads)
        # To JSON and back: what every executor gives is the same, wherever the job ran.
        value = json.loads(json.dumps(function(**call.arguments)))
        answer: dict[str, Any] = {"kind": "done", "value": value}
    except (Exception, SystemExit) as error:
        answer = {"kind": "error", "message": _described(error)}
    return {**answer, "seconds": time.monotonic() - begun, "peak_memory": peak_memory()}


def set_threads(threads: int) -> None:
    """Let torch use so many threads, if the function has imported it.

    Several processes that each use all cores wait for each other more than they work.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


def _described(error: BaseException) -> str:
    """The error in one line; then, unless it says all itself, where it happened."""
    if is_shortage(error):
        return shortage(error)
    name = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
    first = f"{name}{error}" if str(error) else type(error).__name__
    if isinstance(error, UserError):
        return first
    return f"{first}\n{''.join(traceback.format_exception(error))}"


def _forget_peak() -> None:
    """Let the system measure the peak of memory anew, where it can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
