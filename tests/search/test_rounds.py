"""Which group learns when, and when a search ends."""

from __future__ import annotations

from typing import Any

from texts import small_settings

from cellwright.cell.listings import DartsListing
from cellwright.search.gradient.records import SearchEpoch
from cellwright.search.gradient.rounds import Phase, converged, next_phase

BOTH = ("intra", "inter")
A, B = (DartsListing.of([(op, 0)]) for op in ("tanh", "relu"))


def record(phase: Phase, mads: tuple[float, float], listing: DartsListing) -> SearchEpoch:
    return SearchEpoch(
        epoch=1, round=phase.round, group=phase.group, train=1.0, architecture=1.0, valid=1.0,
        watched={"intra_mad": mads[0], "inter_mad": mads[1]}, theta={}, listing=listing,
        learning_rate=1.0, architecture_rate=1.0, seconds=1.0, peak_memory=1,
    )  # fmt: skip


def played(
    groups: tuple[str, ...],
    mads: list[tuple[float, float]] | None = None,
    listings: list[DartsListing] | None = None,
    **changes: Any,
) -> tuple[list[str], bool]:
    """All phases, as `"1 intra"`, where epoch i leaves these deviations and cells."""
    settings = small_settings(kind="ess" if len(groups) == 2 else "darts", **changes)
    records: list[SearchEpoch] = []
    while (phase := next_phase(settings, groups, records)) is not None:
        i = len(records)
        moved = mads[min(i, len(mads) - 1)] if mads else (float(i), float(i))
        cell = listings[min(i, len(listings) - 1)] if listings else (A, B)[i % 2]
        records.append(record(phase, moved, cell))
    names = [f"{r.round} {r.group}" for r in records]
    return names, converged(settings, groups, records)


def test_epochs_of_one_group_are_rounds():
    assert played(("intra",), epochs=3) == (["1 intra", "2 intra", "3 intra"], False)
    assert played(("intra",), epochs=30, rounds=2) == (["1 intra", "2 intra"], False)


def test_both_groups_take_turns():
    names, _ = played(BOTH, epochs=99, rounds=2)
    assert names == ["1 intra", "1 inter", "2 intra", "2 inter"]


def test_phases_of_several_epochs():
    names, _ = played(BOTH, epochs=7, rounds=None, phase_epochs=2)
    assert names == ["1 intra"] * 2 + ["1 inter"] * 2 + ["2 intra"] * 2 + ["2 inter"]


def test_warm_up_comes_before_the_first_round():
    names, _ = played(BOTH, epochs=5, rounds=1, warmup_epochs=2)
    assert names == ["0 intra", "0 intra", "1 intra", "1 inter"]


def test_a_phase_ends_when_its_group_has_settled():
    """The deviation of intra moves by 0.001 in its second epoch, that of inter never stops."""
    mads = [(0.1, 0.0), (0.101, 0.0), (0.101, 0.1), (0.101, 0.2), (0.101, 0.3), (0.2, 0.3)]
    names, _ = played(BOTH, mads, epochs=6, rounds=9, phase_epochs=3, settled=0.01)
    assert names == ["1 intra", "1 intra", "1 inter", "1 inter", "1 inter", "2 intra"]


def test_a_search_ends_when_all_groups_have_settled():
    mads = [(0.1, 0.0), (0.1, 0.1), (0.2, 0.1), (0.2, 0.2), (0.201, 0.2), (0.201, 0.201)]
    names, end = played(BOTH, mads, epochs=99, rounds=9, settled=0.01)
    assert (names[-1], end) == ("3 inter", True)


def test_a_search_ends_when_the_cell_stays():
    cells = [A, B, A, B, B, B, B]
    names, end = played(("intra",), listings=cells, epochs=99, patience=3)
    assert (len(names), end) == (7, True)
    names, end = played(("intra",), listings=cells, epochs=6, patience=3)
    assert (len(names), end) == (6, False)
