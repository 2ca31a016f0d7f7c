"""Successive halving: how many go on for how long, and who is the best in the end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from cellwright.search.one_shot.choosing import Candidate, choose
from cellwright.search.one_shot.halving import Rung, halve, rungs


@pytest.mark.parametrize(
    ("cells", "epochs", "eta", "wanted"),
    [
        (9, 9, 3, [(3, 9), (9, 3)]),
        (27, 9, 3, [(1, 27), (3, 9), (9, 3)]),
        (8, 4, 2, [(1, 8), (2, 4), (4, 2)]),
        (8, 1, 2, [(1, 8)]),  # no shorter training than an epoch
        (2, 10, 3, [(10, 2)]),  # one alone could not be compared
        (100, 10, 3, [(1, 100), (3, 33), (10, 11)]),
    ],
)
def test_rungs(cells: int, epochs: int, eta: int, wanted: list[tuple[int, int]]) -> None:
    assert rungs(cells, epochs, eta) == [Rung(*each) for each in wanted]


def test_the_better_part_goes_on_and_what_diverges_does_not() -> None:
    curves = {"a": [5.0, 1.0], "b": [math.nan, 0.0], "c": [4.0, 3.0], "d": [3.0, math.inf]}
    trained: list[tuple[str, int]] = []

    def train(names: Sequence[str], epochs: int) -> list[float]:
        trained.extend((name, epochs) for name in names)
        return [curves[name][epochs - 1] for name in names]

    reached = halve("abcd", rungs(4, 2, 2), train)
    assert trained == [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("c", 2), ("d", 2)]
    assert [epochs for epochs, _ in reached] == [1, 1, 2, 2]
    assert reached[2][1] == 3.0


def test_longer_before_shorter_then_the_diverged_then_the_dead() -> None:
    def one(number: int, retrained: float | None, epochs: int, dead: bool = False) -> Candidate:
        return Candidate(0, "id", "ok", 5.0, 1.0, retrained, 0.0, number, "drawn", epochs, dead)

    some = [one(1, None, 0, True), one(2, 3.0, 1), one(3, math.inf, 4), one(4, 3.5, 4)]
    assert [each.number for each in choose(some)] == [4, 2, 3, 1]
