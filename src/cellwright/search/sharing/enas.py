"""ENAS (Pham et al. 2018; ENAS-pairs section 3) and random search with weight sharing.

Read `SharingSearch.run` from top to bottom. As a training does, it yields after every step and
every epoch, and between two yields everything it knows can be taken as a snapshot, from which a
fresh object goes on to the same weights, controller and cell, bit for bit.

Random search with weight sharing (Li and Talwalkar 2019) is the same without a controller: every
cell is drawn uniformly, all along and in the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from cellwright.base.memory import peak_memory
from cellwright.base.seeds import seed_for, seeded
from cellwright.cell.listings import EnasListing
from cellwright.cell.listings.enas import lower
from cellwright.data import Corpus, batchify
from cellwright.models.language_model import detach_state
from cellwright.search.gradient.bilevel import Gradients, descend, of_weights
from cellwright.search.sharing.children import Children, uniform_listing
from cellwright.search.sharing.controller import Controller, moved_baseline, policy_loss
from cellwright.search.sharing.records import Part, SharingEpoch, SharingResult, SharingStep
from cellwright.search.sharing.selection import Selection
from cellwright.search.sharing.settings import SharingSettings
from cellwright.search.sharing.validation import Validation
from cellwright.spaces.space import pick
from cellwright.tasks.language.measuring import words_of
from cellwright.tasks.language.segments import Segment, training_segments
from cellwright.training.results import Status, perplexity
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


class SharingSearch:
    """One search, from its first weights to its cell.

    Args:
        corpus: training and validation text.
        settings: method, space, model and schedule.
        seed: decides the first weights, all samples, the minibatches and the dropout masks.
        backend: of the engine.
    """

    def __init__(
        self, corpus: Corpus, settings: SharingSettings, seed: int, backend: str = "auto"
    ) -> None:
        self.settings, self.seed = settings, seed
        self._space = settings.space()
        self._train = batchify(corpus.train, settings.batch)
        with seeded(seed, "weights"):
            self.children = Children(
                settings.model, self._space, len(corpus.vocabulary), backend, norm=settings.norm
            )
        self._validation = Validation(corpus, settings, self.children)
        self._weights = self.children.weights()
        self._optimizer = make_optimizer(self.children.model, settings)
        self.controller: Controller | None = None
        if settings.kind == "enas":
            self._make_controller()
        self._status: Status = "running"
        self._records: list[SharingEpoch] = []
        self._selection = Selection(settings.candidates, settings.finalists)
        self._baseline: float | None = None
        self._in_a_row = 0  # minibatches that diverged since one that did not
        self._seconds = 0.0
        self._begin_epoch()

    def _make_controller(self) -> None:
        settings = self.settings
        with seeded(self.seed, "controller"):
            self.controller = Controller(
                settings.nodes,
                settings.operations,
                units=settings.controller_units,
                init_range=settings.controller_range,
                temperature=settings.temperature,
                tanh_constant=settings.tanh_constant,
            )
        self._policy = list(self.controller.parameters())
        self._policy_optimizer = torch.optim.Adam(
            self._policy, settings.controller_rate, fused=True
        )

    def _begin_epoch(self) -> None:
        self._step = 0  # of the weights, then of the controller
        self._carried = self.children.model.zero_state(self.settings.batch)
        self._sums = {"losses": 0.0, "rewards": 0.0, "entropies": 0.0}
        self._counts = {"words": 0, "samples": 0, "diverged": 0}

    # -- the loop --------------------------------------------------------------------------

    def run(self) -> Iterator[SharingStep | SharingEpoch]:
        """Search to the end, or until too many cells in a row diverge."""
        while self._status == "running" and not self._has_learned():
            epoch = len(self._records)
            segments = training_segments(len(self._train), self.settings, self.seed, epoch)
            while self._step < len(segments) + self.settings.controller_steps:
                with self._clock():
                    if self._step < len(segments):
                        event = self._learn_weights(epoch, segments)
                    else:
                        event = self._learn_policy(epoch, len(segments))
                yield event
                if self._status != "running":
                    return
            with self._clock():
                record = self._close_epoch(epoch)
            yield record
        while self._status == "running":
            with self._clock():
                event = self._measure_candidate()
            yield event

    def _has_learned(self) -> bool:
        """Whether the last epoch is over: enough of them, or no better one for too long."""
        losses = [record.valid for record in self._records]
        if len(losses) >= self.settings.epochs:
            return True
        patience = self.settings.patience
        return (
            patience is not None
            and bool(losses)
            and losses.index(min(losses)) + patience < len(losses)
        )

    # -- the weights, with the controller fixed ----------------------------------------------

    def _learn_weights(self, epoch: int, segments: list[Segment]) -> SharingStep:
        """One step of the shared weights: a minibatch, with a cell that is sampled for it.

        It goes on from the state that the cell before left. A weight that the cell does not use
        stays as it is. If a cell diverges, nothing is learned from it, and the state is zero again.
        """
        started = time.perf_counter()
        segment, settings = segments[self._step], self.settings
        rate = settings.rate(epoch) * segment.length / settings.bptt
        child = self.children.child(self._drawn("child", epoch, self._step))
        child.train()
        tokens, targets = words_of(self._train, segment)
        with seeded(self.seed, "dropout", epoch, self._step):
            loss = child.loss(tokens, targets, self._carried)
        weights = list(self._weights.values())
        gradients = of_weights(lambda: loss.cross_entropy + loss.penalty, weights, ())
        nats = float(loss.cross_entropy.detach())
        if self._is_healthy(nats, gradients):
            descend(self._optimizer, weights, gradients, rate=rate, clip=settings.clip)
            self._carried = detach_state(loss.state)
            self._sums["losses"] += nats * tokens.numel()
            self._counts["words"] += tokens.numel()
        else:
            self._carried = child.zero_state(settings.batch)
        self._step += 1
        steps = len(segments) + settings.controller_steps
        return self._done(
            started, "weights", epoch + 1, self._step, steps, tokens.numel(), nats, None, rate
        )

    def _is_healthy(self, nats: float, gradients: Gradients) -> bool:
        """Whether to learn from a minibatch; after too many in a row the search gives up."""
        unknown = math.isnan(nats) or math.isnan(gradients.norm)
        if not unknown and nats <= self.settings.explode_above and math.isfinite(gradients.norm):
            self._in_a_row = 0
            return True
        self._in_a_row += 1
        self._counts["diverged"] += 1
        if self._in_a_row >= self.settings.diverged_in_a_row:
            self._status = "loss is nan" if unknown else "exploded"
        return False

    # -- the controller, with the weights fixed ----------------------------------------------

    def _learn_policy(self, epoch: int, before: int) -> SharingStep:
        """One step of the controller: sampled cells read a validation minibatch, with zero state.

        A cell's reward is c / perplexity, plus the entropy of its choices times its weight (Pham et
        al. 2018).
        """
        assert self.controller is not None
        started = time.perf_counter()
        settings, which = self.settings, (epoch, self._step - before)
        rng = np.random.default_rng(seed_for(self.seed, "minibatch", *which))
        segment = pick(self._validation.minibatches, rng)
        with seeded(self.seed, "samples", *which):
            samples = [self.controller.sample() for _ in range(settings.controller_samples)]
        losses = [self._validation.loss_on(sample.listing, [segment]) for sample in samples]
        rewards = [settings.reward_scale / perplexity(nats) for nats in losses]
        entropies = [float(sample.entropy.detach()) for sample in samples]
        full = [r + settings.entropy_weight * h for r, h in zip(rewards, entropies, strict=True)]
        mean = sum(full) / len(full)
        baseline = mean if self._baseline is None else self._baseline
        gradients = of_weights(lambda: policy_loss(samples, full, baseline), self._policy, ())
        descend(self._policy_optimizer, self._policy, gradients, rate=settings.controller_rate)
        self._baseline = moved_baseline(self._baseline, mean, settings.baseline_decay)
        self._sums["rewards"] += sum(rewards)
        self._sums["entropies"] += sum(entropies)
        self._counts["samples"] += len(samples)
        self._step += 1
        return self._done(
            started, "controller", epoch + 1, self._step, before + settings.controller_steps,
            self._validation.words_in([segment]) * len(samples), sum(losses) / len(losses),
            sum(rewards) / len(rewards), settings.controller_rate,
        )  # fmt: skip

    def _close_epoch(self, epoch: int) -> SharingEpoch:
        """Measure, and keep what the search has come to."""
        started = time.perf_counter()
        listing = self._likely()
        sums, counts = self._sums, self._counts
        samples = counts["samples"]
        record = SharingEpoch(
            epoch=epoch + 1,
            train=sums["losses"] / counts["words"] if counts["words"] else math.inf,
            valid=self._validation.loss(listing),
            listing=listing,
            reward=sums["rewards"] / samples if samples else None,
            baseline=self._baseline,
            entropy=sums["entropies"] / samples if samples else None,
            diverged=counts["diverged"],
            learning_rate=self.settings.rate(epoch),
            seconds=self._seconds + time.perf_counter() - started,
            peak_memory=peak_memory(),
        )
        self._records.append(record)
        self._begin_epoch()
        return record

    # -- what is chosen in the end -------------------------------------------------------------

    def _measure_candidate(self) -> SharingStep:
        """Measure one more candidate or finalist; the last one ends the search."""
        started = time.perf_counter()
        selection, validation = self._selection, self._validation
        some = validation.minibatches[: self.settings.screening]
        measured = selection.advance(
            lambda *which: self._drawn("candidate", *which),
            lambda listing: validation.loss_on(listing, some),
            validation.loss,
        )
        if selection.done == selection.steps:
            self._status = "loss is nan" if selection.best() is None else "ok"
        nats, words = measured.valid, validation.words
        if nats is None:
            assert measured.screened is not None
            nats, words = measured.screened, validation.words_in(some)
        return self._done(
            started, "candidates", len(self._records), selection.done, selection.steps, words, nats,
            None, 0.0,
        )  # fmt: skip

    def result(self) -> SharingResult:
        """What the search has found so far."""
        best = self._selection.best()
        listing = self._likely() if best is None else best.listing
        return SharingResult(
            status=self._status,
            cell=lower(listing),
            shared=lower(listing, keys=True),
            listing=listing,
            candidates=tuple(self._selection.candidates),
            records=tuple(self._records),
            seconds=self._seconds,
            parameters=sum(weight.numel() for weight in self._weights.values()),
            peak_memory=peak_memory(),
        )

    def weights(self) -> dict[str, Tensor]:
        """A copy of all shared weights."""
        return {name: weight.detach().clone() for name, weight in self._weights.items()}

    # -- stopping and going on -------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Everything that `restore` needs."""
        tensors = prefixed("weights", self._weights)
        tensors |= prefixed("optimizer.weights", optimizer_tensors(self._optimizer))
        if self.controller is not None:
            tensors |= prefixed("controller", self.controller.state_dict())
            learned = optimizer_tensors(self._policy_optimizer)
            tensors |= prefixed("optimizer.controller", learned)
        carried = flat_state(self._carried)
        tensors |= prefixed("carried", {str(i): tensor for i, tensor in enumerate(carried)})
        state = {
            "status": self._status,
            "records": [record.to_json() for record in self._records],
            "selection": self._selection.to_json(),
            "step": self._step,
            "baseline": self._baseline,
            "in_a_row": self._in_a_row,
            "sums": dict(self._sums),
            "counts": dict(self._counts),
            "seconds": self._seconds,
        }
        return Snapshot(tensors, state)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on where the snapshot was taken; data, settings and seed must be the same."""
        tensors, state = snapshot
        with torch.no_grad():
            for name, saved in without_prefix("weights", tensors).items():
                self._weights[name].copy_(saved)
        restore_optimizer(self._optimizer, without_prefix("optimizer.weights", tensors))
        if self.controller is not None:
            self.controller.load_state_dict(without_prefix("controller", tensors))
            learned = without_prefix("optimizer.controller", tensors)
            restore_optimizer(self._policy_optimizer, learned)
        carried = without_prefix("carried", tensors)
        pattern = self.children.model.zero_state(self.settings.batch)
        self._carried = state_like(pattern, (carried[str(i)] for i in range(len(carried))))
        self._status = state["status"]
        self._records = [SharingEpoch.from_json(record) for record in state["records"]]
        self._selection.restore(state["selection"])
        self._step = state["step"]
        self._baseline, self._in_a_row = state["baseline"], state["in_a_row"]
        self._sums, self._counts = dict(state["sums"]), dict(state["counts"])
        self._seconds = state["seconds"]

    # -- small parts -----------------------------------------------------------------------

    def _drawn(self, *what: str | int) -> EnasListing:
        """A cell from the controller, or from all alike."""
        if self.controller is None:
            return uniform_listing(self._space, np.random.default_rng(seed_for(self.seed, *what)))
        with torch.no_grad(), seeded(self.seed, *what):
            return self.controller.sample().listing

    def _likely(self) -> EnasListing:
        """The cell of the controller's likeliest choices; without one, always the same cell."""
        return self._drawn("likely") if self.controller is None else self.controller.greedy()

    def _done(
        self,
        started: float,
        part: Part,
        epoch: int,
        step: int,
        steps: int,
        tokens: int,
        loss: float,
        reward: float | None,
        rate: float,
    ) -> SharingStep:
        taken = time.perf_counter() - started
        return SharingStep(
            epoch, part, step, steps, tokens, loss, reward, rate, tokens / taken,
            self._seconds + taken,
        )  # fmt: skip

    @contextmanager
    def _clock(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - started
