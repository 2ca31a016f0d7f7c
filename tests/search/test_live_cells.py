"""No space and no method hands out a cell that surely cannot learn."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from synthetic import plain_pool

from cellwright.bench.building.method import Repeated
from cellwright.cell.liveness import surely_dead
from cellwright.search.blackbox.aging_evolution import AgingEvolution
from cellwright.search.blackbox.ask_tell import Method
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.bayesian_optimization import BayesianOptimization
from cellwright.search.blackbox.hyperband import Hyperband
from cellwright.search.blackbox.local_search import LocalSearch
from cellwright.search.blackbox.methods import restore
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.search.blackbox.smac_search import SmacSearch
from cellwright.search.blackbox.tpe import Tpe
from cellwright.spaces import SPACES, Ess, Pool, Space, SpaceError, space
from cellwright.testing.methods import described, work
from effort import many

SMALL = Ess(nodes=1, m=1)
"""Four in ten of its cells are dead."""

TOO_FEW = Ess(nodes=1, m=1, operations=("tanh",), gate_operations=("tanh", "relu"))
"""All of its cells are."""

SPACES_TO_TRY: dict[str, Space] = {
    **{name: space(name) for name in SPACES},
    "ess, small": SMALL,
    "ess, as in the demo": Ess(nodes=4, m=2),
    "fenas, small": space("fenas", nodes=3),
}
HAVE_DEAD = {"ess, small", "ess, as in the demo", "fenas, small"}


def live_pool() -> Pool:
    pool = plain_pool(SMALL, 60)
    return Pool(pool.cells, pool.features, live_only=True)


METHODS: dict[str, Callable[..., Method]] = {
    "random": partial(RandomSearch, SMALL),
    "random, repeats allowed": partial(RandomSearch, SMALL, distinct=False),
    "evolution": partial(AgingEvolution, SMALL, population=8, sample=3),
    "hyperband": partial(Hyperband, SMALL, epochs=9),
    "asynchronous hyperband": partial(AsynchronousHyperband, SMALL, epochs=9),
    "local search": partial(LocalSearch, SMALL, neighbours=5, patience=1),
    "benchmark": partial(Repeated, SMALL),
    "tpe": partial(Tpe, SMALL, startup=8),
    "tpe on a pool": partial(Tpe, live_pool(), startup=8),
    "bayesian optimisation": partial(
        BayesianOptimization, live_pool(), initial=10, batch=8, regressors=2, trees=5
    ),
    "smac": partial(SmacSearch, live_pool(), initial=10),
}
PACKAGES = {"tpe": "optuna", "bayesian optimisation": "xgboost", "smac": "smac"}


def make(name: str) -> Method:
    for start, package in PACKAGES.items():
        if name.startswith(start):
            pytest.importorskip(package)
    return METHODS[name](seed=1)


@pytest.mark.parametrize("name", SPACES_TO_TRY)
def test_a_space_s_live_samples_live(name: str):
    where, rng = SPACES_TO_TRY[name], np.random.default_rng(0)
    assert all(surely_dead(where.sample_live(rng)) is None for _ in range(many(20)))
    if name in HAVE_DEAD:
        assert any(surely_dead(where.sample(rng)) for _ in range(40))


def test_the_same_generator_gives_the_same_live_cells():
    first, second = ([SMALL.sample_live(np.random.default_rng(n)) for n in range(9)] for _ in "ab")
    assert first == second


def test_live_mutations_live_and_are_other_cells():
    rng = np.random.default_rng(0)
    cell = SMALL.sample_live(rng)
    children = [SMALL.mutate_live(cell, rng) for _ in range(20)]
    assert all(surely_dead(child) is None and child != cell for child in children)
    assert any(surely_dead(SMALL.mutate(cell, rng)) for _ in range(40))


def test_a_space_of_dead_cells_says_so():
    with pytest.raises(SpaceError, match=r"of 1,000 cells drawn from it none can learn"):
        TOO_FEW.sample_live(np.random.default_rng(0))


def test_a_pool_gives_what_was_chosen_unless_it_was_drawn():
    chosen, drawn = plain_pool(SMALL, 60), live_pool()
    dead = [cell for cell in chosen.cells if surely_dead(cell)]
    assert chosen.wanted(dead[0])
    assert not chosen.unwanted
    assert len(drawn.unwanted) == len(dead)
    assert drawn.settings() == chosen.settings()


@pytest.mark.parametrize("name", METHODS)
def test_no_method_asks_for_a_dead_cell(name: str):
    method = make(name)
    trials = work(method, 25)
    assert len(trials) == 25
    assert {surely_dead(trial.cell) for trial in trials} == {None}


@pytest.mark.parametrize("name", ["bayesian optimisation", "smac"])
def test_all_that_live_are_asked_for_and_then_it_is_finished(name: str):
    method = make(name)
    work(method, 1000)
    assert method.finished
    assert len(method.trials) == 60 - len(live_pool().unwanted)


def test_tpe_goes_on_as_it_would_have_with_draws_that_it_threw_away():
    method = make("tpe")
    work(method, 20)
    restored = restore(json.loads(json.dumps(method.state())), SMALL)
    assert described(work(restored, 30)) == described(work(method, 30))


def test_a_search_in_a_space_of_dead_cells_says_so():
    with pytest.raises(SpaceError, match="none can learn"):
        RandomSearch(TOO_FEW).ask()
