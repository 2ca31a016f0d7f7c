"""Where each segment of an epoch begins and how long it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cellwright.base.seeds import seed_for
from cellwright.tasks.language.settings import LanguageSettings


class Segment(NamedTuple):
    """Rows `start` to `start + length` of a batched text; their targets are one row on."""

    start: int
    length: int


def training_segments(
    rows: int, settings: LanguageSettings, seed: int, epoch: int
) -> list[Segment]:
    """The segments of one epoch, of random lengths (Merity et al. 2018, section 4.1).

    They follow from the seed and the epoch alone, so a resumed epoch has the same ones.
    """
    rng = np.random.default_rng(seed_for(seed, "segments", epoch))
    found, start = [], 0
    while start < rows - 1:
        middle = settings.bptt / 2 if rng.random() < settings.bptt_halve else settings.bptt
        wanted = int(rng.normal(middle, settings.bptt_spread)) if settings.bptt_spread else middle
        length = min(max(settings.bptt_shortest, int(wanted)), rows - 1 - start)
        found.append(Segment(start, length))
        start += length
    return found


def even_segments(rows: int, length: int) -> list[Segment]:
    """Segments of one length, for measuring; the last may be shorter."""
    return [Segment(start, min(length, rows - 1 - start)) for start in range(0, rows - 1, length)]
