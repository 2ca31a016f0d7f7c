"""SMAC (Hutter et al. 2011) on features: a random forest and expected improvement."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cellwright.base.optional import require
from cellwright.search.blackbox.ask_tell import SequentialMethod
from cellwright.search.blackbox.bayesian_optimization import Places, require_features
from cellwright.spaces import Pool
from cellwright.spaces.pool import Features
from cellwright.spaces.settings import check_count, check_number
from cellwright.trials.trial import Trial


@dataclass(eq=False, kw_only=True)
class SmacSearch(SequentialMethod):
    """The cell of the pool whose expected improvement is largest, now and then a random one.

    The parts are the smac package's, with the settings of its facade for algorithm
    configuration, which NAS-Bench-NLP used: a Latin hypercube as the first design, each point of
    which stands for the nearest cell, a random forest, expected improvement, and random cells
    in between. Only the search for the largest improvement is not: SMAC climbs through a
    continuous space, but a pool's cells can all be looked at. A trial that diverged or failed
    counts as the worst one that did not. No cell is asked twice.

    The trials do not depend on the number of workers, up to `lag` of them. Needs smac.

    Args:
        space: a pool with features; `draw_pool(space)` makes one of any space.
        initial: how many cells the first design has.
        random_share: how often a cell is drawn at random.
    """

    name: ClassVar[str] = "smac"

    initial: int = 20
    random_share: float = 0.5
    _pool: Pool = field(init=False, repr=False)
    _smac: Any = field(default=None, init=False, repr=False)
    _config_space: Any = field(default=None, init=False, repr=False)
    _configurations: list[Any] = field(default_factory=list, init=False, repr=False)
    _design: list[Features] = field(default_factory=list, init=False, repr=False)
    _seen: list[int] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.title, "initial", self.initial, 1, 10**6)
        check_number(self.title, "random_share", self.random_share, 0, 1)
        self._pool = require_features(self.title, self.space)
        self._smac = require("smac", f"the {self.title}")
        self._prepare()

    def _prepare(self) -> None:
        """The pool as SMAC's configurations, between 0 and 1 in each dimension, and a design."""
        space_of = require("ConfigSpace", f"the {self.title}")
        designs = require("smac.initial_design", f"the {self.title}")
        features = self._pool.features
        low, high = features.min(axis=0), features.max(axis=0)
        width = np.where(high > low, high - low, 1.0)
        space = space_of.ConfigurationSpace(seed=0)
        space.add([space_of.Float(f"v{i:04d}", (0.0, 1.0)) for i in range(features.shape[1])])
        scaled = (features - low) / width
        self._config_space = space
        self._configurations = [space_of.Configuration(space, vector=row) for row in scaled]
        points = designs.LatinHypercubeInitialDesign(
            self._scenario(self.seed % 2**32), n_configs=self.initial, max_ratio=1.0
        ).select_configurations()
        self._design = [low + width * point.get_array() for point in points]

    def _scenario(self, seed: int) -> Any:
        return self._smac.Scenario(
            self._config_space, deterministic=True, n_trials=10**9, seed=seed
        )

    def _propose(self, number: int) -> Trial | None:
        if self.finished:
            return None
        if number < len(self._design):
            place = self._pool.nearest(self._design[number], without=self._out)
        else:
            place = self._choose(number)
        return self._trial(number, self._pool.cells[place])

    def _choose(self, number: int) -> int:
        rng = self._rng(number)
        known = self._known(number)
        losses = np.array([self._loss(trial) for trial in known])
        unseen = np.setdiff1d(np.arange(len(self._pool.cells)), self._out)
        if rng.random() < self.random_share or not np.isfinite(losses).any():
            return int(rng.choice(unseen))
        losses[~np.isfinite(losses)] = losses[np.isfinite(losses)].max()
        places = np.array([self._pool.place(trial.cell) for trial in known])
        improvement = self._improvement(places, losses, unseen, int(rng.integers(2**31)))
        return int(unseen[improvement.argmax()])

    def _improvement(self, known: Places, losses: Features, unseen: Places, seed: int) -> Features:
        """The expected improvement of the unseen cells over the best predicted of the known."""
        points = np.array([self._configurations[i].get_array() for i in known])
        model = self._forest(len(known), seed)
        model.train(points, losses)
        acquisition = self._smac.AlgorithmConfigurationFacade.get_acquisition_function(None)
        acquisition.update(model=model, eta=float(model.predict_marginalized(points)[0].min()))
        values = acquisition([self._configurations[i] for i in unseen])
        return np.asarray(values, dtype=np.float64).ravel()

    def _forest(self, examples: int, seed: int) -> Any:
        """The facade's random forest.

        In newer releases it makes room for a million leaves in each of its trees, and starts a
        thread for each, a hundred times the work of growing them: here they are told how many
        leaves there can be. The trees are the same.
        """
        kind = require("smac.model.random_forest", f"the {self.title}").RandomForest
        sparing = {"n_jobs": 1, "max_leaf_nodes": max(2, examples)}
        known = inspect.signature(kind).parameters
        return kind(
            self._config_space,
            n_trees=10,
            ratio_features=5 / 6,
            min_samples_split=3,
            min_samples_leaf=3,
            max_depth=20,
            seed=seed,
            **{name: value for name, value in sparing.items() if name in known},
        )

    def _asked(self, trial: Trial) -> None:
        self._seen.append(self._pool.place(trial.cell))

    @property
    def _out(self) -> list[int]:
        """The places of cells that are not asked for any more, or never."""
        return [*self._seen, *self._pool.unwanted]

    @property
    def finished(self) -> bool:
        return len(self._out) >= len(self._pool.cells)
