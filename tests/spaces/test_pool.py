"""`Pool`: a list of cells with features as a space."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from cellwright import Cell
from cellwright.base.errors import UserError
from cellwright.spaces import Enas, Pool, SpaceError

ENAS = Enas(nodes=5)


def some_cells(count: int) -> list[Cell]:
    rng = np.random.default_rng(0)
    found: dict[str, Cell] = {}
    while len(found) < count:
        cell = ENAS.sample(rng)
        found[cell.id] = cell
    return list(found.values())


CELLS = some_cells(6)


def test_nearest_by_hand() -> None:
    features = [[1, 0], [0, 1], [-1, 0], [0, -3], [2, 2], [5, 0.1]]
    by_angle = Pool(CELLS, features)
    assert by_angle.nearest([0, -1]) == 3
    assert by_angle.nearest([10, 9]) == 4
    assert by_angle.nearest([3, 0.06]) == 5
    assert by_angle.nearest([0.5, 0]) == 0
    by_length = Pool(CELLS, features, "euclidean")
    assert by_length.nearest([0, -1.1]) in (0, 2, 3)
    assert by_length.nearest([0, -2]) == 3
    assert by_length.nearest([3, 0.06]) == 5
    assert by_length.nearest([1, 0], without=[0]) == 1


def test_choices_are_the_range_of_the_features() -> None:
    pool = Pool(CELLS, np.arange(12).reshape(6, 2), "euclidean")
    chosen = pool.choices()
    assert chosen is not None
    assert {k: (v.low, v.high) for k, v in chosen.items()} == {"v00": (0, 10), "v01": (1, 11)}
    for place, cell in enumerate(CELLS):
        assert pool.decode({"v01": 2 * place + 1, "v00": 2 * place}) == cell


def test_a_mutation_is_another_cell_and_rather_a_near_one() -> None:
    features = [[0.0], [0.4], [100], [101], [102], [103]]
    pool = Pool(CELLS, features, "euclidean")
    rng = np.random.default_rng(0)
    found = Counter(pool.place(pool.mutate(CELLS[0], rng)) for _ in range(100))
    assert 0 not in found
    assert found[1] > 70


def test_features_that_are_all_alike_still_lead_to_another_cell() -> None:
    pool = Pool(CELLS, np.zeros((6, 3)))
    assert pool.mutate(CELLS[0], np.random.default_rng(0)) != CELLS[0]


def test_samples_come_from_the_pool_and_reach_all_of_it() -> None:
    pool = Pool(CELLS)
    rng = np.random.default_rng(0)
    assert {pool.sample(rng) for _ in range(100)} == set(CELLS)
    assert not pool.contains(some_cells(7)[6])
    assert pool.size() == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "at least one cell"),
        (([CELLS[0], CELLS[0]],), "must be different"),
        ((CELLS, np.zeros((5, 2))), "one row for each of its 6 cells"),
        ((CELLS, np.zeros(6)), "one row for each"),
        ((CELLS, np.full((6, 1), np.nan)), "finite"),
        ((CELLS, [["a"]] * 6), "must be numbers"),
        ((CELLS, np.zeros((6, 1)), "manhattan"), "distance has no 'manhattan'"),
    ],
)
def test_mistakes_are_named(arguments: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Pool(*arguments)


def test_a_pool_without_features_says_so() -> None:
    pool = Pool(CELLS)
    assert pool.choices() is None
    with pytest.raises(SpaceError, match="has no features"):
        pool.mutate(CELLS[0], np.random.default_rng(0))


def test_settings_tell_pools_apart() -> None:
    assert Pool(CELLS).settings() == Pool(CELLS).settings()
    assert Pool(CELLS).settings() != Pool(CELLS[:5]).settings()
    assert Pool(CELLS, np.zeros((6, 1))).settings() != Pool(CELLS, np.ones((6, 1))).settings()


def test_more_dimensions_than_two_digits_count() -> None:
    features = np.eye(6, 120) + np.arange(120) / 1000
    pool = Pool(CELLS, features, "euclidean")
    chosen = pool.choices()
    assert chosen is not None
    for place in range(6):
        point = dict(zip(chosen, map(float, features[place]), strict=True))
        assert pool.decode(point) == CELLS[place]
