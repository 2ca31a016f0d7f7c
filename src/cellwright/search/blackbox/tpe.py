"""The Tree-structured Parzen Estimator (Bergstra et al. 2011), by optuna."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cellwright.base.optional import require
from cellwright.search.blackbox.ask_tell import SearchError, SequentialMethod
from cellwright.spaces import Interval, Options
from cellwright.spaces.settings import SettingError, check_count
from cellwright.trials.trial import Trial

_TRIES = 1000
"""How often a cell that cannot learn is drawn again before that is an error."""

_LEARNED_TRIES = 20
"""How many of these draws are told to the model; later ones are uniform, for a model may have
nothing else in mind."""

_FOREVER = 10**9


@dataclass(eq=False, kw_only=True)
class Tpe(SequentialMethod):
    """Each choice is drawn where good trials are dense and the others are not.

    Works on the choices of a space: a listing's operations and connections, or the feature
    dimensions of a pool, where a point stands for the nearest cell (NAS-Bench-NLP section 5). A
    trial that diverged or failed counts as infinite. Trials whose outcomes may not be known yet
    count as bad ones, so that trials that are open at the same time differ. A draw that is a cell
    that surely cannot learn is drawn again, and counts as infinite, too.

    The trials do not depend on the number of workers, up to `lag` of them. Needs optuna.

    Args:
        startup: how many trials are drawn at random first.
        candidates: how many values of each choice are drawn to take the best of.
    """

    name: ClassVar[str] = "tpe"

    startup: int = 20
    candidates: int = 24
    _optuna: Any = field(default=None, init=False, repr=False)
    _study: Any = field(default=None, init=False, repr=False)
    _distributions: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _fixed: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _passed_on: set[int] = field(default_factory=set, init=False, repr=False)
    _places: dict[int, int] = field(default_factory=dict, init=False, repr=False)
    """The number that optuna has for each trial: it counts the draws that were thrown away, too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.title, "startup", self.startup, 1, 10**6)
        check_count(self.title, "candidates", self.candidates, 1, 10**6)
        choices = self.space.choices()
        if choices is None:
            raise SettingError(
                f"{self.title} needs a space that has a form as choices, which "
                f"{self.space.title} has not; search a pool of its cells with features instead"
            )
        self._optuna = require("optuna", "the method 'tpe'")
        distributions = self._optuna.distributions
        for name, options in choices.items():
            kind = distribution(distributions, options)
            if kind.single():
                self._fixed[name] = options.low if isinstance(options, Interval) else options[0]
            else:
                self._distributions[name] = kind
        self._study = new_study(self._optuna)

    def _propose(self, number: int) -> Trial:
        for known in self._known(number):
            if known.number not in self._passed_on:
                self._study.tell(self._places[known.number], self._loss(known))
                self._passed_on.add(known.number)
        rng = self._rng(number)
        dead: list[dict[str, Any]] = []
        for attempt in range(_TRIES):
            learns = attempt < _LEARNED_TRIES
            drawn, values = self._drawn(int(rng.integers(2**32)), learns)
            new = self.space.drawn({**self._fixed, **values})
            if self.space.wanted(new.cell):
                self._places[number] = drawn
                thrown_away = {"dead": dead} if dead else {}
                return self._trial(number, new.cell, choices=values, **thrown_away, **new.info)
            if learns:
                self._study.tell(drawn, math.inf)
                dead.append(values)
            else:
                self._study.tell(drawn, state=self._optuna.trial.TrialState.FAIL)
        raise SearchError(
            f"{self.title}: of {_TRIES:,} cells that it drew for trial {number} none can learn"
        )

    def _drawn(self, seed: int, learns: bool) -> tuple[int, dict[str, Any]]:
        """Optuna's number for a new trial, and its values: from all that is known, or uniform."""
        self._study.sampler = self._optuna.samplers.TPESampler(
            n_startup_trials=self.startup if learns else _FOREVER,
            n_ei_candidates=self.candidates,
            multivariate=False,  # each choice by itself, as in the paper
            constant_liar=True,
            seed=seed,
        )
        return self._ask()

    def _ask(self) -> tuple[int, dict[str, Any]]:
        """A new trial of optuna: its number, and a value for each choice that applies."""
        asked = self._study.ask()
        values: dict[str, Any] = {}
        for name, kind in self._distributions.items():
            if self.space.applies(name, {**self._fixed, **values}):
                values[name] = _suggested(asked, name, kind)
        return asked.number, values

    def _asked(self, trial: Trial) -> None:
        if trial.number in self._places:
            return
        for values in trial.info.get("dead", ()):  # restored, not proposed
            self._study.tell(self._again(values), math.inf)
        self._places[trial.number] = self._again(trial.info["choices"])

    def _again(self, values: dict[str, Any]) -> int:
        """Optuna's number for a trial with these values."""
        self._study.enqueue_trial(values)
        return self._ask()[0]


def new_study(optuna: Any) -> Any:
    """A study of optuna's, in memory, which is not announced."""
    log = optuna.logging
    before = log.get_verbosity()
    log.set_verbosity(log.WARNING)
    try:
        return optuna.create_study()
    finally:
        log.set_verbosity(before)


def distribution(distributions: Any, options: Options) -> Any:
    """Optuna's form of the options of a choice."""
    if isinstance(options, tuple):
        return distributions.CategoricalDistribution(options)
    if options.whole:
        return distributions.IntDistribution(int(options.low), int(options.high), options.log)
    return distributions.FloatDistribution(float(options.low), float(options.high), options.log)


def _suggested(asked: Any, name: str, kind: Any) -> Any:
    """A value from a distribution of optuna's."""
    if hasattr(kind, "choices"):
        return asked.suggest_categorical(name, kind.choices)
    numbers = asked.suggest_float if isinstance(kind.low, float) else asked.suggest_int
    return numbers(name, kind.low, kind.high, log=kind.log)
