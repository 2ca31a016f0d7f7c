"""What every black-box method has to hold."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from cellwright.cell import Cell
from cellwright.search.blackbox import methods
from cellwright.search.blackbox.ask_tell import Method, SearchError
from cellwright.spaces import Enas
from cellwright.trials.outcome import OK, Outcome
from cellwright.trials.trial import Trial

TRIALS = 40
"""How many trials a suite asks for."""

Evaluate = Callable[[Trial], Outcome]


class Make(Protocol):
    """Makes the method under test, over whatever space it needs."""

    def __call__(self, *, seed: int) -> Method:
        """With this seed."""


def loss_of(cell: Cell) -> float:
    """An objective without training: lowest for a deep chain of relus, then of tanhs."""
    relus = sum(node.op == "relu" for node in cell.nodes)
    tanhs = sum(node.op == "tanh" for node in cell.nodes)
    return len(cell.nodes) - 4.0 * relus - 1.5 * tanhs - 0.5 * cell.depth


def evaluated(trial: Trial) -> Outcome:
    """The objective, a little higher after few epochs."""
    return Outcome(loss_of(trial.cell) + 1 / trial.fidelity, cost=float(trial.fidelity))


def often_failing(trial: Trial) -> Outcome:
    """The objective, but a third of the trials diverge or fail."""
    if trial.seed % 3 == 0:
        return Outcome(float("nan"), "diverged" if trial.seed % 2 else "failed")
    return evaluated(trial)


def work(
    method: Method,
    trials: int,
    workers: int = 1,
    rng: random.Random | None = None,
    evaluate: Evaluate = evaluated,
) -> list[Trial]:
    """Let `workers` work until so many trials were asked; those that end last stay open.

    With `rng` any open trial may end next, without it the oldest does.
    """
    while len(method.trials) < trials:
        trial = method.ask() if len(method.pending()) < workers else None
        if trial is None:
            waiting = method.pending()
            if not waiting:
                assert method.finished, "nothing is open, so the method must go on"
                break
            done = rng.choice(waiting) if rng else waiting[0]
            method.tell(done, evaluate(done))
    return method.trials


def described(trials: list[Trial]) -> list[Any]:
    """Trials as values that are equal exactly for equal trials."""
    return [(t.number, t.cell.id, t.fidelity, t.seed, dict(t.info)) for t in trials]


# -- the suite -----------------------------------------------------------------------------------


def trials_are_numbered_cells_of_the_space(make: Make) -> None:
    """Trials count from 0, have cells of the space, and go on only with what they may."""
    method = make(seed=1)
    for number, trial in enumerate(work(method, TRIALS)):
        assert trial.number == number, "trials are numbered in the order of asking"
        assert method.space.contains(trial.cell), f"trial {number} is no cell of the space"
        assert 1 <= trial.fidelity <= method.epochs, f"trial {number} trains too long, or not"
        if "continues" in trial.info:
            before = method.trials[trial.info["continues"]]
            same = (before.cell, before.seed) == (trial.cell, trial.seed)
            assert same, f"trial {number} goes on with another cell or seed"
            assert before.fidelity < trial.fidelity, f"trial {number} goes on for no longer"
    fresh = {trial.seed for trial in method.trials if "continues" not in trial.info}
    assert len(fresh) > len(method.trials) // 2, "nearly all trials train with the same seed"


def the_same_seed_gives_the_same_trials(make: Make) -> None:
    """A seed decides everything."""
    first, again, other = (described(work(make(seed=s), TRIALS, 3)) for s in (5, 5, 6))
    assert first == again, "the same seed gave other trials"
    assert first != other, "another seed gave the same trials"


def outcomes_may_come_in_any_order(make: Make) -> None:
    """Many trials may be open, and any may end first."""
    asked = work(make(seed=2), TRIALS, workers=7, rng=random.Random(0))
    assert len(asked) == TRIALS, f"the method stopped after {len(asked)} trials"


def failed_trials_are_borne_and_never_best(make: Make) -> None:
    """What failed is never the best, and nothing goes on with it."""
    method = make(seed=5)
    work(method, TRIALS, workers=3, rng=random.Random(0), evaluate=often_failing)
    assert len(method.trials) == TRIALS, "failed trials stopped the method"
    found = method.best()
    assert found is not None, "there is no best trial, though many are fine"
    trial, outcome = found
    assert outcome.status == OK, "a failed trial is the best"
    assert method.outcomes[trial.number] is outcome, "the best outcome is another trial's"
    lowest = min(o.value for o in method.outcomes.values() if o.status == OK)
    assert outcome.value == lowest, "the best trial has not the lowest value"
    for later in method.trials:
        if "continues" in later.info:
            before = method.outcomes[later.info["continues"]]
            assert before.status == OK, f"trial {later.number} goes on with a failed one"


def a_search_in_which_everything_fails_goes_on(make: Make) -> None:
    """There is no best then, and no error."""
    method = make(seed=6)
    work(method, TRIALS, workers=2, evaluate=lambda trial: Outcome(float("inf"), "diverged"))
    assert len(method.trials) == TRIALS, "the method stopped since all trials failed"
    assert method.best() is None, "a failed trial is the best"


def a_restored_search_goes_on_as_the_first_would(make: Make) -> None:
    """The state is the whole method, as JSON values."""
    for after in (7, 29):
        first = make(seed=7)
        work(first, after, workers=4, rng=random.Random(1), evaluate=often_failing)
        state = json.loads(json.dumps(first.state(), allow_nan=False))
        second = type(first).from_state(state, first.space)
        same = described(second.pending()) == described(first.pending())
        assert same, "a restored method has other open trials"
        for each in (first, second):
            work(each, after + 15, workers=4, rng=random.Random(2), evaluate=often_failing)
        same = described(second.trials) == described(first.trials)
        assert same, "a restored method goes on with other trials"
        assert second.state() == first.state(), "a restored method comes to another state"


def outcomes_that_do_not_fit_are_refused(make: Make) -> None:
    """Trials of others, and trials told twice."""
    method = make(seed=9)
    trial = method.ask()
    assert trial is not None, "a fresh method asks for nothing"
    foreign = Trial(0, trial.cell, trial.fidelity, trial.seed + 1)
    for wrong in (foreign, Trial(99, trial.cell, 1, 1), Trial(-1, trial.cell, 1, 1)):
        _refuses(method, wrong, "takes the outcome of a trial that it never asked for")
    method.tell(trial, Outcome(1.0))
    _refuses(method, trial, "takes the outcome of a trial twice")


def _refuses(method: Method, trial: Trial, otherwise: str) -> None:
    try:
        method.tell(trial, Outcome(1.0))
    except SearchError:
        return
    raise AssertionError(f"the method {otherwise}")


METHOD_CHECKS: tuple[Callable[[Make], None], ...] = (
    trials_are_numbered_cells_of_the_space,
    the_same_seed_gives_the_same_trials,
    outcomes_may_come_in_any_order,
    failed_trials_are_borne_and_never_best,
    a_search_in_which_everything_fails_goes_on,
    a_restored_search_goes_on_as_the_first_would,
    outcomes_that_do_not_fit_are_refused,
)


def check_method(make: Make | str | type, **settings: Any) -> None:
    """All that a black-box method has to hold.

    >>> from functools import partial
    >>> from cellwright.search.blackbox.random_search import RandomSearch
    >>> from cellwright.spaces import Enas
    >>> check_method(partial(RandomSearch, Enas(nodes=4)))

    Args:
        make: makes the method with a seed; or a class of one's own with `ask` and `tell`, or its
            place (`mine.py:Mine`), which is then made over a small space of ENAS cells.
        settings: of such a class.
    """
    if isinstance(make, str | type):
        make = partial(methods.method, make, Enas(nodes=4), **settings)
    for check in METHOD_CHECKS:
        check(make)
