"""Search by gradient: DARTS, I-DARTS and ESS in one loop.

Read `DifferentiableSearch.run` from top to bottom. As a training does, it yields after every step
and every epoch, and between two yields everything it knows can be taken as a snapshot, from which
a fresh object goes on to the same weights, variables and cell, bit for bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from cellwright.base.memory import peak_memory
from cellwright.base.seeds import seeded
from cellwright.data import Corpus
from cellwright.engine import WeightBank
from cellwright.models.language_model import CarriedState
from cellwright.models.one_layer import OneLayer
from cellwright.search.gradient.architecture import Architecture
from cellwright.search.gradient.bilevel import (
    Gradients,
    Step,
    descend,
    first_order,
    of_weights,
    second_order,
)
from cellwright.search.gradient.reading import Reading, Texts, mean_loss
from cellwright.search.gradient.records import SearchEpoch, SearchResult, SearchStep, lowered
from cellwright.search.gradient.rounds import Phase, converged, next_phase
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.gradient.stages import make_optimizers, make_stage, searched_supernet
from cellwright.search.gradient.watching import watch
from cellwright.tasks.language.segments import Segment, training_segments
from cellwright.training.results import Status
from cellwright.training.snapshots import (
    Snapshot,
    flat_state,
    optimizer_tensors,
    prefixed,
    restore_optimizer,
    state_like,
    without_prefix,
)
from cellwright.training.training import make_optimizer

WEIGHTS, ARCHITECTURE = "weights", "architecture"


class DifferentiableSearch:
    """One search, from its first weights to its cell.

    Args:
        corpus: training and validation text.
        settings: method, space, model and schedule.
        seed: decides the first weights and variables, the segments and the dropout masks.
        backend: of the engine.
    """

    def __init__(
        self, corpus: Corpus, settings: DifferentiableSettings, seed: int, backend: str = "auto"
    ) -> None:
        self.settings, self.seed = settings, seed
        self.supernet = searched_supernet(settings)
        self._texts = Texts.of(corpus, settings)
        self._segments = self._texts.architecture_segments(settings)
        self._bank = WeightBank(settings.model.init_range)
        with seeded(seed, "weights"):
            self.model = OneLayer(
                settings.model, self.supernet.cell, len(corpus.vocabulary), backend, self._bank
            )
        with seeded(seed, "architecture"):
            start = settings.architecture_start
            self.variables = Architecture(self.supernet, settings.softmax, start=start)
        self._weights = dict(self.model.named_parameters())
        self._optimizers = {
            WEIGHTS: make_optimizer(self.model, settings),
            **make_optimizers(self.variables, self.supernet, settings),
        }
        self._status: Status = "running"
        self._records: list[SearchEpoch] = []
        self._position = 0  # segments that the architecture has learned in all
        self._seconds = 0.0
        first = next_phase(settings, self.supernet.groups, [])
        assert first is not None
        self._begin_epoch(first)

    def _begin_epoch(self, phase: Phase) -> None:
        self._stage = make_stage(
            phase, self.supernet, self.model, self._bank, self.variables, self.settings,
            self._records,
        )  # fmt: skip
        self._step = 0  # segments of the epoch that the weights have learned
        self._totals = {WEIGHTS: (0.0, 0), ARCHITECTURE: (0.0, 0)}  # losses and words
        zero = self._stage.model.zero_state(self.settings.batch)
        self._carried: dict[str, CarriedState] = {WEIGHTS: zero, ARCHITECTURE: zero}

    # -- the loop --------------------------------------------------------------------------

    def run(self) -> Iterator[SearchStep | SearchEpoch]:
        """Search to the end, or until a loss diverges."""
        while self._status == "running":
            epoch = len(self._records)
            segments = training_segments(len(self._texts.weights), self.settings, self.seed, epoch)
            while self._step < len(segments):
                with self._clock():
                    event = self._learn(epoch, segments)
                yield event
                if self._status != "running":
                    return
            with self._clock():
                record = self._close_epoch(epoch)
            yield record

    def _learn(self, epoch: int, segments: list[Segment]) -> SearchStep:
        """A step of the architecture, if it learns, then one of the weights."""
        started = time.perf_counter()
        segment, phase = segments[self._step], self._stage.phase
        rate = self.settings.rate(epoch) * segment.length / self.settings.bptt
        train = self._reading(WEIGHTS, segment, epoch)
        nats = self._learn_architecture(train, rate, epoch) if phase.learns else None
        weights = list(self._weights.values())
        gradients = of_weights(train, weights, list(self.variables.parameters()))
        if self._is_healthy(train.nats, gradients):
            clip = self.settings.clip
            descend(self._optimizers[WEIGHTS], weights, gradients, rate=rate, clip=clip)
        tokens = self._take(WEIGHTS, train)
        self._step += 1
        taken = time.perf_counter() - started
        return SearchStep(
            epoch + 1, phase.round, phase.group, self._step, len(segments), tokens, train.nats,
            nats, rate, tokens / taken, self._seconds + taken,
        )  # fmt: skip

    def _learn_architecture(self, train: Reading, rate: float, epoch: int) -> float:
        """One step of the variables of the phase's group; the loss that it lowers.

        `train` and `rate` are those of the weights' step that follows, which a search of second
        order looks ahead to.
        """
        segment = self._segments[self._position % len(self._segments)]
        if segment.start == 0:  # the text from its beginning
            self._carried[ARCHITECTURE] = self._stage.model.zero_state(self.settings.batch)
        valid = self._reading(ARCHITECTURE, segment, epoch)
        group, weights = self._stage.phase.group, list(self._weights.values())
        variables = list(self.variables.group(group).parameters())
        if self.settings.second_order:
            ahead = Step(rate, self.settings.weight_decay, self.settings.clip)
            gradients = second_order(train, valid, weights, variables, ahead)
        else:
            gradients = first_order(valid, weights, variables)
        if self._is_healthy(valid.nats, gradients):
            rate = self.settings.architecture_rate(group)
            descend(self._optimizers[group], variables, gradients, rate=rate)
        self._take(ARCHITECTURE, valid)
        self._position += 1
        return valid.nats

    def _reading(self, what: str, segment: Segment, epoch: int) -> Reading:
        """A segment as the weights or the architecture learn it.

        As in DARTS' code, the architecture's loss has no penalty on activations.
        """
        text = self._texts.weights if what == WEIGHTS else self._texts.architecture
        masks = ("dropout", what, epoch, self._step)
        carried = self._carried[what]
        return Reading(self._stage, text, segment, carried, self.seed, masks, what == WEIGHTS)

    def _take(self, what: str, reading: Reading) -> int:
        """Go on behind what was read; its words."""
        words = reading.segment.length * self.settings.batch
        losses, before = self._totals[what]
        self._totals[what] = (losses + reading.nats * words, before + words)
        self._carried[what] = reading.after
        return words

    def _is_healthy(self, nats: float, gradients: Gradients) -> bool:
        """Whether to step; from the first time on that there is nothing to go by, never again."""
        if self._status == "running":
            if math.isnan(nats) or math.isnan(gradients.norm):
                self._status = "loss is nan"
            elif nats > self.settings.explode_above or math.isinf(gradients.norm):
                self._status = "exploded"
        return self._status == "running"

    def _close_epoch(self, epoch: int) -> SearchEpoch:
        """Measure, keep what the search has come to, and decide how to go on."""
        started = time.perf_counter()
        settings, stage = self.settings, self._stage
        with torch.no_grad():
            theta = self.variables.theta()
            valid = mean_loss(stage.model, self._texts.valid, settings.bptt, stage.theta())
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
            seconds=self._seconds + time.perf_counter() - started,
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
            parameters=sum(weight.numel() for weight in self._weights.values()),
            peak_memory=peak_memory(),
        )

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights of the supernet's model."""
        return {name: weight.detach().clone() for name, weight in self._weights.items()}

    # -- stopping and going on -------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Everything that `restore` needs."""
        tensors = prefixed("weights", self._weights)
        tensors |= prefixed("variables", self.variables.state_dict())
        for name, optimizer in self._optimizers.items():
            tensors |= prefixed(f"optimizer.{name}", optimizer_tensors(optimizer))
        for name, carried in self._carried.items():
            parts = {str(i): tensor for i, tensor in enumerate(flat_state(carried))}
            tensors |= prefixed(f"carried.{name}", parts)
        state = {
            "status": self._status,
            "records": [record.to_json() for record in self._records],
            "step": self._step,
            "position": self._position,
            "totals": {name: list(totals) for name, totals in self._totals.items()},
            "seconds": self._seconds,
        }
        return Snapshot(tensors, state)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on where the snapshot was taken; data, settings and seed must be the same."""
        tensors, state = snapshot
        with torch.no_grad():
            for name, saved in without_prefix("weights", tensors).items():
                self._weights[name].copy_(saved)
        self.variables.load_state_dict(without_prefix("variables", tensors))
        for name, optimizer in self._optimizers.items():
            restore_optimizer(optimizer, without_prefix(f"optimizer.{name}", tensors))
        self._status = state["status"]
        self._records = [SearchEpoch.from_json(record) for record in state["records"]]
        following = next_phase(self.settings, self.supernet.groups, self._records)
        self._begin_epoch(following or Phase(self._records[-1].round, self._records[-1].group))
        pattern = self._stage.model.zero_state(self.settings.batch)
        for name in self._carried:
            parts = without_prefix(f"carried.{name}", tensors)
            self._carried[name] = state_like(pattern, (parts[str(i)] for i in range(len(parts))))
        self._step, self._position = state["step"], state["position"]
        self._totals = {name: (losses, words) for name, (losses, words) in state["totals"].items()}
        self._seconds = state["seconds"]

    # -- small parts -----------------------------------------------------------------------

    @contextmanager
    def _clock(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - started

    def _mean(self, what: str) -> float:
        losses, words = self._totals[what]
        return losses / words


def _numbers(theta: dict[str, Tensor]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(weights.detach().tolist()) for name, weights in theta.items()}
