"""The way that calls are run follows what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from cellwright.engine.ways import Way, Ways

BOTH, COLUMNS, ALONE = Way(2), Way(2, split_columns=True), Way(1)


def taken(ways: Ways, calls: int, cost: Callable[[Way], float]) -> Counter[Way]:
    counts: Counter[Way] = Counter()
    for _ in range(calls):
        way = ways.choose()
        counts[way] += 1
        ways.learn(way, cost(way))
    return counts


def test_the_first_way_stays_while_it_is_the_fastest() -> None:
    counts = taken(Ways([BOTH, ALONE]), 2000, lambda way: 2.0 / way.threads)
    assert counts[ALONE] < 40


def test_load_is_noticed_within_a_few_calls_and_so_is_its_end() -> None:
    ways = Ways([BOTH, COLUMNS, ALONE])
    quiet = {BOTH: 1.0, COLUMNS: 1.2, ALONE: 1.8}
    loaded = {BOTH: 9.0, COLUMNS: 20.0, ALONE: 2.2}
    taken(ways, 500, quiet.__getitem__)
    assert taken(ways, 60, loaded.__getitem__)[ALONE] > 30
    assert taken(ways, 400, loaded.__getitem__)[ALONE] > 360
    taken(ways, 500, quiet.__getitem__)
    assert taken(ways, 400, quiet.__getitem__)[BOTH] > 360


def test_one_slow_call_changes_nothing() -> None:
    ways = Ways([BOTH, ALONE])
    taken(ways, 50, lambda way: 2.0 / way.threads)
    ways.learn(BOTH, 500.0)
    assert taken(ways, 100, lambda way: 2.0 / way.threads)[BOTH] > 80


def test_a_single_way_is_always_taken() -> None:
    assert taken(Ways([ALONE]), 100, lambda _: 1.0) == Counter({ALONE: 100})
