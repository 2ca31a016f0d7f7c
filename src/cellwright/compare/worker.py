"""The program of a process that does one training of a comparison.

It is new for each training, so that its peak of memory is that of the training. What happens goes
to its parent as lines of JSON. When the parent is gone, however that came about, it saves where it
is and ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.base.json_values import dumps

STEP_SECONDS = 0.25
"""The time between two reports of steps."""

_LOCK_SECONDS = 20.0
"""How long to wait for a process that is just saving its last step."""

Send = Callable[[dict[str, Any]], None]


def main(folder: str, label: str, seed: str) -> None:
    """Do the training, from the start or from where it was."""
    channel = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no message
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which tells us
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def send(message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            channel.write(dumps(message) + "\n")

    send(_trained(Path(folder), label, int(seed), send))


def _end_with_parent() -> None:
    """Standard input ends with the parent."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _trained(folder: Path, label: str, seed: int, send: Send) -> dict[str, Any]:
    """Train; how it ended."""
    from cellwright.compare.plan import read_plan
    from cellwright.runs.errors import Stopped
    from cellwright.runs.run import fresh_run, reopen
    from cellwright.runs.runner import train

    try:
        import torch

        torch.set_num_threads(1)
        plan = read_plan(folder)
        there = plan.run(label, seed)
        if there is None:
            path = plan.run_path(label, seed)
            run = fresh_run(plan.find(label).cell, plan.recipe, seed, path=path)
        else:
            _wait_until_free(there.path)
            run = reopen(there.path)
        result = train(run.folder, run.training, watch=_Reporter(send))
    except Stopped:
        return {"kind": "stopped"}
    except (UserError, OSError, MemoryError) as error:
        return {"kind": "failed", "message": str(error) or type(error).__name__}
    return {"kind": "ended", "status": result.status}


def _wait_until_free(run: Path) -> None:
    """A process whose parent was killed a moment ago may still be saving."""
    from cellwright.base.locks import is_held

    until = time.monotonic() + _LOCK_SECONDS
    while is_held(run) and time.monotonic() < until:
        time.sleep(0.1)


class _Reporter:
    """Tells the parent of each epoch, and now and then of a step."""

    def __init__(self, send: Send) -> None:
        self._send, self._due = send, 0.0

    def __call__(self, event: Any) -> None:
        from cellwright.training.results import StepDone

        if not isinstance(event, StepDone):
            self._send({"kind": "epoch", **asdict(event.record)})
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + STEP_SECONDS
            self._send({"kind": "step", **asdict(event)})


if __name__ == "__main__":
    main(*sys.argv[1:])
