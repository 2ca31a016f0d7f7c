"""Running a call where one is: its answer or its error as JSON values, and what it took."""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from cellwright.cell.errors import UserError
from cellwright.run.executors.executor import Call

_STATUS = Path("/proc/self/status")


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
    return {**answer, "seconds": time.monotonic() - begun, "peak_memory": _peak()}


def set_threads(threads: int) -> None:
    """Let torch use so many threads, if the function has imported it.

    Several processes that each use all cores wait for each other more than they work.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


def _described(error: BaseException) -> str:
    """The error in one line; then, unless it says all itself, where it happened."""
    name = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
    first = f"{name}{error}" if str(error) else type(error).__name__
    if isinstance(error, UserError):
        return first
    return f"{first}\n{''.join(traceback.format_exception(error))}"


def _forget_peak() -> None:
    """Let the system measure the peak of memory anew, where it can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """The most bytes held since `_forget_peak`, or since the process began."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        [line] = [line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM")]
        return 1024 * int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
