"""The runner: it works in a folder, and after any kill a resume goes on as if nothing had been.

What works step by step, and can say all that it knows between two steps, can be run: a training, a
search. What makes it go on after a kill is the order of writing. `last.safetensors` alone decides
where a run stands: it says how many records of `metrics.jsonl` and which epoch's `best.safetensors`
belong to it.

1. Records are appended, and on the disk before a checkpoint counts them.
2. Better weights are written beside the best ones, as `best.next.safetensors`.
3. `last.safetensors` is replaced. From here on the epoch has happened.
4. `best.next.safetensors` takes the place of `best.safetensors`.

A run that was killed before 3 drops the records and weights of what did not happen, and does it
again; one that was killed after 3 makes up for 4. Files that no kill takes away are missed
(`lost_files.py`), and nothing is touched then.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from torch import Tensor

from cellwright.base.errors import FileError
from cellwright.base.files import closed, move, remove, sweep
from cellwright.base.locks import training_lock
from cellwright.base.memory import memory_shortage
from cellwright.base.signals import stop_requests
from cellwright.base.threads import threads_for
from cellwright.runs.checkpoints import load_state, save_checkpoint
from cellwright.runs.errors import RunError, Stopped
from cellwright.runs.folder import BEST, NEXT_BEST, RunFolder
from cellwright.runs.lost_files import check_complete
from cellwright.runs.made_with import difference, made_with
from cellwright.runs.metrics_file import MetricsWriter
from cellwright.runs.tensorboard import EventWriter
from cellwright.runs.work_folder import LAST, METRICS, WorkFolder
from cellwright.training.results import EpochDone, Result, StepDone
from cellwright.training.snapshots import Snapshot

Event = StepDone | EpochDone
"""What a training reports."""


class AnyEvent(Protocol):
    """What work reports between two moments at which it can be saved."""

    @property
    def ends_epoch(self) -> bool:
        """Whether an epoch has ended, and not only a step."""

    @property
    def best(self) -> bool:
        """Whether the weights are better than ever before, and worth a file of their own."""

    @property
    def epoch(self) -> int:
        """The epoch it belongs to."""

    def to_record(self) -> Mapping[str, Any]:
        """What the metrics keep of it."""


class AnyResult(Protocol):
    """What comes out."""

    @property
    def status(self) -> str:
        """`running`, `ok`, or what went wrong."""


SomeEvent = TypeVar("SomeEvent", bound=AnyEvent)
SomeResult = TypeVar("SomeResult", bound=AnyResult)
EventOut = TypeVar("EventOut", bound=AnyEvent, covariant=True)
EventIn = TypeVar("EventIn", contravariant=True)
ResultOut = TypeVar("ResultOut", bound=AnyResult, covariant=True)


class Work(Protocol[EventOut, ResultOut]):
    """What can be run: `cellwright.training.training.Training`, and whatever works like it."""

    def run(self) -> Iterator[EventOut]:
        """Work to the end; between two events the object stands still."""

    def result(self) -> ResultOut:
        """What has come out so far."""

    def weights(self) -> dict[str, Tensor]:
        """What an evaluation uses."""

    def snapshot(self) -> Snapshot:
        """Everything that `restore` needs."""

    def restore(self, snapshot: Snapshot, /) -> None:
        """Go on where the snapshot was taken."""


@dataclass
class Position:
    """How far a run has come, beside what the training itself knows; kept in the checkpoint."""

    steps: int = 0
    records: int = 0
    best_epoch: int | None = None


def train(
    folder: RunFolder,
    training: Work[Event, Result],
    *,
    watch: Callable[[Event], None] | None = None,
    checkpoint_seconds: float = 60.0,
    checkpoint_steps: int | None = None,
    metrics_steps: int = 100,
    tensorboard: bool = False,
    pause_after: int | None = None,
) -> Result:
    """Train until the end, from where the folder's last checkpoint is.

    Args:
        folder: where everything is kept. No other process may be training in it.
        training: fresh, and made as the folder's `run.json` says.
        watch: called after each step and each epoch, once these are kept.
        checkpoint_seconds: the time between checkpoints; there is one after each epoch anyway.
        checkpoint_steps: the number of steps between checkpoints, instead of the time.
        metrics_steps: the number of steps between records of steps.
        tensorboard: write TensorBoard events too.
        pause_after: the epoch after which it stops where it stands, to be gone on with; none
            unless said.

    Raises:
        Stopped: Ctrl-C was pressed, or the process was asked to end; the folder has everything.
        RunError: the run has ended before, another process trains in the folder, a file in it is
            damaged or cannot be written. A checkpoint that was there is intact.
        NotEnoughMemoryError: a step takes more memory than there is.
    """
    return work_in(
        folder,
        training,
        watch=watch,
        checkpoint_seconds=checkpoint_seconds,
        checkpoint_steps=checkpoint_steps,
        metrics_steps=metrics_steps,
        pause_after=pause_after,
        events=lambda steps: EventWriter(folder.path, steps) if tensorboard else None,
        write_result=folder.write_result,
    )


def work_in(
    folder: WorkFolder[Any],
    work: Work[SomeEvent, SomeResult],
    *,
    write_result: Callable[[SomeResult], None],
    watch: Callable[[SomeEvent], None] | None = None,
    checkpoint_seconds: float = 60.0,
    checkpoint_steps: int | None = None,
    metrics_steps: int = 100,
    pause_after: int | None = None,
    events: Callable[[int], Events[SomeEvent] | None] = lambda steps: None,
) -> SomeResult:
    """Work until the end, from where the folder's last checkpoint is; `train` says the rest.

    Args:
        folder: where everything is kept.
        work: fresh, and made as the folder says.
        write_result: writes what came out, before the folder says that the work has ended.
        watch: called after each step and each epoch, once these are kept.
        checkpoint_seconds: the time between checkpoints.
        checkpoint_steps: the number of steps between them, instead.
        metrics_steps: the number of steps between records of steps.
        pause_after: the epoch after which the work is left as it stands; none unless said.
        events: makes what else writes down events, from the number of steps that are done.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(training_lock(folder.path))
        folder.refresh()
        folder.refuse_ended()
        check_complete(folder)
        position = _restore(folder, work)
        sweep(folder.path)
        stack.enter_context(threads_for(folder.info.threads))
        stop = stack.enter_context(stop_requests())
        stack.enter_context(memory_shortage())
        try:
            folder.set_status("running")
            keeper = stack.enter_context(_keeper(folder, work, position, events))
            due = _Due(checkpoint_seconds, checkpoint_steps)
            for event in work.run():
                keeper.record(event, metrics_steps)
                stopping = stop.signal
                if stopping is not None and work.result().status != "running":
                    stopping = None  # it has just come to its end
                if event.ends_epoch or due.after_step() or stopping is not None:
                    keeper.save()
                    due.restart()
                if watch is not None:
                    watch(event)
                if stopping is not None:
                    raise Stopped(folder.path, stopping, folder.go_on)
                if event.ends_epoch and event.epoch == pause_after:
                    break
        except BaseException:
            # Where even this does not fit on the disk, the run says "running", and resumes as well.
            with contextlib.suppress(FileError):
                folder.set_status("stopped")
            raise
        result = work.result()
        if result.status == "running":
            folder.set_status("stopped")
            return result
        write_result(result)
        folder.set_status("finished" if result.status == "ok" else "diverged")
        return result


class Events(Protocol[EventIn]):
    """What writes down events beside the metrics."""

    def add(self, event: EventIn, steps: int, /) -> None:
        """Write down what was reported after so many steps."""

    def close(self) -> None:
        """Write what is left."""


class _Due:
    """When the next checkpoint is."""

    def __init__(self, seconds: float, steps: int | None) -> None:
        self._seconds, self._every = seconds, steps
        self.restart()

    def restart(self) -> None:
        self._steps, self._since = 0, time.monotonic()

    def after_step(self) -> bool:
        self._steps += 1
        if self._every is not None:
            return self._steps >= self._every
        return time.monotonic() - self._since >= self._seconds


@contextlib.contextmanager
def _keeper(
    folder: WorkFolder[Any],
    work: Work[SomeEvent, Any],
    position: Position,
    make_events: Callable[[int], Events[SomeEvent] | None],
) -> Iterator[_Keeper[SomeEvent]]:
    with contextlib.ExitStack() as stack:
        events = make_events(position.steps)
        if events is not None:
            stack.enter_context(closed(events))
        writer = MetricsWriter(folder.path / METRICS, position.records)
        yield _Keeper(folder, work, position, stack.enter_context(closed(writer)), events)


@dataclass
class _Keeper(Generic[SomeEvent]):
    """Writes the files of the work, in the order that the module's head gives."""

    folder: WorkFolder[Any]
    work: Work[SomeEvent, Any]
    position: Position
    metrics: MetricsWriter
    events: Events[SomeEvent] | None
    _better: SomeEvent | None = None

    def record(self, event: SomeEvent, every: int) -> None:
        if not event.ends_epoch:
            self.position.steps += 1
            if self.position.steps % every:
                return
        self.metrics.append(event.to_record())
        if event.best:
            self._better = event
        if self.events is not None:
            self.events.add(event, self.position.steps)

    def save(self) -> None:
        path, run = self.folder.path, {"run": self.folder.info.id}
        self.metrics.sync()
        self.position.records = self.metrics.count
        if self._better is not None:
            found = self._better.to_record()
            save_checkpoint(path / NEXT_BEST, self.work.weights(), {**run, **found})
            self.position.best_epoch = self._better.epoch
        tensors, state = self.work.snapshot()
        made = made_with(self.folder.info)
        kept = {**run, "made_with": made, "position": asdict(self.position), "training": state}
        save_checkpoint(path / LAST, tensors, kept)
        if self._better is not None:
            move(path / NEXT_BEST, path / BEST)
            self._better = None


def _restore(folder: WorkFolder[Any], work: Work[Any, Any]) -> Position:
    """Bring work and files to the last checkpoint; to the start if there is none."""
    checkpoint = folder.last()
    if checkpoint is None:
        remove(folder.path / NEXT_BEST)
        return Position()
    path = folder.path / LAST
    if checkpoint.state.get("run") != folder.info.id:
        raise RunError(f"{path} belongs to another run")
    changed = difference(checkpoint.state.get("made_with"), folder.info)
    if changed is not None:
        raise RunError(
            f"{folder.path / folder.info_name} is not as it was when {path.name} was written: "
            f"{changed}; put it back as it was"
        )
    try:
        position = Position(**checkpoint.state["position"])
        work.restore(Snapshot(dict(checkpoint.tensors), checkpoint.state["training"]))
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise RunError(
            f"{path} does not fit: it was written by another version of cellwright "
            f"({type(error).__name__}: {error})"
        ) from None
    _settle_best(folder.path, position.best_epoch)
    return position


def _settle_best(path: Path, epoch: int | None) -> None:
    """Finish, or undo, an exchange of the best weights that a kill cut short."""
    if os.path.lexists(path / NEXT_BEST):
        if load_state(path / NEXT_BEST).get("epoch") == epoch:
            move(path / NEXT_BEST, path / BEST)
        else:
            remove(path / NEXT_BEST)
