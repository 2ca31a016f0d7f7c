"""`OwnMethod`: a class that has `ask` and `tell`, and nothing else, as a method like any other.

The adapter numbers trials, draws their seeds, checks the cells, and keeps the log. The class is
called in an order that no worker's speed decides: trial n is asked for when the outcomes of the
trials up to n − lag have been told, oldest first, and no others. Where `ask` gives None the next
outcome is told and it is asked again. So what the class does follows from its seed and the
outcomes alone, and a search that goes on after a kill is the class made anew, asked and told all
of it again.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from cellwright.base.errors import shown
from cellwright.cell import Cell
from cellwright.search.blackbox.ask_tell import Method, read_setting, written_setting
from cellwright.search.blackbox.own.guard import OwnMethodError, complaint, guarded
from cellwright.search.blackbox.own.own_class import SHARED, OwnClass
from cellwright.spaces import Space
from cellwright.spaces.settings import SettingError, check_count
from cellwright.trials.outcome import OK
from cellwright.trials.trial import Trial

_GIVES = "and should give a Cell, a pair (cell, epochs), a Trial or None"


class OwnMethod(Method):
    """A class of the user's own, as a method. Subclasses, one for each class, say which.

    Args:
        space: where the cells come from.
        epochs: how long a trial trains, or at most trains.
        seed: decides every draw.
        lag: how many trials may be open at once; see above.
        settings: of the class.
    """

    own: ClassVar[OwnClass]

    def __init__(
        self,
        space: Space,
        *,
        epochs: int | None = None,
        seed: int = 0,
        lag: int = SHARED["lag"],
        **settings: Any,
    ) -> None:
        self.own.check(settings)
        super().__init__(space, epochs=self.own.epochs if epochs is None else epochs, seed=seed)
        self.lag = check_count(self.title, "lag", lag, 1, 10**6)
        self._settings = {name: _kept(self.title, name, value) for name, value in settings.items()}
        self._told_of, self._wait_for = 0, 0
        arguments = self.own.arguments({"epochs": self.epochs, "lag": lag, **self._settings})
        with guarded(self.own.source, f"{self.own.kind.__name__}(…)", self.own.answer_seconds):
            self._object: Any = self.own.kind(space, seed=seed, **arguments)

    @property
    def finished(self) -> bool:
        """Whether the class says so: one that has no `finished` never is."""
        with guarded(self.own.source, "finished", self.own.answer_seconds):
            found = getattr(self._object, "finished", False)
            return bool(found() if callable(found) else found)

    def settings(self) -> dict[str, Any]:
        own = {name: written_setting(value) for name, value in self._settings.items()}
        return {"epochs": self.epochs, "seed": self.seed, "lag": self.lag, **own}

    def ask(self) -> Trial | None:
        trial = self._next(len(self.trials))
        if trial is not None:
            self._keep(trial)
        return trial

    def _propose(self, number: int) -> Trial | None:
        raise NotImplementedError  # `ask` is the class's own

    def _replay(self, state: Mapping[str, Any]) -> None:
        super()._replay(state)
        for then in self.trials:
            now = self._next(then.number)
            if now is None or _values(now) != _values(then):
                raise OwnMethodError(
                    f"{self.own.source}: asked again from the beginning, with the same seed and "
                    f"outcomes, it gives {_named(now)} for trial {then.number}, and gave "
                    f"{_named(then)} before: either its code has changed, or its draws do not all "
                    "come from its seed"
                )

    # -- the class's own calls -----------------------------------------------------------------

    def _next(self, number: int) -> Trial | None:
        """Trial `number`, or None if an outcome has to be known first, or there is no more."""
        due = max(self._wait_for, number - self.lag + 1)
        while True:
            while self._told_of < due:
                if self._told_of not in self.outcomes:
                    return None
                self._hand_over(self._told_of)
            if self.finished:
                return None
            call = f"ask() for trial {number}"
            with guarded(self.own.source, call, self.own.answer_seconds):
                answer = self._object.ask()
            if answer is not None:
                return self._made(number, answer)
            if self._told_of == number:
                raise self._wrong(
                    f"{call} gave None, although it was told the outcomes of all its trials; if "
                    "there is no more to ask for, its attribute finished has to be true"
                )
            due = self._wait_for = self._told_of + 1

    def _hand_over(self, number: int) -> None:
        """Tell the class the outcome of a trial."""
        trial, outcome = self.trials[number], self.outcomes[number]
        first, second = self.own.tell
        what = trial.cell if first == "cell" else replace(trial, info=dict(trial.info))
        how = outcome.loss if second == "value" else outcome
        self._told_of += 1
        with guarded(self.own.source, f"tell() for trial {number}", self.own.answer_seconds):
            self._object.tell(what, how)

    def _made(self, number: int, answer: Any) -> Trial:
        """The trial that an answer asks for."""
        if isinstance(answer, Trial):
            self._check(number, answer.cell, answer.fidelity)
            return self._checked_trial(number, replace(answer, number=number))
        cell, epochs = answer, self.epochs
        if isinstance(answer, tuple | list) and len(answer) == 2:
            cell, epochs = answer[0], _whole(answer[1])
        if not isinstance(cell, Cell):
            raise self._wrong(f"ask() for trial {number} gave {shown(answer)}, {_GIVES}")
        self._check(number, cell, epochs)
        before = self._shorter(cell, epochs)
        if before is None:
            return Trial(number, cell, epochs, self._training_seed(number))
        return Trial(number, before.cell, epochs, before.seed, {"continues": before.number})

    def _shorter(self, cell: Cell, epochs: int) -> Trial | None:
        """The trial whose training this one goes on with: the longest of this cell that went well,
        is shorter, and of which the class was told."""
        fine = [
            trial
            for trial in self.trials[: self._told_of]
            if trial.fidelity < epochs
            and trial.cell.id == cell.id
            and self.outcomes[trial.number].status == OK
        ]
        return max(fine, key=lambda trial: trial.fidelity, default=None)

    def _check(self, number: int, cell: object, epochs: Any) -> None:
        if not isinstance(cell, Cell):
            raise self._wrong(f"ask() for trial {number} gave a Trial of {shown(cell)}, no Cell")
        if (
            not isinstance(epochs, int)
            or isinstance(epochs, bool)
            or not 1 <= epochs <= self.epochs
        ):
            raise self._wrong(
                f"ask() for trial {number} wants {shown(epochs)} epochs; a training here has a "
                f"whole number of them, from 1 to {self.epochs}"
            )
        if not self.space.contains(cell):
            raise self._wrong(
                f"ask() for trial {number} gave a cell that {self.space.title} does not have: "
                f"{cell!r}"
            )

    def _checked_trial(self, number: int, trial: Trial) -> Trial:
        """A Trial that the class has made itself, with what others rely on."""
        check_count(f"{self.own.source}: trial {number}", "seed", trial.seed, 0, 2**63 - 1)
        try:
            json.dumps(dict(trial.info), allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise self._wrong(f"the info of trial {number} should be JSON values") from None
        if "continues" in trial.info:
            place = trial.info["continues"]
            known = type(place) is int and 0 <= place < self._told_of
            before = self.trials[place] if known else None
            if (
                before is None
                or (before.cell.id, before.seed) != (trial.cell.id, trial.seed)
                or before.fidelity >= trial.fidelity
                or self.outcomes[before.number].status != OK
            ):
                raise self._wrong(
                    f"trial {number} cannot go on with trial {shown(place)}: that has to be one of "
                    "the same cell and seed with fewer epochs that went well"
                )
        return trial

    def _wrong(self, problem: str) -> OwnMethodError:
        return complaint(self.own.source, self._object.ask, problem)


def _whole(value: Any) -> Any:
    """A whole number of any kind, numpy's too, as Python's; anything else as it is."""
    if isinstance(value, bool):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value


def _kept(owner: str, name: str, value: Any) -> Any:
    """A setting as it comes back from a store, so that the class is made the same both times."""
    try:
        return read_setting(json.loads(json.dumps(written_setting(value), allow_nan=False)))
    except (TypeError, ValueError, KeyError, RecursionError):
        raise SettingError(
            f"{owner}: {name} should be a number, a word, a cell or a list, not {shown(value)}"
        ) from None


def _values(trial: Trial) -> tuple[Any, ...]:
    return (trial.cell.id, trial.fidelity, trial.seed, dict(trial.info))


def _named(trial: Trial | None) -> str:
    if trial is None:
        return "nothing"
    return f"cell {trial.cell.id} for {trial.fidelity} epochs"
