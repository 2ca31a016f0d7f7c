"""Counts of what was found, and what they are worth: precision, recall, F1."""

from __future__ import annotations

from typing import NamedTuple


class Tally(NamedTuple):
    """How many spans, or examples of a label, are right, were guessed, and are true."""

    right: int = 0
    guessed: int = 0
    true: int = 0

    @property
    def precision(self) -> float:
        """The share of what was guessed that is right; 0 where nothing was guessed."""
        return self.right / self.guessed if self.guessed else 0.0

    @property
    def recall(self) -> float:
        """The share of what is true that was found; 0 where there is nothing."""
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where nothing is right.

        >>> Tally(right=1, guessed=2, true=4).f1
        0.3333333333333333
        """
        return 2 * self.right / (self.guessed + self.true) if self.right else 0.0

    def document(self) -> dict[str, float]:
        """For programs."""
        return {
            **self._asdict(),
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


NONE = Tally()
"""Nothing at all."""
