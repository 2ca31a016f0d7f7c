"""The one loop that a training and every one-shot search stand on.

It yields after every step and every epoch. Between two yields everything it knows can be taken as a
snapshot, and a fresh object that restores it goes on to the same weights, bit for bit. Nothing
random is carried along: what is drawn follows from the seed, the epoch and the step.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Generic, TypeVar, get_args

from torch import Tensor

from cellwright.training.results import Status
from cellwright.training.snapshots import Parts, Snapshot, check_alike

StepEvent = TypeVar("StepEvent")
EpochEvent = TypeVar("EpochEvent")
Made = TypeVar("Made")


class Loop(ABC, Generic[StepEvent, EpochEvent]):
    """Epochs of steps, until the subclass says that it is over, or that it diverged.

    A subclass sets `_status` to something else than "running" when it is over, and names in
    `_not_from_the_start` the numbers of its state that are None at first.

    Args:
        seed: decides everything that is drawn.
        explode_above: the mean loss from which on a batch counts as exploded.
    """

    _not_from_the_start: ClassVar[tuple[str, ...]] = ()

    def __init__(self, seed: int, explode_above: float) -> None:
        self.seed = seed
        self._explode_above = explode_above
        self._status: Status = "running"
        self._step = 0  # steps of the current epoch that are taken
        self._seconds = 0.0
        self._started = 0.0

    # -- the loop --------------------------------------------------------------------------

    def run(self) -> Iterator[StepEvent | EpochEvent]:
        """Go on to the end."""
        while self._status == "running" and not self._has_learned():
            steps = self._prepare_epoch()
            while self._step < steps:
                event = self._timed(self._take_step)
                yield event
                if self._status != "running":
                    return
            yield self._timed(self._close_epoch)
        while self._status == "running":
            yield self._timed(self._conclude)

    @abstractmethod
    def _prepare_epoch(self) -> int:
        """Lay out the steps of the epoch that begins, or that is gone on with; how many they are.

        It follows from seed and epoch alone.
        """

    @abstractmethod
    def _take_step(self) -> StepEvent:
        """One step; `_step` counts it."""

    @abstractmethod
    def _close_epoch(self) -> EpochEvent:
        """Measure, keep what came out, and decide how to go on."""

    def _has_learned(self) -> bool:
        """Whether the epochs are over, and only the conclusion is left."""
        return False

    def _conclude(self) -> StepEvent:
        """One step of what comes after the last epoch; the last one sets the status."""
        raise NotImplementedError

    # -- judging and timing ------------------------------------------------------------------

    def _verdict(self, loss: float, norm: float) -> Status:
        """What a batch's loss and the norm of its gradient say: go on, or why not."""
        if math.isnan(loss) or math.isnan(norm):
            return "loss is nan"
        if loss > self._explode_above or math.isinf(norm):
            return "exploded"
        return "running"

    def _timed(self, work: Callable[[], Made]) -> Made:
        """Work whose time counts."""
        self._started = time.perf_counter()
        made = work()
        self._seconds += time.perf_counter() - self._started
        return made

    @property
    def _lately(self) -> float:
        """Seconds since the step, or the closing of the epoch, began."""
        return time.perf_counter() - self._started

    # -- stopping and going on ---------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Everything that `restore` needs."""
        tensors = {
            f"{part}.{name}": tensor.detach().clone()
            for part, named in self._tensors().items()
            for name, tensor in named.items()
        }
        return Snapshot(tensors, self._whole_state())

    def restore(self, snapshot: Snapshot) -> None:
        """Go on where a snapshot was taken; data, settings and seed must be the same.

        Raises:
            LookupError, TypeError, ValueError, RuntimeError: it does not fit.
        """
        tensors, state = snapshot
        pattern = {**self._whole_state(), **dict.fromkeys(self._not_from_the_start)}
        check_alike(pattern, state)
        if state["status"] not in get_args(Status) or state["step"] < 0:
            raise ValueError(f"status {state['status']!r:.40}, step {state['step']}")
        self._status = state["status"]
        self._restore(Parts(tensors), state)
        self._step, self._seconds = state["step"], state["seconds"]

    def _whole_state(self) -> dict[str, Any]:
        own = {"status": self._status, "step": self._step, "seconds": self._seconds}
        return {**self._state(), **own}

    @abstractmethod
    def _tensors(self) -> Mapping[str, Mapping[str, Tensor]]:
        """All tensors that are learned or carried, by part and name."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """All other things that change, as JSON values."""

    @abstractmethod
    def _restore(self, tensors: Parts, state: Mapping[str, Any]) -> None:
        """The inverse of both."""
