"""The Tree-structured Parzen Estimator (Bergstra et al. 2011), by optuna."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from cellwright.base.optional import require
from cellwright.search.blackbox.ask_tell import SequentialMethod
from cellwright.spaces import Interval
from cellwright.spaces.settings import SettingError, check_count
from cellwright.trials.trial import Trial


@dataclass(eq=False, kw_only=True)
class Tpe(SequentialMethod):
    """Each choice is drawn where good trials are dense and the others are not.

    Works on the choices of a space: a listing's operations and connections, or the feature
    dimensions of a pool, where a point stands for the nearest cell (NAS-Bench-NLP section 5). A
    trial that diverged or failed counts as infinite. Trials whose outcomes may not be known yet
    count as bad ones, so that trials that are open at the same time differ.

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
            if isinstance(options, Interval):
                kind = distributions.FloatDistribution(options.low, options.high)
            else:
                kind = distributions.CategoricalDistribution(options)
            if kind.single():
                self._fixed[name] = options.low if isinstance(options, Interval) else options[0]
            else:
                self._distributions[name] = kind
        self._study = self._new_study()

    def _new_study(self) -> Any:
        log = self._optuna.logging
        before = log.get_verbosity()
        log.set_verbosity(log.WARNING)  # it announces every study
        try:
            return self._optuna.create_study()
        finally:
            log.set_verbosity(before)

    def _propose(self, number: int) -> Trial:
        for known in self._known(number):
            if known.number not in self._passed_on:
                self._study.tell(known.number, self._loss(known))
                self._passed_on.add(known.number)
        self._study.sampler = self._optuna.samplers.TPESampler(
            n_startup_trials=self.startup,
            n_ei_candidates=self.candidates,
            multivariate=False,  # each choice by itself, as in the paper
            constant_liar=True,
            seed=int(self._rng(number).integers(2**32)),
        )
        values = self._study.ask(self._distributions).params
        return self._trial(number, self.space.decode({**self._fixed, **values}), choices=values)

    def _asked(self, trial: Trial) -> None:
        if len(self._study.get_trials(deepcopy=False)) == trial.number:  # restored, not proposed
            self._study.enqueue_trial(trial.info["choices"])
            self._study.ask(self._distributions)
