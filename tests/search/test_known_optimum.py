"""Where the best cell is known, searching must be better than drawing at random.

At equal budget, over 12 seeds, by a one-sided test. The objective is of `synthetic`: no noise,
so what differs between two runs is only where a method looked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import pytest
from synthetic import plain_pool

from cellwright.search.blackbox.aging_evolution import AgingEvolution
from cellwright.search.blackbox.ask_tell import Method, run
from cellwright.search.blackbox.bayesian_optimization import BayesianOptimization
from cellwright.search.blackbox.features import draw_pool
from cellwright.search.blackbox.local_search import LocalSearch
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.search.blackbox.smac_search import SmacSearch
from cellwright.search.blackbox.tpe import Tpe
from cellwright.spaces import Enas, Pool, Space
from cellwright.testing.methods import evaluated as evaluate
from cellwright.testing.methods import loss_of as loss
from cellwright.testing.methods import work

SPACE = Enas(nodes=6)
SEEDS = 12
TRIALS = 50


def found(make: Callable[..., Method], seeds: int = SEEDS) -> list[float]:
    """The lowest value that each seed finds."""
    values = []
    for seed in range(seeds):
        search = make(epochs=1, seed=seed)
        run(search, evaluate, TRIALS)
        best = search.best()
        assert best is not None
        values.append(best[1].value)
    return values


@cache
def found_at_random(space: Space | None = None) -> list[float]:
    return found(partial(RandomSearch, space or SPACE))


@cache
def pool() -> Pool:
    return draw_pool(SPACE, 300, 10)


def better(values: list[float], others: list[float]) -> bool:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed (extra: metrics)")
    return bool(stats.mannwhitneyu(values, others, alternative="less").pvalue < 0.05)


def test_evolution() -> None:
    make = partial(AgingEvolution, SPACE, population=10, sample=5, lag=4)
    assert better(found(make), found_at_random())


def test_local_search() -> None:
    assert better(found(partial(LocalSearch, SPACE, neighbours=5)), found_at_random())


def test_tpe() -> None:
    pytest.importorskip("optuna", reason="optuna is not installed (extra: search)")
    assert better(found(partial(Tpe, SPACE, startup=10, lag=4)), found_at_random())


def test_bayesian_optimisation_on_graph2vec_features() -> None:
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    pytest.importorskip("xgboost", reason="xgboost is not installed (extra: search)")
    make = partial(BayesianOptimization, pool(), regressors=8, trees=30)
    assert better(found(make), found_at_random(pool()))


def test_smac_on_graph2vec_features() -> None:
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    pytest.importorskip("smac", reason="smac is not installed (extra: search)")
    make = partial(SmacSearch, pool(), initial=10, random_share=0.2, lag=4)
    assert better(found(make, seeds=10), found_at_random(pool()))


def test_random_search_is_no_better_than_itself() -> None:
    """The test of the test."""
    others = [
        min(loss(t.cell) + 1 for t in work(RandomSearch(SPACE, epochs=1, seed=seed), TRIALS))
        for seed in range(100, 100 + SEEDS)
    ]
    assert not better(others, found_at_random())


def test_bayesian_optimisation_chooses_the_lowest_bounds() -> None:
    """With one regressor there is no spread, so the batch is what it predicts to be lowest."""
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed (extra: search)")
    cells = plain_pool(Enas(nodes=4), 80)
    search = BayesianOptimization(cells, initial=30, batch=5, regressors=1, trees=20, seed=1)
    run(search, evaluate, 30)
    batch = [search.ask() for _ in range(5)]
    assert search.ask() is None  # the next batch needs this one's outcomes
    drawn = search._rng(30).integers(30, size=15)
    places = [cells.place(trial.cell) for trial in search.trials[:30]]
    losses = [search.outcomes[n].loss for n in range(30)]
    data = xgboost.DMatrix(cells.features[[places[i] for i in drawn]], [losses[i] for i in drawn])
    settings = {"objective": "reg:squarederror", "max_depth": 15, "nthread": 1}
    predicted = xgboost.train(settings, data, 20).predict(xgboost.DMatrix(cells.features))
    unseen = [place for place in range(80) if place not in places]
    ranked = sorted(unseen, key=lambda place: predicted[place])[:5]
    assert [cells.place(trial.cell) for trial in batch if trial is not None] == ranked


@pytest.mark.parametrize(
    ("kind", "package"), [(BayesianOptimization, "xgboost"), (SmacSearch, "smac")]
)
def test_a_pool_is_searched_to_its_end(kind: type[Method], package: str) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed (extra: search)")
    cells = plain_pool(Enas(nodes=3), 25)
    search = kind(cells, initial=10)  # type: ignore[call-arg]
    run(search, evaluate, 1000)
    assert search.finished
    assert {trial.cell.id for trial in search.trials} == {cell.id for cell in cells.cells}
    assert len(search.trials) == 25
