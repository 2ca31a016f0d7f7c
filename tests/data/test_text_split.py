"""Which lines go where: the shares are kept, blocks stay together, and a seed decides."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.data import DataError
from cellwright.data.texts.split import Shares, by_file, by_share, is_even

TENTHS = Shares(0.1, 0.1)


def parts(lines: int, shares: Shares = TENTHS, seed: int = 0) -> list[str]:
    blocks = by_share(lines, shares, seed)
    return [blocks.part(line) for line in range(lines)]


def test_ten_lines():
    assert Counter(parts(10)) == {"train": 8, "valid": 1, "test": 1}


def test_a_long_text_has_ten_blocks_of_each_spread_over_it():
    placed = parts(10_000)
    assert Counter(placed) == {"train": 8_000, "valid": 1_000, "test": 1_000}
    for stretch in range(10):
        inside = Counter(placed[1_000 * stretch : 1_000 * (stretch + 1)])
        assert inside == {"train": 800, "valid": 100, "test": 100}
    blocks = Counter(part for part, _ in groupby(placed))
    assert blocks["valid"] <= 10
    assert blocks["test"] <= 10


def test_a_seed_decides():
    assert parts(1_000, seed=1) == parts(1_000, seed=1)
    assert parts(1_000, seed=1) != parts(1_000, seed=2)


@given(st.integers(3, 3_000), st.floats(0.001, 0.4), st.floats(0.001, 0.4), st.integers(0, 9))
def test_every_part_gets_its_share(lines: int, valid: float, test: float, seed: int):
    if lines < 3 / (1 - valid - test):
        lines += 15
    found = Counter(parts(lines, Shares(valid, test), seed))
    assert abs(found["valid"] - max(1, valid * lines)) <= 1
    assert abs(found["test"] - max(1, test * lines)) <= 1
    assert found["train"] >= 1


def test_too_few_lines():
    with pytest.raises(DataError, match=r"has 2 lines, too few .*; 4 are enough"):
        parts(2)
    assert set(parts(3)) == {"train", "valid", "test"}


@pytest.mark.parametrize(
    ("valid", "test", "message"),
    [
        (0.0, 0.1, "the share of valid is 0;"),
        (0.1, 1.0, "the share of test is 1;"),
        (float("nan"), 0.1, "the share of valid is nan"),
        (0.6, 0.4, "nothing is left for train"),
    ],
)
def test_shares_that_do_not_add_up(valid: float, test: float, message: str):
    with pytest.raises(DataError, match=message):
        Shares(valid, test)


def test_whole_files():
    names = [f"{number}.txt" for number in range(40)]
    found = by_file(names, [100] * 40, TENTHS, seed=0)
    assert Counter(found) == {"train": 32, "valid": 4, "test": 4}
    assert is_even(found, [100] * 40, TENTHS)
    assert found == by_file(names, [100] * 40, TENTHS, seed=0)
    assert found != by_file(names, [100] * 40, TENTHS, seed=1)


def test_files_that_are_few_or_uneven():
    found = by_file(["a", "b", "c"], [1, 1, 1], TENTHS, seed=0)
    assert sorted(found) == ["test", "train", "valid"]
    assert not is_even(found, [1, 1, 1], TENTHS)
    large = [1_000_000, *[1] * 30]
    found = by_file([str(number) for number in range(31)], large, TENTHS, seed=0)
    assert {"train", "valid", "test"} == set(found)
    assert not is_even(found, large, TENTHS)
    with pytest.raises(DataError, match=r"there are 2 files .* 3 or more"):
        by_file(["a", "b"], [1, 1], TENTHS, seed=0)


@given(st.lists(st.integers(1, 1_000), min_size=3, max_size=40), st.integers(0, 5))
def test_every_part_gets_a_file(sizes: list[int], seed: int):
    found = by_file([str(number) for number in range(len(sizes))], sizes, Shares(0.4, 0.5), seed)
    assert set(found) == {"train", "valid", "test"}
