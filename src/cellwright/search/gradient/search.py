"""Search by gradient: DARTS, I-DARTS and ESS.

Read `Loop.run`, then `DifferentiableSearch` from top to bottom.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from cellwright.base.memory import peak_memory
from cellwright.base.seeds import seeded
from cellwright.engine import WeightBank
from cellwright.models.cell_model import AnyBatch, Carried
from cellwright.search.gradient.architecture import Architecture
from cellwright.search.gradient.bilevel import Step, first_order, of_weights, second_order
from cellwright.search.gradient.paths import choice_model, sampled
from cellwright.search.gradient.reading import Reading
from cellwright.search.gradient.records import SearchEpoch, SearchResult, SearchStep, lowered
from cellwright.search.gradient.rounds import Phase, converged, next_phase
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.gradient.stages import make_optimizers, make_stage, searched_supernet
from cellwright.search.gradient.watching import watch
from cellwright.tasks.task import Task, whole_batches
from cellwright.training.gradients import Gradients, learned
from cellwright.training.loop import Loop
from cellwright.training.optimizers import descend, make_optimizer
from cellwright.training.snapshots import (
    Parts,
    carried_tensors,
    optimizer_tensors,
    restore_optimizer,
    restored_carried,
)

WEIGHTS, ARCHITECTURE = "weights", "architecture"


class DifferentiableSearch(Loop[SearchStep, SearchEpoch]):
    """One search, from its first weights to its cell.

    DARTS' code for recurrent cells gives all of the training data to the weights and the validation
    data to the architecture; its code for images, one half of the training data to each. I-DARTS
    copies DARTS' setup (section 3.1); ESS does not say.

    Args:
        task: training and validation data, and the model around the supernet.
        model: which of the task's models.
        settings: method, space and schedule.
        seed: decides the first weights and variables, the batches and the dropout masks.
        backend: of the engine.
    """

    def __init__(
        self,
        task: Task[Any],
        model: Any,
        settings: DifferentiableSettings,
        seed: int,
        backend: str = "auto",
    ) -> None:
        super().__init__(seed, settings.explode_above)
        self.task, self.settings = task, settings
        self.supernet = searched_supernet(settings)
        self._first = task
        self._second = whole_batches(task.ordered("valid", settings.batch))
        if settings.architecture_text == "halves":
            self._first, second = task.halves()
            self._second = whole_batches(second.ordered("train", settings.batch))
        self._valid = task.ordered("valid", settings.evaluation_batch)
        self._bank = WeightBank()
        with seeded(seed, "weights"):
            self.model = task.model(self.supernet.cell, model, bank=self._bank, backend=backend)
        with seeded(seed, "architecture"):
            start = settings.architecture_start
            self.variables = Architecture(self.supernet, settings.softmax, start=start)
        self._weights = learned(self.model)
        self._optimizers = {
            WEIGHTS: make_optimizer(self._weights, settings),
            **make_optimizers(self.variables, self.supernet, settings),
        }
        self._records: list[SearchEpoch] = []
        self._position = 0  # batches that the architecture has learned in all
        self._batches = self._first.batches("train", settings.batch, seed, 0)
        first = next_phase(settings, self.supernet.groups, [])
        assert first is not None
        self._begin_epoch(first)

    def _begin_epoch(self, phase: Phase) -> None:
        self._stage = make_stage(
            phase, self.supernet, self.model, self._bank, self.variables, self.settings,
            self._records,
        )  # fmt: skip
        self._step = 0
        self._totals = {WEIGHTS: (0.0, 0), ARCHITECTURE: (0.0, 0)}  # losses and items
        model = self._stage.model
        self._carried: dict[str, Carried] = {
            WEIGHTS: model.begin(self._batches[0]),
            ARCHITECTURE: model.begin(self._second[0]),
        }

    # -- the loop --------------------------------------------------------------------------

    def _prepare_epoch(self) -> int:
        epoch, size = len(self._records), self.settings.batch
        self._batches = self._first.batches("train", size, self.seed, epoch)
        if not self._step:
            self._carried[WEIGHTS] = self._stage.model.begin(self._batches[0])
        return len(self._batches)

    def _take_step(self) -> SearchStep:
        """A step of the architecture, if it learns, then one of the weights."""
        epoch, phase, settings = len(self._records), self._stage.phase, self.settings
        batch = self._batches[self._step]
        rate = batch.rate(settings.rate(epoch))
        train = self._reading(WEIGHTS, batch, epoch)
        architecture = self._learn_architecture(train, rate, epoch) if phase.learns else None
        gradients = of_weights(train, self._weights, list(self.variables.parameters()))
        if self._is_healthy(train.loss, gradients):
            optimizer = self._optimizers[WEIGHTS]
            descend(optimizer, self._weights, gradients, rate=rate, clip=settings.clip)
        self._take(WEIGHTS, train)
        self._step += 1
        taken = self._lately
        return SearchStep(
            epoch + 1, self._step, len(self._batches), batch.size, train.loss, rate,
            batch.size / taken, self._seconds + taken, phase.round, phase.group, architecture,
        )  # fmt: skip

    def _learn_architecture(self, train: Reading, rate: float, epoch: int) -> float:
        """One step of the variables of the phase's group; the loss that it lowers.

        `train` and `rate` are those of the weights' step that follows, which a search of second
        order looks ahead to: in DARTS' code without the penalty on activations.
        """
        place = self._position % len(self._second)
        if place == 0:  # the data from its beginning
            self._carried[ARCHITECTURE] = self._stage.model.begin(self._second[0])
        valid = self._reading(ARCHITECTURE, self._second[place], epoch)
        group, weights = self._stage.phase.group, self._weights
        variables = list(self.variables.group(group).parameters())
        if self.settings.second_order:
            ahead = Step(rate, self.settings.weight_decay, self.settings.clip)
            plain = replace(train, penalty=False)
            gradients = second_order(plain, valid, weights, variables, ahead)
        else:
            gradients = first_order(valid, weights, variables)
        if self._is_healthy(valid.loss, gradients):
            rate = self.settings.architecture_rate(group)
            descend(self._optimizers[group], variables, gradients, rate=rate)
        self._take(ARCHITECTURE, valid)
        self._position += 1
        return valid.loss

    def _reading(self, what: str, batch: AnyBatch, epoch: int) -> Reading:
        """A batch as the weights or the architecture learn it.

        As in DARTS' code, the architecture's loss has no penalty on activations.
        """
        which = (what, epoch, self._step)
        carried, settings, stage = self._carried[what], self.settings, self._stage
        if settings.sampling != "full":
            uniform = settings.sampling == "uniform" and what == WEIGHTS
            stage = sampled(stage, self._bank, settings, self.seed, *which, uniform=uniform)
        return Reading(stage, batch, carried, self.seed, ("dropout", *which), what == WEIGHTS)

    def _take(self, what: str, reading: Reading) -> None:
        """Go on behind what was read."""
        losses, before = self._totals[what]
        size = reading.batch.size
        self._totals[what] = (losses + reading.loss * size, before + size)
        self._carried[what] = reading.after

    def _is_healthy(self, loss: float, gradients: Gradients) -> bool:
        """Whether to step; from the first time on that there is nothing to go by, never again."""
        if self._status == "running":
            self._status = self._verdict(loss, gradients.norm)
        return self._status == "running"

    def _close_epoch(self) -> SearchEpoch:
        """Measure, keep what the search has come to, and decide how to go on."""
        epoch, settings, stage = len(self._records), self.settings, self._stage
        with torch.no_grad():
            theta = self.variables.theta()
            if settings.sampling == "full":
                valid = self.task.measure(stage.model, self._valid, theta=stage.theta()).loss
            else:  # no step has run the mixture
                chosen = choice_model(stage, self._bank, settings)
                valid = self.task.measure(chosen, self._valid).loss
        record = SearchEpoch(
            epoch=epoch + 1,
            round=stage.phase.round,
            group=stage.phase.group,
            train=self._mean(WEIGHTS),
            architecture=self._mean(ARCHITECTURE) if stage.phase.learns else None,
            valid=valid,
            watched=watch(self.supernet, theta, settings.softmax),
            theta=_numbers(theta),
            listing=stage.derived(settings).listing,
            learning_rate=settings.rate(epoch),
            architecture_rate=stage.phase.learns * settings.architecture_rate(stage.phase.group),
            seconds=self._seconds + self._lately,
            peak_memory=peak_memory(),
        )
        self._records.append(record)
        following = next_phase(settings, self.supernet.groups, self._records)
        if not math.isfinite(valid):
            self._status = "loss is nan"
        elif following is None:
            self._status = "ok"
        else:
            self._begin_epoch(following)
        return record

    # -- what came out ---------------------------------------------------------------------

    def result(self) -> SearchResult:
        """What the search has found so far."""
        found = self._stage.derived(self.settings)
        rest = converged(self.settings, self.supernet.groups, self._records)
        return SearchResult(
            status=self._status,
            converged=self._status == "ok" and rest,
            cell=lowered(found.listing),
            shared=found.cell,
            listing=found.listing,
            theta=_numbers(self.variables.theta()),
            records=tuple(self._records),
            seconds=self._seconds,
            parameters=sum(weight.numel() for weight in self._weights),
            peak_memory=peak_memory(),
        )

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights of the supernet's model."""
        return {name: t.detach().clone() for name, t in self.model.state_dict().items()}

    # -- stopping and going on -------------------------------------------------------------

    def _tensors(self) -> Mapping[str, Mapping[str, Tensor]]:
        optimizers = {
            f"optimizer.{name}": optimizer_tensors(optimizer)
            for name, optimizer in self._optimizers.items()
        }
        carried = {f"carried.{name}": carried_tensors(c) for name, c in self._carried.items()}
        learned = {"weights": self.model.state_dict(), "variables": self.variables.state_dict()}
        return {**learned, **optimizers, **carried}

    def _state(self) -> dict[str, Any]:
        return {
            "records": [record.to_json() for record in self._records],
            "position": self._position,
            "totals": {name: list(totals) for name, totals in self._totals.items()},
        }

    def _restore(self, tensors: Parts, state: Mapping[str, Any]) -> None:
        self.model.load_state_dict(tensors["weights"])
        self.variables.load_state_dict(tensors["variables"])
        for name, optimizer in self._optimizers.items():
            restore_optimizer(optimizer, tensors[f"optimizer.{name}"])
        self._records = [SearchEpoch.from_json(record) for record in state["records"]]
        following = next_phase(self.settings, self.supernet.groups, self._records)
        self._begin_epoch(following or Phase(self._records[-1].round, self._records[-1].group))
        for name, pattern in self._carried.items():
            self._carried[name] = restored_carried(pattern, tensors[f"carried.{name}"])
        self._position = state["position"]
        self._totals = {name: (losses, items) for name, (losses, items) in state["totals"].items()}

    # -- small parts -----------------------------------------------------------------------

    def _mean(self, what: str) -> float:
        losses, items = self._totals[what]
        return losses / items


def _numbers(theta: dict[str, Tensor]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(weights.detach().tolist()) for name, weights in theta.items()}
