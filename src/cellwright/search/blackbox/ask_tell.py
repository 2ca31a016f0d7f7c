"""`Method`: how a black-box search method hands out trials and learns from their outcomes.

A method never sees data. `ask` hands out a `Trial`, somebody trains its cell, and `tell` brings
the `Outcome`; trials may be told in any order, and many may be open at once. The same object
drives real training, a simulated benchmark, one process or a cluster.

Everything that a method draws for trial n comes from the seed and n, and everything else from
the trials so far. So a method is its settings and its log: `state` is just that, and a method
made by `from_state` goes on exactly as the first would have.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from cellwright.base.errors import UserError, shown
from cellwright.base.plugins import Source
from cellwright.cell import Cell
from cellwright.spaces import Drawn, Space
from cellwright.spaces.settings import check_count, is_unsaid
from cellwright.trials.outcome import OK, Outcome
from cellwright.trials.trial import Trial

__all__ = ["Method", "Outcome", "SearchError", "SequentialMethod", "Trial", "run"]

_VERSION = 1
_MOST_SEED = 2**63 - 1
_FOR_TRAINING = 1  # keeps the seeds of trainings apart from those of the method's own draws

AnyMethod = TypeVar("AnyMethod", bound="Method")


class SearchError(UserError):
    """A method was told something that does not fit what it asked."""


@dataclass(eq=False)
class Method(ABC):
    """A black-box search method over a space.

    Whoever runs the search calls `ask` whenever there is room for a trial, and `tell` when one
    has ended, until there is no more budget or the method is `finished`. `ask` gives None where
    the method needs outcomes of open trials first.

    A subclass says in `_propose` what the next trial is. It may keep what it derives from the
    trials, in `_asked` and `_told`; these are called again when a method is restored.

    Args:
        space: where the cells come from.
        epochs: how long a trial trains, or at most trains.
        seed: decides every draw.
    """

    name: ClassVar[str]
    """What the method is called in recipes and on the command line."""

    source: ClassVar[Source | None] = None
    """Where its code comes from, if it did not come with cellwright."""

    space: Space
    _: dataclasses.KW_ONLY
    epochs: int = 50
    seed: int = 0
    trials: list[Trial] = field(default_factory=list, init=False, repr=False)
    """Every trial that was handed out; its number is its place."""
    outcomes: dict[int, Outcome] = field(default_factory=dict, init=False, repr=False)
    """The outcomes by the trials' numbers, in the order of telling."""
    _open: dict[int, Trial] = field(default_factory=dict, init=False, repr=False)
    """The trials without an outcome, by number."""
    _trials_then: dict[int, int] = field(default_factory=dict, init=False, repr=False)
    """For each outcome, how many trials had been handed out when it was told."""

    def __post_init__(self) -> None:
        check_count(self.title, "epochs", self.epochs, 1, 10**9)
        check_count(self.title, "seed", self.seed, 0, _MOST_SEED)

    @property
    def title(self) -> str:
        """The method in an error message."""
        return f"method {self.name!r}"

    # -- for whoever runs the search ---------------------------------------------------

    def ask(self) -> Trial | None:
        """The next trial, or None: nothing until something is told, or nothing ever again."""
        trial = self._propose(len(self.trials))
        if trial is not None:
            self._keep(trial)
        return trial

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """What became of a trial. Trials may be told in any order, each once."""
        number = trial.number
        own = self.trials[number] if 0 <= number < len(self.trials) else None
        if own is None or (own.seed, own.fidelity) != (trial.seed, trial.fidelity):
            raise SearchError(f"trial {number} is not a trial of this search")
        if number in self.outcomes:
            raise SearchError(f"trial {number} was told before")
        self.outcomes[number] = outcome
        self._trials_then[number] = len(self.trials)
        del self._open[number]
        self._told(own, outcome)

    def best(self) -> tuple[Trial, Outcome] | None:
        """The trial of the lowest value so far, at any fidelity; the first of equals."""
        fine = [(o.loss, n) for n, o in self.outcomes.items() if o.status == OK]
        if not fine:
            return None
        number = min(fine)[1]
        return self.trials[number], self.outcomes[number]

    def pending(self) -> list[Trial]:
        """The trials that were handed out and not told: to be run again after a restart."""
        return list(self._open.values())

    @property
    def finished(self) -> bool:
        """Whether `ask` will never hand out a trial again."""
        return False

    # -- as data -----------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return {
            field.name: written_setting(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.init and field.name != "space"
            if not is_unsaid(field, getattr(self, field.name))
        }

    def state(self) -> dict[str, Any]:
        """The whole method as JSON values, but for the space."""
        source = {} if self.source is None else {"source": self.source.to_json()}
        return {
            "version": _VERSION,
            "method": self.name,
            "settings": self.settings(),
            "space": self.space.described(),
            **source,
            "trials": [trial.to_json() for trial in self.trials],
            "outcomes": [
                {"number": number, "trials": self._trials_then[number], **outcome.brief()}
                for number, outcome in self.outcomes.items()
            ],
        }

    @classmethod
    def from_state(cls: type[AnyMethod], state: Mapping[str, Any], space: Space) -> AnyMethod:
        """The method of a `state`, over the same space."""
        if state.get("version") != _VERSION or state.get("method") != cls.name:
            raise SearchError(
                f"this is not the state of a {cls.name!r} search, version {_VERSION}, but of "
                f"{shown(state.get('method'))}, version {shown(state.get('version'))}"
            )
        there = space.described()
        if state.get("space") != there:
            raise SearchError(f"the search was over {state.get('space')}, this space is {there}")
        try:
            settings = {name: read_setting(value) for name, value in state["settings"].items()}
            method = cls(space, **settings)
            method._replay(state)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise SearchError(
                f"the state of the {cls.name!r} search is damaged: {error!r}"
            ) from None
        return method

    def _replay(self, state: Mapping[str, Any]) -> None:
        """Let everything happen again, in the order that it had."""
        trials = [Trial.from_json(values) for values in state["trials"]]
        for values in state["outcomes"]:
            for trial in trials[len(self.trials) : values["trials"]]:
                self._keep(trial)
            self.tell(trials[values["number"]], Outcome.from_json(_told(values)))
        for trial in trials[len(self.trials) :]:
            self._keep(trial)

    # -- for subclasses ----------------------------------------------------------------

    @abstractmethod
    def _propose(self, number: int) -> Trial | None:
        """Trial `number`, the next one, or None. Changes nothing."""

    def _asked(self, trial: Trial) -> None:  # noqa: B027
        """Called for every trial that was handed out, in order."""

    def _told(self, trial: Trial, outcome: Outcome) -> None:  # noqa: B027
        """Called for every outcome, in the order of telling."""

    def _keep(self, trial: Trial) -> None:
        self.trials.append(trial)
        self._open[trial.number] = trial
        self._asked(trial)

    def _rng(self, *key: int) -> np.random.Generator:
        """The generator of all draws for one thing, known by its number."""
        return np.random.default_rng([self.seed, *key])

    def _training_seed(self, *key: int) -> int:
        """The seed of a training, known by its number."""
        sequence = np.random.SeedSequence([self.seed, *key], spawn_key=(_FOR_TRAINING,))
        return int(sequence.generate_state(1)[0])

    def _trial(self, number: int, cell: Cell, **info: Any) -> Trial:
        """A trial that trains a cell to the end, with its own seed."""
        return Trial(number, cell, self.epochs, self._training_seed(number), info)


@dataclass(eq=False, kw_only=True)
class SequentialMethod(Method):
    """A method whose next trial depends on the outcomes of earlier ones.

    Trial n is made from the outcomes of trials 0 to n − lag and of no others, even if more are
    known. So up to `lag` trials can be open at once, and the same trials are made by any number
    of workers up to `lag`, in whatever order their trainings end. A training that takes long
    holds up the search after `lag` − 1 others. With `lag=None` the method uses all that it has
    been told when it is asked: no waiting, but what is asked then depends on who ends first.

    Args:
        lag: 1 is one trial after the other.
    """

    lag: int | None = 8
    _settled: int = field(default=0, init=False, repr=False)
    """How many trials from the first on have all been told."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lag is not None:
            check_count(self.title, "lag", self.lag, 1, 10**6)

    def ask(self) -> Trial | None:
        return super().ask() if self._ready(len(self.trials)) else None

    def _ready(self, number: int) -> bool:
        """Whether all is known that trial `number` depends on."""
        while self._settled in self.outcomes:
            self._settled += 1
        return self.lag is None or self._settled > number - self.lag

    def _known(self, number: int) -> list[Trial]:
        """The trials whose outcomes trial `number` may depend on, oldest first.

        By number, or without a lag in the order of telling.
        """
        if self.lag is None:
            return [self.trials[n] for n in self.outcomes]
        return self.trials[: max(0, number - self.lag + 1)]

    def _loss(self, trial: Trial) -> float:
        return self.outcomes[trial.number].loss


def drawn_of(trial: Trial) -> Drawn:
    """What was drawn for a trial."""
    return Drawn(trial.cell, trial.info.get("settings", {}))


def run(method: Method, evaluate: Callable[[Trial], Outcome], trials: int) -> None:
    """Run a search in this process, one trial after the other, until it has so many trials.

    Trials that are open, after a restart, come first.
    """
    for trial in method.pending():
        method.tell(trial, evaluate(trial))
    while len(method.trials) < trials and (new := method.ask()) is not None:
        method.tell(new, evaluate(new))


def _told(values: Mapping[str, Any]) -> dict[str, Any]:
    """An outcome in a state, without its place in the log."""
    return {name: value for name, value in values.items() if name not in ("number", "trials")}


def written_setting(value: Any) -> Any:
    """A setting as a JSON value."""
    if isinstance(value, Cell):
        return {"cell": value.to_json(indent=None)}
    return [written_setting(item) for item in value] if isinstance(value, list | tuple) else value


def read_setting(value: Any) -> Any:
    """The inverse of `written_setting`, with tuples for lists."""
    if isinstance(value, dict):
        return Cell.from_json(value["cell"])
    return tuple(read_setting(item) for item in value) if isinstance(value, list) else value
