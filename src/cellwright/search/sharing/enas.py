"""ENAS (Pham et al. 2018; ENAS-pairs section 3) and random search with weight sharing.

Read `Loop.run`, then `SharingSearch` from top to bottom.

Random search with weight sharing (Li and Talwalkar 2019) is the same without a controller: every
cell is drawn uniformly, all along and in the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cellwright.base.memory import peak_memory
from cellwright.base.seeds import seed_for, seeded
from cellwright.models.cell_model import detached
from cellwright.search.sharing.children import Children
from cellwright.search.sharing.controller import Controller, moved_baseline, policy_loss
from cellwright.search.sharing.listings import Listing, lowered, uniform_listing
from cellwright.search.sharing.records import Part, SharingEpoch, SharingResult, SharingStep
from cellwright.search.sharing.selection import Selection
from cellwright.search.sharing.settings import SharingSettings
from cellwright.search.sharing.validation import Validation
from cellwright.spaces.space import pick
from cellwright.tasks.task import Task
from cellwright.training.gradients import gradients_of, learned
from cellwright.training.loop import Loop
from cellwright.training.optimizers import descend, make_optimizer
from cellwright.training.snapshots import (
    Parts,
    carried_tensors,
    optimizer_tensors,
    restore_optimizer,
    restored_carried,
)


class SharingSearch(Loop[SharingStep, SharingEpoch]):
    """One search, from its first weights to its cell.

    Args:
        task: training and validation data, and the model around the cells.
        model: which of the task's models.
        settings: method, space and schedule.
        seed: decides the first weights, all samples, the minibatches and the dropout masks.
        backend: of the engine.
    """

    _not_from_the_start = ("baseline",)

    def __init__(
        self,
        task: Task[Any],
        model: Any,
        settings: SharingSettings,
        seed: int,
        backend: str = "auto",
    ) -> None:
        super().__init__(seed, settings.explode_above)
        self.task, self.settings = task, settings
        self._space = settings.space()
        with seeded(seed, "weights"):
            self.children = Children(task, model, self._space, backend, norm=settings.norm)
        self._validation = Validation(task, settings, self.children)
        self._weights = learned(self.children.model)
        self._optimizer = make_optimizer(self._weights, settings)
        self.controller: Controller | None = None
        if settings.kind == "enas":
            self._make_controller()
        self._records: list[SharingEpoch] = []
        self._selection = Selection(settings.candidates, settings.finalists)
        self._baseline: float | None = None
        self._in_a_row = 0  # minibatches that diverged since one that did not
        self._batches = task.batches("train", settings.batch, seed, 0)
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
            self._policy,
            settings.controller_rate,
            betas=(settings.controller_beta1, 0.999),
            eps=settings.controller_epsilon,
            fused=True,
        )

    def _begin_epoch(self) -> None:
        self._step = 0  # of the weights, then of the controller
        self._carried = self.children.model.begin(self._batches[0])
        self._sums = {"losses": 0.0, "rewards": 0.0, "entropies": 0.0}
        # `words` are items of any kind; checkpoints have had that name from the first on.
        self._counts = {"words": 0, "samples": 0, "diverged": 0}

    # -- the loop --------------------------------------------------------------------------

    def _prepare_epoch(self) -> int:
        epoch, size = len(self._records), self.settings.batch
        self._batches = self.task.batches("train", size, self.seed, epoch)
        if not self._step:
            self._carried = self.children.model.begin(self._batches[0])
        return len(self._batches) + self.settings.controller_steps

    def _take_step(self) -> SharingStep:
        """The weights learn from all training data, then the controller takes its steps."""
        if self._step < len(self._batches):
            return self._learn_weights()
        return self._learn_policy()

    # -- the weights, with the controller fixed ----------------------------------------------

    def _learn_weights(self) -> SharingStep:
        """One step of the shared weights: a minibatch, with a cell that is sampled for it.

        It goes on from the state that the cell before left. A weight that the cell does not use
        stays as it is. If a cell diverges, nothing is learned from it, and the state is zero again.
        """
        epoch, settings = len(self._records), self.settings
        batch = self._batches[self._step]
        rate = batch.rate(settings.rate(epoch))
        child = self.children.child(self._drawn("child", epoch, self._step))
        child.train()
        with seeded(self.seed, "dropout", epoch, self._step):
            loss = child.loss(batch, self._carried)
        gradients = gradients_of(loss.mean + loss.penalty, self._weights)
        mean = float(loss.mean.detach())
        if self._is_healthy(mean, gradients.norm):
            descend(self._optimizer, self._weights, gradients, rate=rate, clip=settings.clip)
            self._carried = detached(loss.carried)
            self._sums["losses"] += mean * batch.size
            self._counts["words"] += batch.size
        else:
            self._carried = child.begin(batch)
        self._step += 1
        steps = len(self._batches) + settings.controller_steps
        return self._done("weights", epoch + 1, self._step, steps, batch.size, mean, None, rate)

    def _is_healthy(self, loss: float, norm: float) -> bool:
        """Whether to learn from a minibatch; after too many in a row the search gives up."""
        verdict = self._verdict(loss, norm)
        if verdict == "running":
            self._in_a_row = 0
            return True
        self._in_a_row += 1
        self._counts["diverged"] += 1
        if self._in_a_row >= self.settings.diverged_in_a_row:
            self._status = verdict
        return False

    # -- the controller, with the weights fixed ----------------------------------------------

    def _learn_policy(self) -> SharingStep:
        """One step of the controller: sampled cells read a validation minibatch, with zero state.

        A cell's reward is the metric's, for language c / e^loss, plus the entropy of its choices
        times its weight (Pham et al. 2018).
        """
        assert self.controller is not None
        epoch, settings, before = len(self._records), self.settings, len(self._batches)
        which = (epoch, self._step - before)
        rng = np.random.default_rng(seed_for(self.seed, "minibatch", *which))
        batch = pick(self._validation.minibatches, rng)
        with seeded(self.seed, "samples", *which):
            samples = [self.controller.sample() for _ in range(settings.controller_samples)]
        losses = [self._validation.loss_on(sample.listing, [batch]) for sample in samples]
        rewards = [self._reward(loss) for loss in losses]
        entropies = [float(sample.entropy.detach()) for sample in samples]
        full = [r + settings.entropy_weight * h for r, h in zip(rewards, entropies, strict=True)]
        mean = sum(full) / len(full)
        baseline = mean if self._baseline is None else self._baseline
        gradients = gradients_of(policy_loss(samples, full, baseline), self._policy)
        rate = settings.controller_rate
        descend(self._policy_optimizer, self._policy, gradients, rate=rate)
        self._baseline = moved_baseline(self._baseline, mean, settings.baseline_decay)
        self._sums["rewards"] += sum(rewards)
        self._sums["entropies"] += sum(entropies)
        self._counts["samples"] += len(samples)
        self._step += 1
        return self._done(
            "controller", epoch + 1, self._step, before + settings.controller_steps,
            batch.size * len(samples), sum(losses) / len(losses), sum(rewards) / len(rewards), rate,
        )  # fmt: skip

    def _reward(self, loss: float) -> float:
        """What a cell with that loss earns; always a finite number, or nothing is learned again."""
        metric, scale = self.task.metric, self.settings.reward_scale
        earned = metric.reward(loss, scale)
        if math.isfinite(earned):
            return earned
        return metric.reward(self.settings.explode_above, scale)

    def _close_epoch(self) -> SharingEpoch:
        """Measure, and keep what the search has come to."""
        epoch, listing = len(self._records), self._likely()
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
            seconds=self._seconds + self._lately,
            peak_memory=peak_memory(),
        )
        self._records.append(record)
        self._begin_epoch()
        return record

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

    # -- what is chosen in the end -------------------------------------------------------------

    def _conclude(self) -> SharingStep:
        """Measure one more candidate or finalist; the last one ends the search."""
        selection, validation = self._selection, self._validation
        some = validation.minibatches[: self.settings.screening]
        measured = selection.advance(
            lambda *which: self._drawn("candidate", *which),
            lambda listing: validation.loss_on(listing, some),
            validation.loss,
        )
        if selection.done == selection.steps:
            self._status = "loss is nan" if selection.best() is None else "ok"
        loss, size = measured.valid, validation.size
        if loss is None:
            assert measured.screened is not None
            loss, size = measured.screened, sum(batch.size for batch in some)
        done, steps = selection.done, selection.steps
        return self._done("candidates", len(self._records), done, steps, size, loss, None, 0.0)

    def result(self) -> SharingResult:
        """What the search has found so far."""
        best = self._selection.best()
        listing = self._likely() if best is None else best.listing
        return SharingResult(
            status=self._status,
            cell=lowered(listing),
            shared=lowered(listing, keys=True),
            listing=listing,
            candidates=tuple(self._selection.candidates),
            records=tuple(self._records),
            seconds=self._seconds,
            parameters=sum(weight.numel() for weight in self._weights),
            peak_memory=peak_memory(),
        )

    def weights(self) -> dict[str, Tensor]:
        """A copy of all shared weights."""
        return {name: weight.detach().clone() for name, weight in self.children.weights().items()}

    # -- stopping and going on -------------------------------------------------------------

    def _tensors(self) -> Mapping[str, Mapping[str, Tensor]]:
        parts: dict[str, Mapping[str, Tensor]] = {
            "weights": self.children.weights(),
            "optimizer.weights": optimizer_tensors(self._optimizer),
            "carried": carried_tensors(self._carried),
        }
        if self.controller is not None:
            parts["controller"] = self.controller.state_dict()
            parts["optimizer.controller"] = optimizer_tensors(self._policy_optimizer)
        return parts

    def _state(self) -> dict[str, Any]:
        return {
            "records": [record.to_json() for record in self._records],
            "selection": self._selection.to_json(),
            "baseline": self._baseline,
            "in_a_row": self._in_a_row,
            "sums": dict(self._sums),
            "counts": dict(self._counts),
        }

    def _restore(self, tensors: Parts, state: Mapping[str, Any]) -> None:
        self.children.model.load_state_dict(tensors["weights"])
        restore_optimizer(self._optimizer, tensors["optimizer.weights"])
        if self.controller is not None:
            self.controller.load_state_dict(tensors["controller"])
            restore_optimizer(self._policy_optimizer, tensors["optimizer.controller"])
        self._carried = restored_carried(self._carried, tensors["carried"])
        self._records = [SharingEpoch.from_json(record) for record in state["records"]]
        self._selection.restore(state["selection"])
        self._baseline, self._in_a_row = state["baseline"], state["in_a_row"]
        self._sums, self._counts = dict(state["sums"]), dict(state["counts"])

    # -- small parts -----------------------------------------------------------------------

    def _drawn(self, *what: str | int) -> Listing:
        """A cell from the controller, or from all alike."""
        if self.controller is None:
            return uniform_listing(self._space, np.random.default_rng(seed_for(self.seed, *what)))
        with torch.no_grad(), seeded(self.seed, *what):
            return self.controller.sample().listing

    def _likely(self) -> Listing:
        """The cell of the controller's likeliest choices; without one, always the same cell."""
        return self._drawn("likely") if self.controller is None else self.controller.greedy()

    def _done(
        self,
        part: Part,
        epoch: int,
        step: int,
        steps: int,
        size: int,
        loss: float,
        reward: float | None,
        rate: float,
    ) -> SharingStep:
        taken = self._lately
        return SharingStep(
            epoch, step, steps, size, loss, rate, size / taken, self._seconds + taken, part, reward
        )
