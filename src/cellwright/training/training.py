"""Language modelling: one training loop for every cell, both models and all schedules.

Read `Training.run` from top to bottom. It yields after every step and every epoch; between two
yields everything it knows can be taken as a snapshot, and a fresh `Training` that restores it
goes on to the same weights, bit for bit. Nothing random is carried along: lengths of segments
and dropout masks follow from the seed, the epoch and the step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import numpy as np
import torch
from torch import Tensor

from cellwright.base.memory import peak_memory
from cellwright.base.seeds import seeded
from cellwright.cell import Cell
from cellwright.data import Corpus, batchify
from cellwright.models import ModelSettings, build_language_model
from cellwright.models.language_model import LanguageModel, detach_state
from cellwright.tasks.language.measuring import Tokens, text_losses, words_of
from cellwright.tasks.language.segments import Segment, training_segments
from cellwright.training.averaging import Average, should_average
from cellwright.training.clipping import clip_gradients
from cellwright.training.results import EpochDone, EpochRecord, Result, Status, StepDone, best_of
from cellwright.training.settings import TrainingSettings
from cellwright.training.snapshots import (
    Snapshot,
    flat_state,
    optimizer_tensors,
    prefixed,
    restore_optimizer,
    state_like,
    without_prefix,
)


class Training:
    """One language model around a cell, from its first weights to its last epoch.

    Args:
        cell: the recurrent cell.
        corpus: training, validation and test text.
        model: which of the papers' models to put around the cell.
        settings: the schedule.
        seed: decides the first weights, the segments and the dropout masks.
        backend: of the engine.
    """

    def __init__(
        self,
        cell: Cell,
        corpus: Corpus,
        model: ModelSettings,
        settings: TrainingSettings,
        seed: int,
        backend: str = "auto",
    ) -> None:
        self.settings, self.seed = settings, seed
        self._train = batchify(corpus.train, settings.batch)
        self._valid = batchify(corpus.valid, settings.evaluation_batch)
        self._test = batchify(corpus.test, settings.evaluation_batch)
        with seeded(seed, "weights"):
            self.model = build_language_model(model, cell, len(corpus.vocabulary), backend)
        self._optimizer = make_optimizer(self.model, settings)
        self._average: Average | None = None
        self._status: Status = "running"
        self._curve: list[EpochRecord] = []
        self._step = 0  # segments of the current epoch that are learned
        self._state = self.model.zero_state(settings.batch)
        self._losses = 0.0  # of the current epoch, over all its words
        self._words = 0
        self._seconds = 0.0

    # -- the loop --------------------------------------------------------------------------

    def run(self) -> Iterator[StepDone | EpochDone]:
        """Train to the end, or until the loss diverges."""
        while self._status == "running":
            epoch = len(self._curve)
            segments = training_segments(len(self._train), self.settings, self.seed, epoch)
            while self._step < len(segments):
                with self._clock():
                    event = self._learn(epoch, segments)
                yield event
                if self._status != "running":
                    return
            with self._clock():
                done = self._close_epoch(epoch)
            yield done

    def _learn(self, epoch: int, segments: list[Segment]) -> StepDone:
        """One step: forward, backward, clip, update."""
        started = time.perf_counter()
        segment, settings = segments[self._step], self.settings
        rate = settings.rate(epoch) * segment.length / settings.bptt
        tokens, targets = words_of(self._train, segment)
        self.model.train()
        self._optimizer.zero_grad(set_to_none=True)
        with seeded(self.seed, "dropout", epoch, self._step):
            loss = self.model.loss(tokens, targets, detach_state(self._state))
        torch.autograd.backward(loss.cross_entropy + loss.penalty)
        norm = clip_gradients(self.model.parameters(), settings.clip)
        mean = float(loss.cross_entropy.detach())
        self._status = _judge(mean, norm, settings.explode_above)
        if self._status == "running":
            for group in self._optimizer.param_groups:
                group["lr"] = rate
            self._optimizer.step()
            if self._average is not None:
                self._average.update(self.model)
        self._state = detach_state(loss.state)
        self._step += 1
        self._losses += mean * tokens.numel()
        self._words += tokens.numel()
        taken = time.perf_counter() - started
        return StepDone(
            epoch + 1, self._step, len(segments), tokens.numel(), mean, rate,
            tokens.numel() / taken, self._seconds + taken,
        )  # fmt: skip

    def _close_epoch(self, epoch: int) -> EpochDone:
        """Measure, keep the point of the curve, and decide how to go on."""
        started = time.perf_counter()
        with self._evaluation_weights():
            valid, test = self._measure(self._valid), self._measure(self._test)
        averaged = self._average is not None
        earlier = [record.valid for record in self._curve]
        record = EpochRecord(
            epoch + 1, self._losses / self._words, valid, test, self.settings.rate(epoch),
            self._seconds + time.perf_counter() - started, peak_memory(), averaged,
        )  # fmt: skip
        self._curve.append(record)
        if not averaged and should_average(valid, earlier, self.settings.average_after):
            self._average = Average(self.model)
        self._step, self._losses, self._words = 0, 0.0, 0
        self._state = self.model.zero_state(self.settings.batch)
        best = best_of(tuple(self._curve))
        since = len(self._curve) - (best.epoch if best else 0)
        tired = self.settings.patience is not None and since >= self.settings.patience
        if not math.isfinite(valid):
            self._status = "loss is nan"
        elif len(self._curve) >= self.settings.epochs or tired:
            self._status = "ok"
        return EpochDone(record, best is record)

    def _measure(self, text: Tokens) -> float:
        return float(np.mean(text_losses(self.model, text, self.settings.bptt)))

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
            parameters=sum(p.numel() for p in self.model.parameters()),
            peak_memory=peak_memory(),
        )

    def weights(self) -> dict[str, Tensor]:
        """A copy of the weights that an evaluation uses: the averaged ones, once there are."""
        with self._evaluation_weights():
            return {name: t.detach().clone() for name, t in self.model.state_dict().items()}

    # -- stopping and going on -------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Everything that `restore` needs."""
        tensors = prefixed("model", self.model.state_dict())
        tensors |= prefixed("optimizer", optimizer_tensors(self._optimizer))
        carried = flat_state(self._state)
        tensors |= prefixed("carried", {str(i): tensor for i, tensor in enumerate(carried)})
        if self._average is not None:
            tensors |= prefixed("average", self._average.tensors)
        state = {
            "status": self._status,
            "curve": [asdict(record) for record in self._curve],
            "step": self._step,
            "losses": self._losses,
            "words": self._words,
            "seconds": self._seconds,
            "averaged_steps": None if self._average is None else self._average.steps,
        }
        return Snapshot(tensors, state)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on where the snapshot was taken; cell, data, settings and seed must be the same."""
        tensors, state = snapshot
        self.model.load_state_dict(without_prefix("model", tensors))
        restore_optimizer(self._optimizer, without_prefix("optimizer", tensors))
        carried = without_prefix("carried", tensors)
        pattern = self.model.zero_state(self.settings.batch)
        self._state = state_like(pattern, (carried[str(i)] for i in range(len(carried))))
        self._average = None
        if state["averaged_steps"] is not None:
            self._average = Average(self.model)
            self._average.restore(without_prefix("average", tensors), state["averaged_steps"])
        self._status = state["status"]
        self._curve = [EpochRecord(**record) for record in state["curve"]]
        self._step = state["step"]
        self._losses, self._words = state["losses"], state["words"]
        self._seconds = state["seconds"]

    # -- small parts -----------------------------------------------------------------------

    @contextmanager
    def _clock(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - started

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


class LanguageModelling:
    """The task: a corpus, the model around a cell, and how to train it.

    Args:
        corpus: what to learn and to measure on.
        model: the model's settings.
        settings: the schedule; `fit` may shorten it.
    """

    def __init__(
        self,
        corpus: Corpus,
        model: ModelSettings,
        settings: TrainingSettings,
        backend: str = "auto",
    ) -> None:
        self.corpus, self.model, self.settings, self.backend = corpus, model, settings, backend

    def fit(self, cell: Cell, budget: int | None = None, seed: int = 0) -> Result:
        """Train a model around the cell for `budget` epochs."""
        settings = self.settings
        if budget is not None:
            settings = settings.model_copy(update={"epochs": budget})
        training = Training(cell, self.corpus, self.model, settings, seed, self.backend)
        for _ in training.run():
            pass
        return training.result()


def make_optimizer(model: LanguageModel, settings: TrainingSettings) -> torch.optim.Optimizer:
    """SGD or Adam over all weights."""
    kind = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.SGD
    return kind(
        model.parameters(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,  # one pass over the weights instead of five
    )


def _judge(loss: float, norm: float, most: float) -> Status:
    if math.isnan(loss) or math.isnan(norm):
        return "loss is nan"
    if loss > most or math.isinf(norm):
        return "exploded"
    return "running"
