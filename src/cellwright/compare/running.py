"""Doing the trainings of a comparison: several side by side, each in a process with one thread.

Whatever ends this process, each training goes on from where it was when the comparison is asked for
again, to the same figures.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from cellwright.base.json_values import loads
from cellwright.base.locks import training_lock
from cellwright.base.signals import stop_requests
from cellwright.compare.plan import Plan
from cellwright.runs.errors import RunError, Stopped
from cellwright.trials.executors.executor import cores

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from cellwright.compare.worker import main; main(*sys.argv[2:])"
)
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LOOK_SECONDS = 0.2
_LAST_WORDS = 2000


@dataclass(frozen=True)
class Event:
    """What happened to a training.

    `kind` is "begun", "step", "epoch", "ended", "failed" or "stopped"; `values` are those of a
    `StepDone` or an `EpochRecord`, the `status` of a result, or the `message` of a failure.
    """

    label: str
    seed: int
    kind: str
    values: dict[str, Any]


Watch = Callable[[Event | None], None]
"""Called with each event, and with None when a moment has passed without one."""


def missing(plan: Plan) -> list[tuple[str, int]]:
    """The trainings that have not ended yet, in the order in which they begin."""
    left = []
    for one, seed in plan.runs:
        run = plan.run(one.label, seed)
        if run is None or run.info.status not in ("finished", "diverged"):
            left.append((one.label, seed))
    return left


def train_all(plan: Plan, workers: int | None = None, watch: Watch | None = None) -> list[str]:
    """Do all trainings that are missing.

    Args:
        plan: the comparison.
        workers: how many trainings go on side by side; as many as there are cores unless said.
        watch: told what happens.

    Returns:
        What failed, a line for each training; the others have ended, well or diverged.

    Raises:
        Stopped: Ctrl-C was pressed, or the process was asked to end; everything is saved.
    """
    told: Watch = watch or (lambda event: None)
    failures: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(training_lock(plan.folder))
        stop = stack.enter_context(stop_requests())
        team = stack.enter_context(_team(plan))
        todo = missing(plan)
        while todo or team.children:
            if stop.signal is not None:
                team.end()
                raise Stopped(plan.folder, stop.signal, "the same command")
            while todo and len(team.children) < (workers or cores()):
                label, seed = todo.pop(0)
                team.start(label, seed)
                told(Event(label, seed, "begun", {}))
            events = team.events()
            for event in events:
                told(event)
                if event.kind in ("failed", "stopped"):
                    why = event.values.get("message", "was stopped from outside")
                    failures.append(f"{event.label}, seed {event.seed}: {why}")
            if not events:
                told(None)
    return failures


class _Child:
    """A process that does a training."""

    def __init__(self, plan: Plan, label: str, seed: int) -> None:
        self.label, self.seed = label, seed
        self.ended = self._told = False
        self._rest = b""
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        arguments = [json.dumps(sys.path), str(plan.folder.absolute()), label, str(seed)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *arguments],
            env={**os.environ, **dict.fromkeys(_THREADS, "1")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            start_new_session=True,  # Ctrl-C on the terminal is for the parent alone
        )

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def read(self) -> list[Event]:
        """What it has said; at its end, how it ended."""
        data = os.read(self.output.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        events = [self._event(loads(line)) for line in lines]
        self._told |= any(event.kind in ("ended", "failed", "stopped") for event in events)
        if not data:
            self.ended = True
            self.process.wait()
            if not self._told:
                events.append(self._event({"kind": "failed", "message": self._cause()}))
        return events

    def _event(self, message: dict[str, Any]) -> Event:
        return Event(self.label, self.seed, message.pop("kind"), message)

    def _cause(self) -> str:
        code = self.process.returncode
        if code >= 0:
            why = f"its process ended with exit code {code}"
        else:
            name = signal.Signals(-code).name
            memory = ", as the system does when memory runs out" if name == "SIGKILL" else ""
            why = f"its process was killed by {name}{memory}"
        self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, self._printed.tell() - _LAST_WORDS))
        printed = self._printed.read().decode("utf-8", "replace").strip()
        return f"{why}\n{printed}" if printed else why

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._printed):
            if stream is not None:
                stream.close()


class _Team:
    """The processes that are there."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._selector = selectors.DefaultSelector()
        self.children: list[_Child] = []

    def start(self, label: str, seed: int) -> None:
        child = _Child(self._plan, label, seed)
        self.children.append(child)
        self._selector.register(child.output, selectors.EVENT_READ, child)

    def events(self) -> list[Event]:
        """What was said within a moment."""
        found: list[Event] = []
        for key, _ in self._selector.select(_LOOK_SECONDS):
            child: _Child = key.data
            found += child.read()
            if child.ended:
                self._selector.unregister(child.output)
                self.children.remove(child)
                child.close()
        return found

    def end(self) -> None:
        """Ask all to save and end, and wait until they have; a second Ctrl-C does not wait."""
        for child in self.children:
            child.process.send_signal(signal.SIGTERM)
        while self.children:
            self.events()

    def close(self) -> None:
        for child in self.children:
            child.close()
        self._selector.close()


@contextlib.contextmanager
def _team(plan: Plan) -> Iterator[_Team]:
    team = _Team(plan)
    try:
        yield team
    finally:
        team.close()


def refuse_failures(failures: Sequence[str]) -> None:
    """Say so if trainings failed."""
    if failures:
        number = len(failures)
        raise RunError(
            f"{number} {'training' if number == 1 else 'trainings'} failed; the same command tries "
            "again:\n" + "\n".join(failures)
        )
