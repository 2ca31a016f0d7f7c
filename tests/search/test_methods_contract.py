"""What holds for every black-box method: one suite, run over all of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from synthetic import plain_pool

from cellwright.base.errors import UserError
from cellwright.search.blackbox.aging_evolution import AgingEvolution
from cellwright.search.blackbox.ask_tell import Method, Outcome, SearchError, Trial, run
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.auto import Auto
from cellwright.search.blackbox.bayesian_optimization import BayesianOptimization
from cellwright.search.blackbox.hyperband import Hyperband
from cellwright.search.blackbox.local_search import LocalSearch
from cellwright.search.blackbox.methods import METHODS, method, restore
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.search.blackbox.smac_search import SmacSearch
from cellwright.search.blackbox.tpe import Tpe
from cellwright.spaces import AnyCell, Enas, Fenas
from cellwright.testing import METHOD_CHECKS, check_method
from cellwright.testing.methods import described, work
from cellwright.testing.methods import evaluated as evaluate
from cellwright.trials.outcome import OutcomeError

ENAS = Enas(nodes=4)
FENAS = Fenas(nodes=9)
POOL = plain_pool(ENAS, 60)

Make = Callable[..., Method]
MAKERS: dict[str, Make] = {
    "random": partial(RandomSearch, ENAS),
    "random, repeats allowed": partial(RandomSearch, ENAS, distinct=False, epochs=10),
    "evolution": partial(AgingEvolution, ENAS, population=12, sample=4),
    "evolution, one by one": partial(AgingEvolution, ENAS, population=6, sample=3, lag=1),
    "evolution, no lag": partial(AgingEvolution, ENAS, population=6, sample=3, lag=None),
    "evolution of FENAS": partial(AgingEvolution, FENAS, population=10, initial=["fenas-lstm"]),
    "hyperband": partial(Hyperband, ENAS, epochs=9),
    "hyperband, overlapping": partial(Hyperband, ENAS, epochs=9, overlap=True),
    "asha": partial(AsynchronousHyperband, ENAS, epochs=27),
    "asynchronous hyperband": partial(AsynchronousHyperband, ENAS, epochs=27, brackets=3),
    "asynchronous hyperband, lag": partial(AsynchronousHyperband, ENAS, epochs=9, lag=8),
    "auto": partial(Auto, AnyCell(), epochs=9, initial=["lstm", "gru"], candidates=3, lag=8),
    "auto, no lag": partial(Auto, ENAS, epochs=9, initial=[], candidates=1),
    "local search": partial(LocalSearch, ENAS, neighbours=8, patience=1),
    "tpe": partial(Tpe, ENAS, startup=10),
    "tpe, no lag": partial(Tpe, ENAS, startup=10, lag=None),
    "tpe on a pool": partial(Tpe, POOL, startup=10),
    "bayesian optimisation": partial(
        BayesianOptimization, POOL, initial=10, batch=8, regressors=4, trees=10
    ),
    "smac": partial(SmacSearch, POOL, initial=10),
}
PACKAGES = {"tpe": "optuna", "bayesian-optimization": "xgboost", "smac": "smac"}
"""What some methods need."""

ORDER_COUNTS = {
    "evolution, no lag", "hyperband, overlapping", "asha", "asynchronous hyperband", "tpe, no lag",
    "auto, no lag",
}  # fmt: skip
"""The methods whose trials depend on who ends first."""

ONE_OPEN = {"evolution, one by one"}
TRIALS = 40


def maker(name: str) -> Make:
    """The maker, or the test is skipped where its package is missing."""
    found = MAKERS[name]
    package = PACKAGES.get(found.func.name)  # type: ignore[attr-defined]
    if package is not None:
        pytest.importorskip(package, reason=f"{package} is not installed (extra: search)")
    return found


@pytest.fixture(params=list(MAKERS))
def make(request: pytest.FixtureRequest) -> Make:
    return maker(request.param)


def test_every_method_is_tested() -> None:
    assert {made.func.name for made in MAKERS.values()} == set(METHODS)  # type: ignore[attr-defined]


@pytest.mark.parametrize("check", METHOD_CHECKS, ids=lambda check: check.__name__)
def test_it_holds_what_a_method_has_to_hold(make: Make, check: Callable[[Make], None]) -> None:
    check(make)


class Repeating(RandomSearch):
    """A broken method: all its trials train with the same seed."""

    name = "repeating"

    def _training_seed(self, *key: int) -> int:
        return 7


def test_a_broken_method_is_found() -> None:
    with pytest.raises(AssertionError, match="train with the same seed"):
        check_method(partial(Repeating, ENAS))


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ORDER_COUNTS])
def test_trials_do_not_depend_on_the_workers(name: str) -> None:
    make = maker(name)
    one = described(work(make(seed=3), TRIALS, 1))
    for workers, seed in ((2, 0), (8, 1)):
        other = work(make(seed=3), TRIALS, workers, random.Random(seed))
        assert described(other) == one


@pytest.mark.parametrize("name", sorted(ORDER_COUNTS))
def test_these_do_depend_on_the_workers_and_say_so(name: str) -> None:
    made = maker(name)
    one = described(work(made(seed=3), TRIALS, 1))
    assert one == described(work(made(seed=3), TRIALS, 1))
    assert one != described(work(made(seed=3), TRIALS, 8, random.Random(0)))


@pytest.mark.parametrize("name", list(MAKERS))
def test_many_trials_can_be_open(name: str) -> None:
    made = maker(name)(seed=4)
    asked: list[Trial] = []
    while len(asked) < 20 and (trial := made.ask()) is not None:
        asked.append(trial)
    assert len(asked) == 1 if name in ONE_OPEN else len(asked) >= 6
    assert described(made.pending()) == described(asked)


def test_run_runs_and_finishes_what_is_open(make: Make) -> None:
    made = make(seed=8)
    made.ask()
    run(made, evaluate, 20)
    assert len(made.trials) == 20
    assert not made.pending()


def test_a_state_is_of_one_method_and_one_space(make: Make) -> None:
    made = make()
    wrong = AgingEvolution if made.name == "random" else RandomSearch
    with pytest.raises(SearchError, match="is not the state of"):
        wrong.from_state(made.state(), made.space)
    with pytest.raises(SearchError, match="the search was over"):
        restore(made.state(), Enas(nodes=7))
    with pytest.raises(SearchError, match="is damaged"):
        restore({**made.state(), "outcomes": [{}]}, made.space)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("evolution", {}, "did you mean 'aging-evolution'"),
        ("x", {}, "methods are random, "),
        ("random", {"epoch": 3}, "did you mean 'epochs'"),
        ("random", {"epochs": 0}, "epochs must be a whole number"),
        ("random", {"seed": -1}, "seed must be a whole number"),
        ("random", {"distinct": 1}, "distinct must be true or false"),
        ("aging-evolution", {"population": 4, "lag": 5}, "lag must be at most the population"),
        ("aging-evolution", {"sample": 0}, "sample must be a whole number"),
        ("aging-evolution", {"initial": ["lstm"]}, "does not know; it knows"),
        ("aging-evolution", {"initial": [7]}, "initial must be cells, not 7"),
        ("aging-evolution", {"initial": "lstm"}, "initial must be a list"),
        ("aging-evolution", {"lag": 0}, "lag must be a whole number"),
        ("hyperband", {"eta": 1}, "eta must be a whole number from 2"),
        ("hyperband", {"rounds": 0}, "rounds must be a whole number"),
        ("asynchronous-hyperband", {"epochs": 9, "brackets": 4}, "brackets must be .* 1 to 3"),
        ("local-search", {"neighbours": 0}, "neighbours must be a whole number"),
        ("tpe", {"startup": 0}, "startup must be a whole number"),
        ("bayesian-optimization", {}, "give it a pool"),
        ("smac", {}, "give it a pool"),
    ],
)
def test_mistakes_are_named(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        method(name, ENAS, **settings)


def test_an_outcome_without_a_value_must_say_why() -> None:
    with pytest.raises(OutcomeError, match="finite value"):
        Outcome(float("nan"))
    assert Outcome(float("nan"), "diverged").loss == float("inf")
    assert Outcome(3.0, "failed").loss == float("inf")
    kept = Outcome.from_json(json.loads(json.dumps(Outcome(2.5, cost=3, curve=(3, 2.5)).to_json())))
    assert kept == Outcome(2.5, "ok", 3, (3, 2.5))
