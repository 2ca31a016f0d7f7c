"""The runner: it trains in a folder, and after any kill a resume goes on as if nothing had been.

What makes that so is the order of writing. `last.safetensors` alone decides where a run stands: it
says how many records of `metrics.jsonl` and which epoch's `best.safetensors` belong to it.

1. Records are appended, and on the disk before a checkpoint counts them.
2. Better weights are written beside the best ones, as `best.next.safetensors`.
3. `last.safetensors` is replaced. From here on the epoch has happened.
4. `best.next.safetensors` takes the place of `best.safetensors`.

A run that was killed before 3 drops the records and weights of what did not happen, and does it
again; one that was killed after 3 makes up for 4.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from cellwright.run.checkpoints import load_state, save_checkpoint
from cellwright.run.errors import RunError, Stopped
from cellwright.run.files import closed, move, remove, sweep
from cellwright.run.folder import BEST, LAST, METRICS, NEXT_BEST, RunFolder
from cellwright.run.locks import training_lock
from cellwright.run.metrics import MetricsWriter
from cellwright.run.signals import stop_requests
from cellwright.run.tensorboard import EventWriter
from cellwright.tasks import EpochDone, Result, Snapshot, StepDone

Event = StepDone | EpochDone


class Trainable(Protocol):
    """What can be run: `cellwright.tasks.Training`, and whatever trains like it."""

    def run(self) -> Iterator[Event]:
        """Train to the end; between two events the object stands still."""

    def result(self) -> Result:
        """The figures so far."""

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
    training: Trainable,
    *,
    watch: Callable[[Event], None] | None = None,
    checkpoint_seconds: float = 60.0,
    checkpoint_steps: int | None = None,
    metrics_steps: int = 100,
    tensorboard: bool = False,
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

    Raises:
        Stopped: Ctrl-C was pressed, or the process was asked to end; the folder has everything.
        RunError: the run has ended before, another process trains in the folder, a file in it is
            damaged or cannot be written. A checkpoint that was there is intact.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(training_lock(folder.path))
        folder.refresh()
        refuse_ended(folder)
        sweep(folder.path)
        position = _restore(folder, training)
        stack.enter_context(_threads(folder.info.threads))
        stop = stack.enter_context(stop_requests())
        try:
            folder.set_status("running")
            keeper = stack.enter_context(_keeper(folder, training, position, tensorboard))
            due = _Due(checkpoint_seconds, checkpoint_steps)
            for event in training.run():
                keeper.record(event, metrics_steps)
                stopping = stop.signal
                if stopping is not None and training.result().status != "running":
                    stopping = None  # it has just come to its end
                if isinstance(event, EpochDone) or due.after_step() or stopping is not None:
                    keeper.save()
                    due.restart()
                if watch is not None:
                    watch(event)
                if stopping is not None:
                    raise Stopped(folder.path, stopping)
        except BaseException:
            # Where even this does not fit on the disk, the run says "running", and resumes as well.
            with contextlib.suppress(RunError):
                folder.set_status("stopped")
            raise
        result = training.result()
        folder.write_result(result)
        folder.set_status("finished" if result.status == "ok" else "diverged")
        return result


def refuse_ended(folder: RunFolder) -> None:
    """Say so if there is nothing to go on with."""
    if folder.info.status in ("finished", "diverged"):
        raise RunError(
            f"{folder.path} has {folder.info.status}, and there is nothing to resume; "
            f"'cellwright runs show {folder.path}' shows what came out"
        )


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
    folder: RunFolder, training: Trainable, position: Position, tensorboard: bool
) -> Iterator[_Keeper]:
    with contextlib.ExitStack() as stack:
        events = None
        if tensorboard:
            events = stack.enter_context(closed(EventWriter(folder.path, position.steps)))
        writer = MetricsWriter(folder.path / METRICS, position.records)
        yield _Keeper(folder, training, position, stack.enter_context(closed(writer)), events)


@dataclass
class _Keeper:
    """Writes a run's files, in the order that the module's head gives."""

    folder: RunFolder
    training: Trainable
    position: Position
    metrics: MetricsWriter
    events: EventWriter | None
    _better: EpochDone | None = None

    def record(self, event: Event, every: int) -> None:
        if isinstance(event, StepDone):
            self.position.steps += 1
            if self.position.steps % every:
                return
            self.metrics.append({"kind": "step", **asdict(event)})
        else:
            self.metrics.append({"kind": "epoch", **asdict(event.record), "best": event.best})
            if event.best:
                self._better = event
        if self.events is not None:
            self.events.add(event, self.position.steps)

    def save(self) -> None:
        path, run = self.folder.path, {"run": self.folder.info.id}
        self.metrics.sync()
        self.position.records = self.metrics.count
        if self._better is not None:
            found = asdict(self._better.record)
            save_checkpoint(path / NEXT_BEST, self.training.weights(), {**run, **found})
            self.position.best_epoch = self._better.record.epoch
        tensors, state = self.training.snapshot()
        kept = {**run, "position": asdict(self.position), "training": state}
        save_checkpoint(path / LAST, tensors, kept)
        if self._better is not None:
            move(path / NEXT_BEST, path / BEST)
            self._better = None


def _restore(folder: RunFolder, training: Trainable) -> Position:
    """Bring training and files to the last checkpoint; to the start if there is none."""
    checkpoint = folder.last()
    if checkpoint is None:
        for name in (BEST, NEXT_BEST):
            remove(folder.path / name)
        return Position()
    path = folder.path / LAST
    if checkpoint.state.get("run") != folder.info.id:
        raise RunError(f"{path} belongs to another run")
    try:
        position = Position(**checkpoint.state["position"])
        training.restore(Snapshot(dict(checkpoint.tensors), checkpoint.state["training"]))
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
        raise RunError(
            f"{path} does not fit: it was written by another version of cellwright "
            f"({type(error).__name__}: {error})"
        ) from None
    _settle_best(folder.path, position.best_epoch)
    return position


def _settle_best(path: Path, epoch: int | None) -> None:
    """Finish, or undo, an exchange of the best weights that a kill cut short."""
    if (path / NEXT_BEST).exists():
        if load_state(path / NEXT_BEST).get("epoch") == epoch:
            move(path / NEXT_BEST, path / BEST)
        else:
            remove(path / NEXT_BEST)


@contextlib.contextmanager
def _threads(number: int) -> Iterator[None]:
    """Sums may be taken in another order with another number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
