"""What an example is to be given: one of some labels, or a score.

While files are read, labels as they are written have codes in the order in which they are met; what
they mean is settled when train has been read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import did_you_mean, shown
from cellwright.data.errors import DataError

MOST_LABELS = 1_000
"""The most labels; beyond it the column is hardly one of labels."""

MOST_SCORES = 4_000_000
"""The most different scores, as they are written."""


@dataclass(frozen=True)
class Target:
    """What there is to tell: labels, or a score between two numbers."""

    labels: tuple[str, ...] = ()
    lowest: float = 0.0
    highest: float = 0.0

    @property
    def is_score(self) -> bool:
        """Whether it is a score."""
        return not self.labels

    def holds(self, score: float) -> bool:
        """Whether a score is in its range."""
        return self.lowest <= score <= self.highest

    def __str__(self) -> str:
        if self.is_score:
            return f"a score from {self.lowest:g} to {self.highest:g}"
        shown_labels = ", ".join(self.labels[:8])
        return f"{len(self.labels)} labels ({shown_labels}{', …' if len(self.labels) > 8 else ''})"


class LabelError(Exception):
    """No label; the message is what is wrong with it."""


class Codes(dict[str, int]):
    """The codes of labels and scores as they are written.

    Args:
        target: what there may be, if that is known before files are read.
        score: whether they are scores; None finds it out.
    """

    def __init__(self, target: Target | None = None, score: bool | None = None) -> None:
        super().__init__()
        self.target = target
        self.score = target.is_score if target is not None else score
        self.bounded = target
        self.line = 0
        self.lines: list[int] = []

    def __missing__(self, label: str) -> int:
        if self.target is not None and not self.score:
            if label not in self.target.labels:
                raise LabelError(_no_label(label, self.target.labels))
        elif self.score:
            value = number(label)
            if not math.isfinite(value):
                raise LabelError(f"{shown(label)} is no number, as a score is")
            if self.bounded is not None and not self.bounded.holds(value):
                low, high = self.bounded.lowest, self.bounded.highest
                raise LabelError(f"the score {label} is not between {low:g} and {high:g}")
        many = len(self)
        if many >= (MOST_LABELS if self.score is False else MOST_SCORES):
            raise LabelError(f"more than {many:,} different labels; are they scores?")
        self[label] = many
        self.lines.append(self.line)
        return many

    def settle(self, where: str) -> Target:
        """Find out what there is to tell, now that train has been read.

        Args:
            where: the file, for messages.

        Raises:
            DataError: it is neither labels nor scores.
        """
        if self.target is None:
            values = np.array([number(label) for label in self])
            if self.score is None:
                self.score = self._are_scores(values, where)
            if self.score:
                self.target = Target((), float(values.min()), float(values.max()))
            elif len(self) > MOST_LABELS:
                raise DataError(
                    f"{where}: line {self.lines[MOST_LABELS]:,}: more than {MOST_LABELS:,} "
                    "different labels; is this the labels' column?"
                )
            else:
                order = values if np.isfinite(values).all() else np.zeros(len(self))
                ranks = dict(zip(self, order.tolist(), strict=True))
                self.target = Target(tuple(sorted(self, key=lambda label: (ranks[label], label))))
        return self.target

    def _are_scores(self, values: NDArray[np.float64], where: str) -> bool:
        """All are numbers, and some are not whole."""
        finite = np.isfinite(values)
        broken = finite & (np.floor(np.where(finite, values, 0)) != values)
        if not broken.any():
            return False
        if not finite.all():
            words, at = list(self), int(np.argmin(finite))
            other = int(np.argmax(broken))
            raise DataError(
                f"{where}: line {self.lines[at]:,}: {shown(words[at])} is no number, but "
                f"{words[other]} on line {self.lines[other]:,} is; labels are words (score = "
                "false), or all of them numbers"
            )
        return True

    def meanings(self) -> NDArray[np.float32]:
        """For each code the number of the label, or the score."""
        assert self.target is not None
        if self.score:
            return np.array([number(label) for label in self], np.float32)
        order = {label: at for at, label in enumerate(self.target.labels)}
        return np.array([order[label] for label in self], np.float32)


def number(text: str) -> float:
    """A number as it is written; NaN if it is none.

    >>> number("4.50"), number("x"), number("1_0")
    (4.5, nan, nan)
    """
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _no_label(label: str, labels: Sequence[str]) -> str:
    known = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
    hint = did_you_mean(label, labels) or f"; they are {known}"
    return f"{shown(label)} is not one of the labels{hint}"
