"""Which group of the architecture learns next: the rounds of ESS (section 4, Figure 4).

A search of one group is the special case that has one phase in each round: DARTS and I-DARTS count
epochs, which are their rounds. What comes next follows from the settings and from the records of
all epochs, so that a resumed search has nothing else to remember.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cellwright.search.gradient.records import SearchEpoch
from cellwright.search.gradient.settings import DifferentiableSettings


class Phase(NamedTuple):
    """A group that learns in a round; in round 0 the weights warm up and no group learns."""

    round: int
    group: str

    @property
    def learns(self) -> bool:
        """Whether the architecture moves."""
        return self.round > 0


def next_phase(
    settings: DifferentiableSettings, groups: Sequence[str], records: Sequence[SearchEpoch]
) -> Phase | None:
    """What the next epoch is for; None where the search has come to its end."""
    if len(records) >= settings.epochs:
        return None
    if len(records) < settings.warmup_epochs:
        return Phase(0, groups[0])
    if not records or records[-1].round == 0:
        return Phase(1, groups[0])
    now = Phase(records[-1].round, records[-1].group)
    if _learned(now, records) < settings.phase_epochs and not _settled(
        settings, [now.group], records[-2:]
    ):
        return now
    if now.group != groups[-1]:
        return Phase(now.round, groups[groups.index(now.group) + 1])
    if now.round == settings.rounds or converged(settings, groups, records):
        return None
    return Phase(now.round + 1, groups[0])


def converged(
    settings: DifferentiableSettings, groups: Sequence[str], records: Sequence[SearchEpoch]
) -> bool:
    """Whether the last round left the architecture as it was.

    That is so if the cell was the same at the end of `patience` rounds after another, or if the
    mean absolute deviation of no group moved by `settled` in the last round (ESS Figure 6).
    """
    ends = list({record.round: record for record in records if record.round}.values())
    if settings.patience is not None and len(ends) > settings.patience:
        lately = ends[len(ends) - settings.patience - 1 :]
        if len({record.listing for record in lately}) == 1:
            return True
    return _settled(settings, groups, ends[-2:])


def _learned(phase: Phase, records: Sequence[SearchEpoch]) -> int:
    """How many epochs a phase has had."""
    return sum((record.round, record.group) == phase for record in records)


def _settled(
    settings: DifferentiableSettings, groups: Sequence[str], two: Sequence[SearchEpoch]
) -> bool:
    if settings.settled is None or len(two) < 2:
        return False
    moves = [abs(two[1].watched[f"{g}_mad"] - two[0].watched[f"{g}_mad"]) for g in groups]
    return max(moves) < settings.settled
