"""Bayesian optimisation on features, with bagged boosted trees (NAS-Bench-NLP, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cellwright.base.errors import shown
from cellwright.base.optional import require
from cellwright.search.blackbox.ask_tell import Method
from cellwright.spaces import Pool
from cellwright.spaces.pool import Features
from cellwright.spaces.settings import SettingError, check_count, check_number
from cellwright.trials.outcome import OK
from cellwright.trials.trial import Trial

Places = npt.NDArray[np.int64]


def require_features(title: str, space: object) -> Pool:
    """The space, if it is a pool of cells with features."""
    if not isinstance(space, Pool):
        raise SettingError(
            f"{title} chooses among cells with features: give it a pool, such as "
            f"`draw_pool(space)`, not {shown(space)}"
        )
    _ = space.features  # says so where there are none
    return space


@dataclass(eq=False, kw_only=True)
class BayesianOptimization(Method):
    """Batches of the cells whose loss could be lowest, judged by many regressors at once.

    First some random cells; then, for each batch, XGBoost regressors learn the loss from the
    features, each from its own half of the trials, and the cells of the pool with the lowest
    mean − beta · standard deviation of their predictions are next (lower confidence bound). A
    trial that diverged or failed teaches nothing, and no cell is asked twice.

    A batch begins when all before it is told, so the trials do not depend on the number of
    workers, and a whole batch can be open at once. Needs xgboost.

    Args:
        space: a pool with features; `draw_pool(space)` makes one of any space.
        initial: how many random cells come first.
        batch: how many cells are chosen at a time.
        beta: how much uncertainty attracts.
        regressors: how many there are.
        trees: of each regressor.
        depth: of each tree.
    """

    name: ClassVar[str] = "bayesian-optimization"

    initial: int = 20
    batch: int = 10
    beta: float = 2.0
    regressors: int = 14
    trees: int = 100
    depth: int = 15
    _pool: Pool = field(init=False, repr=False)
    _xgboost: Any = field(default=None, init=False, repr=False)
    _batches: dict[int, Places] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting in ("initial", "batch", "regressors", "trees", "depth"):
            check_count(self.title, setting, getattr(self, setting), 1, 10**6)
        check_number(self.title, "beta", self.beta, 0, 1e6)
        self._pool = require_features(self.title, self.space)
        self._xgboost = require("xgboost", f"the {self.title}")

    def _propose(self, number: int) -> Trial | None:
        if self.finished:
            return None
        if number < self.initial:
            order = self._rng(0).permutation(len(self._pool.cells))
            places = [place for place in order if place not in self._pool.unwanted]
            return self._trial(number, self._pool.cells[places[number]])
        start = number - (number - self.initial) % self.batch
        if start not in self._batches:
            if not all(earlier in self.outcomes for earlier in range(start)):
                return None
            self._batches = {start: self._choose(start)}
        place = self._batches[start][number - start]
        return self._trial(
            number, self._pool.cells[place], batch=(start - self.initial) // self.batch
        )

    def _choose(self, start: int) -> Places:
        """The places of the next batch's cells, from the outcomes of the trials before it."""
        rng = self._rng(start)
        places = np.array([self._pool.place(trial.cell) for trial in self.trials[:start]])
        learned = [n for n in range(start) if self.outcomes[n].status == OK]
        if learned:
            losses = np.array([self.outcomes[n].loss for n in learned])
            scores = self._bound(self._pool.features[places[learned]], losses, rng)
        else:
            scores = rng.random(len(self._pool.cells))
        scores[[*places, *self._pool.unwanted]] = np.inf
        return np.argsort(scores, kind="stable")[: self.batch]

    def _bound(self, features: Features, losses: Features, rng: np.random.Generator) -> Features:
        """The lower confidence bound of every cell of the pool."""
        settings = {
            "objective": "reg:squarederror",
            "max_depth": self.depth,
            "nthread": 1,  # the same sums in the same order, and the examples are few
            "verbosity": 0,
        }
        everything = self._xgboost.DMatrix(self._pool.features)
        predictions = []
        for _ in range(self.regressors):
            drawn = rng.integers(len(losses), size=max(1, len(losses) // 2))  # Breiman's bagging
            examples = self._xgboost.DMatrix(features[drawn], losses[drawn])
            booster = self._xgboost.train(settings, examples, num_boost_round=self.trees)
            predictions.append(booster.predict(everything))
        found = np.array(predictions, dtype=np.float64)
        return np.asarray(found.mean(axis=0) - self.beta * found.std(axis=0))

    @property
    def finished(self) -> bool:
        return len(self.trials) >= len(self._pool.cells) - len(self._pool.unwanted)
