"""The leader's part: the method in memory, its log in the store, and how both move on together.

One driver of a study at a time is the leader. It alone asks and tells, so a method never waits
for a lock and needs to be restored only when the leader changes. What it does is written in one
transaction that also checks that the log is where it was (`cellwright.trials.store.log`): a driver
that was thought dead, and that another has replaced, writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import Connection

from cellwright.base.errors import UserError
from cellwright.trials.outcome import Outcome
from cellwright.trials.store import Store, Study
from cellwright.trials.store.damage import check_study
from cellwright.trials.store.errors import DamagedError
from cellwright.trials.store.log import Log, NewTrial, Step, Told, read_log
from cellwright.trials.store.trials import FAILED
from cellwright.trials.study.budget import Budget
from cellwright.trials.study.events import StudyError
from cellwright.trials.trial import Trial

LOG = ("trials", "outcomes")
"""The parts of a method's state that grow; the store keeps them as its table of trials."""


_LOOKS = 3


class Method(Protocol):
    """A black-box method, such as `cellwright.search.blackbox.ask_tell.Method`.

    Its `state()` has a list of `trials`, as they write themselves, a list of `outcomes`, each with
    its trial's `number` and the number of `trials` asked by then, and nothing else that changes.
    """

    space: Any
    trials: list[Trial]

    def ask(self) -> Trial | None: ...

    def tell(self, trial: Trial, outcome: Outcome) -> None: ...

    @property
    def finished(self) -> bool: ...

    def state(self) -> dict[str, Any]: ...

    @classmethod
    def from_state(cls, state: Mapping[str, Any], space: Any) -> Any: ...


class Leader:
    """A method that is where the store's log is.

    Args:
        fresh: the method as it begins.
        target: ask no more than so many trials.
        budget: ask for no more once this is used up.
    """

    def __init__(
        self,
        store: Store,
        study: Study,
        fresh: Method,
        target: int,
        budget: Budget,
    ) -> None:
        self._target, self._window, self._budget = target, study.window, budget
        log = _whole_log(store, study)
        self._method: Method = _told_again(fresh, study, log)
        self._asked, self._told = len(log.trials), len(log.outcomes)
        self._known = {told["number"]: Outcome.from_json(_brief(told)) for told in log.outcomes}
        self._exhausted = False
        self.failed_in_a_row = 0
        """How many outcomes were failures since the last that was not, or since this began."""
        self.last_error: str | None = None
        self._outcomes: list[Told] = []
        self._trials: list[NewTrial] = []

    @property
    def open(self) -> int:
        """How many trials were asked and not told."""
        return self._asked - self._told

    @property
    def complete(self) -> bool:
        """Whether nothing is open, and nothing more is to be asked."""
        return not self.open and (self._ends or self._asked >= self._target)

    @property
    def _ends(self) -> bool:
        """Whether the method, or the budget, has no more trials."""
        return self._method.finished or self._spent

    @property
    def _spent(self) -> bool:
        """Whether the budget is used up."""
        return self._budget.spent(self._method.trials, self._known)

    def plan(self, ended: Sequence[Mapping[str, Any]], slots: int) -> Step | None:
        """Tell what has ended, ask for what there is room for; None if neither is possible.

        The method has moved on then, and the step is to be written; if it cannot be, this leader
        is of no more use.
        """
        asked, told, exhausted = self._asked, self._told, self._exhausted
        self._outcomes, self._trials = [], []
        if self._window is None:
            for outcome in ended:
                self._tell(outcome)
            self._ask(slots)
        else:
            self._in_order({outcome["number"]: outcome for outcome in ended}, self._window)
        self._exhausted = self._ends
        if not self._outcomes and not self._trials and exhausted == self._exhausted:
            return None
        return Step(asked, told, self._outcomes, self._trials, self._exhausted)

    def _in_order(self, ended: Mapping[int, Mapping[str, Any]], window: int) -> None:
        """Ask and tell in an order that no worker's speed decides: ask as long as fewer than
        `window` trials are open, then tell the oldest open one, and so on."""
        self._ask(window)
        while self._told in ended:
            self._tell(ended[self._told])
            self._ask(window)

    def _tell(self, outcome: Mapping[str, Any]) -> None:
        number = outcome["number"]
        told = self._known[number] = Outcome.from_json(_brief(outcome))
        self._method.tell(self._method.trials[number], told)
        self._outcomes.append(Told(number, self._asked))
        self._told += 1
        self.failed_in_a_row = self.failed_in_a_row + 1 if outcome["status"] == FAILED else 0
        self.last_error = outcome.get("error") or self.last_error

    def _ask(self, most_open: int) -> None:
        while self.open < most_open and self._asked < self._target:
            if self._spent:
                return
            trial = self._method.ask()
            if trial is None:
                if not self.open and not self._method.finished:
                    raise StudyError(
                        "the method asks for no trial, although none is open and it says that it "
                        "is not finished"
                    )
                return
            self._trials.append(NewTrial(trial.cell.id, trial.to_json()))
            self._asked += 1


def _brief(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """What a method learns of an outcome; see `Outcome.brief`."""
    return {name: outcome[name] for name in ("value", "status", "cost", "curve")}


def _whole_log(store: Store, study: Study) -> Log:
    """The log, which only a leader writes. One that was replaced may just be writing its last
    step, so what seems to be missing is looked for again."""

    def read(connection: Connection) -> Log:
        check_study(connection, study.id)
        return read_log(connection, study.id)

    for _ in range(_LOOKS):
        log = store.read(read)
        if log.is_whole:
            return log
    raise DamagedError(
        f"it has asked for {log.asked} trials and told {log.told} outcomes by its own count, and "
        f"there are {len(log.trials)} and {len(log.outcomes)}"
    )


def _told_again(fresh: Method, study: Study, log: Log) -> Method:
    """The method as it is after all that the log says."""
    state = {**study.search, "trials": log.trials, "outcomes": log.outcomes}
    try:
        method: Method = type(fresh).from_state(state, fresh.space)
    except (UserError, KeyError, TypeError, IndexError, AttributeError) as error:
        _blame_a_cell(log)
        raise DamagedError(f"what it has asked and told does not fit its method: {error}") from None
    return method


def _blame_a_cell(log: Log) -> None:
    """Raise an error that names the trial whose cell cannot be read, if there is one."""
    for trial in log.trials:
        try:
            Trial.from_json(trial)
        except (UserError, TypeError) as error:
            raise DamagedError(f"its cell: {error}", f"trial {trial['number']}") from None
