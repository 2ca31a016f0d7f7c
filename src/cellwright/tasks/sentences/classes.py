"""Classes of examples in which models are looked at: by length, by new words, by true score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellwright.data.labelled import Target
from cellwright.tasks.frequency import range_label
from cellwright.tasks.sentences.judged import Floats, Numbers

LENGTHS = (1, 10, 20, 40, 80)
"""Where classes of examples begin, by how many words they have."""

UNSEEN = (0.0, 0.1, 0.25, 0.5)
"""Where classes end, by the share of words that training does not have; and a last one behind."""


class ExampleClass(NamedTuple):
    """Some examples, and what they have in common."""

    label: str
    inside: NDArray[np.bool_]

    @property
    def many(self) -> int:
        """How many they are."""
        return int(self.inside.sum())

    def mean(self, values: Floats) -> float:
        """The mean of some values over them; NaN if there are none."""
        return float(values[self.inside].mean()) if self.many else np.nan


def by_length(lengths: Numbers) -> list[ExampleClass]:
    """Examples by how many words they have; classes without any are left out."""
    ends = [*(start - 1 for start in LENGTHS[1:]), None]
    classes = [
        ExampleClass(range_label(start, end), (lengths >= start) & (lengths <= (end or np.inf)))
        for start, end in zip(LENGTHS, ends, strict=True)
    ]
    return [one for one in classes if one.many]


def by_unseen(shares: Floats) -> list[ExampleClass]:
    """Examples by the share of words that training does not have."""
    above = f"more than {UNSEEN[-1]:.0%}"
    labels = ["none", *(f"up to {end:.0%}" for end in UNSEEN[1:]), above]
    place = np.searchsorted(UNSEEN, shares)
    classes = [ExampleClass(label, place == n) for n, label in enumerate(labels)]
    return [one for one in classes if one.many]


def by_score(target: Target, true: Floats) -> Iterator[ExampleClass]:
    """Ranges of scores: of one where the whole range is a small number of ones, else five."""
    span = target.highest - target.lowest
    many = int(span) if span == int(span) and 2 <= span <= 10 else 5
    edges = np.linspace(target.lowest, target.highest, many + 1)
    place = np.clip(np.searchsorted(edges, true, "right") - 1, 0, many - 1)
    for n in range(many):
        last = n == many - 1
        label = f"{edges[n]:.6g} to {'' if last else 'below '}{edges[n + 1]:.6g}"
        yield ExampleClass(label, place == n)
