"""Sentences, or pairs of them, that are learned from at once."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellwright.models.words import WordBatch


@dataclass(frozen=True)
class SentenceBatch:
    """Examples side by side.

    Args:
        sentences: of all examples; of pairs first all first sentences, then all second ones.
        per_example: how many sentences an example has, 1 or 2.
        targets: (examples,) float32; the number of the right label, or the score, from 0 to 1.
    """

    sentences: WordBatch
    per_example: int
    targets: Tensor

    @property
    def size(self) -> int:
        """Its examples."""
        return len(self.targets)

    def rate(self, full: float) -> float:
        """The same for every batch."""
        return full
