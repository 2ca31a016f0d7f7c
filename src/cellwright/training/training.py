"""Training: one model around a cell, for every task and all schedules.

Read `Loop.run`, then `Training` from top to bottom.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from cellwright.base.memory import peak_memory
from cellwright.base.seeds import seeded
from cellwright.cell import Cell
from cellwright.models.cell_model import Carried, detached
from cellwright.tasks.task import Score, Task
from cellwright.training.averaging import Average, should_average
from cellwright.training.gradients import gradients_of, learned
from cellwright.training.loop import Loop
from cellwright.training.optimizers import descend, make_optimizer
from cellwright.training.results import EpochDone, EpochRecord, Result, StepDone, best_of
from cellwright.training.settings import TrainingSettings
from cellwright.training.size import check_size
from cellwright.training.snapshots import (
    Parts,
    carried_tensors,
    optimizer_tensors,
    restore_optimizer,
    restored_carried,
)


class Training(Loop[StepDone, EpochDone]):
    """One model around a cell, from its first weights to its last epoch.

    Args:
        cell: the recurrent cell.
        task: what is learned.
        model: which of the task's models to put around the cell.
        settings: the schedule.
        seed: decides the first weights, the batches and the dropout masks.
        backend: of the engine.
    """

    _not_from_the_start = ("averaged_steps",)

    def __init__(
        self,
        cell: Cell,
        task: Task[Any],
        model: Any,
        settings: TrainingSettings,
        seed: int,
        backend: str = "auto",
    ) -> None:
        super().__init__(seed, settings.explode_above)
        self.task, self.settings = task, settings
        self._valid = task.ordered("valid", settings.evaluation_batch)
        self._test = task.ordered("test", settings.evaluation_batch)
        self._batches = task.batches("train", settings.batch, seed, 0)
        check_size(
            lambda: task.model(cell, model, backend=backend), self._batches[0], settings, "training"
        )
        with seeded(seed, "weights"):
            self.model = task.model(cell, model, backend=backend)
        self._weights = learned(self.model)
        self._optimizer = make_optimizer(self._weights, settings)
        self._average: Average | None = None
        self._curve: list[EpochRecord] = []
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self._step = 0
        self._carried: Carried = self.model.begin(self._batches[0])
        self._losses, self._items = 0.0, 0  # of the epoch so far

    # -- the loop --------------------------------------------------------------------------

    def _prepare_epoch(self) -> int:
        epoch, size = len(self._curve), self.settings.batch
        self._batches = self.task.batches("train", size, self.seed, epoch)
        if not self._step:
            self._carried = self.model.begin(self._batches[0])
        return len(self._batches)

    def _take_step(self) -> StepDone:
        """One step: forward, backward, clip, update."""
        epoch, settings = len(self._curve), self.settings
        batch = self._batches[self._step]
        rate = batch.rate(self._rate())
        if not self.model.training:  # to tell every part of it takes as long as a small cell
            self.model.train()
        with seeded(self.seed, "dropout", epoch, self._step):
            loss = self.model.loss(batch, self._carried)
        mean = float(loss.mean.detach())
        gradients = gradients_of(loss.mean + loss.penalty, self._weights)
        self._status = self._verdict(mean, gradients.norm)
        if self._status == "running":
            descend(self._optimizer, self._weights, gradients, rate=rate, clip=settings.clip)
            if self._average is not None:
                self._average.update(self.model)
        self._carried = detached(loss.carried)
        self._step += 1
        self._losses += mean * batch.size
        self._items += batch.size
        taken = self._lately
        return StepDone(
            epoch + 1, self._step, len(self._batches), batch.size, mean, rate, batch.size / taken,
            self._seconds + taken,
        )  # fmt: skip

    def _close_epoch(self) -> EpochDone:
        """Measure, keep the point of the curve, and decide how to go on."""
        epoch, settings = len(self._curve), self.settings
        with self._evaluation_weights():
            valid = self.task.measure(self.model, self._valid)
            test = self.task.measure(self.model, self._test)
        averaged = self._average is not None
        earlier = [record.valid for record in self._curve]
        record = EpochRecord(
            epoch + 1, self._losses / self._items, valid.loss, test.loss, self._rate(),
            self._seconds + self._lately, peak_memory(), averaged, _figures(valid, test),
        )  # fmt: skip
        self._curve.append(record)
        if not averaged and should_average(valid.loss, earlier, settings.average_after):
            self._average = Average(self.model)
        self._begin_epoch()
        best = best_of(tuple(self._curve))
        since = len(self._curve) - (best.epoch if best else 0)
        tired = settings.patience is not None and since >= settings.patience
        if not math.isfinite(valid.loss):
            self._status = "loss is nan"
        elif len(self._curve) >= settings.epochs or tired or self._rate() < settings.rate_least:
            self._status = "ok"
        return EpochDone(record, best is record)

    def _rate(self) -> float:
        """The learning rate of the epoch that is under way, for a full batch."""
        losses = [record.valid for record in self._curve]
        return self.settings.rate(len(losses)) * self.settings.annealing(losses)

    # -- what came out ---------------------------------------------------------------------

    def result(self) -> Result:
        """The figures so far."""
        curve = tuple(self._curve)
        best = best_of(curve)
        return Result(
            status=self._status,
            curve=curve,
            best_epoch=best.epoch if best else None,
            valid=best.valid if best else math.inf,
            test=best.test if best else math.inf,
            seconds=self._seconds,
            parameters=sum(weight.numel() for weight in self._weights),
            peak_memory=peak_memory(),
        )

    def weights(self) -> dict[str, Tensor]:
        """A copy of the weights that an evaluation uses: the averaged ones, once there are."""
        with self._evaluation_weights():
            return {name: t.detach().clone() for name, t in self.model.state_dict().items()}

    @contextmanager
    def _evaluation_weights(self) -> Iterator[None]:
        if self._average is None:
            yield
            return
        self._average.exchange(self.model)
        try:
            yield
        finally:
            self._average.exchange(self.model)

    # -- stopping and going on -------------------------------------------------------------

    def _tensors(self) -> Mapping[str, Mapping[str, Tensor]]:
        return {
            "model": self.model.state_dict(),
            "optimizer": optimizer_tensors(self._optimizer),
            "carried": carried_tensors(self._carried),
            "average": {} if self._average is None else self._average.tensors,
        }

    def _state(self) -> dict[str, Any]:
        return {
            "curve": [record.to_json() for record in self._curve],
            "losses": self._losses,
            "words": self._items,  # under the name that the first checkpoints had for them
            "averaged_steps": None if self._average is None else self._average.steps,
        }

    def _restore(self, tensors: Parts, state: Mapping[str, Any]) -> None:
        self.model.load_state_dict(tensors["model"])
        restore_optimizer(self._optimizer, tensors["optimizer"])
        self._carried = restored_carried(self._carried, tensors["carried"])
        self._average = None
        if state["averaged_steps"] is not None:
            self._average = Average(self.model)
            self._average.restore(tensors["average"], state["averaged_steps"])
        self._curve = [EpochRecord(**record) for record in state["curve"]]
        self._losses, self._items = state["losses"], state["words"]


def _figures(valid: Score, test: Score) -> dict[str, dict[str, float]]:
    """What the task measured beside the losses, if anything."""
    found = {"valid": dict(valid.figures), "test": dict(test.figures)}
    return {part: figures for part, figures in found.items() if figures}
