"""How the next word is chosen from what a language model gives each word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import UserError, shown

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class WordChoice:
    """What is done to the model's chances before a word is drawn: temperature, then k, then p.

    Of words that are equally likely, the one with the lower number comes first.

    Args:
        temperature: scores are divided by it: below 1 likely words become likelier; 0 takes the
            likeliest word.
        top_k: draw from so many of the likeliest words; 0 for all.
        top_p: draw from the fewest of the likeliest words that together have this share of the
            chances; 1 for all. There is always one.

    Raises:
        UserError: a value is none that it can have.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not (_is_number(self.temperature) and 0 <= self.temperature < math.inf):
            raise UserError(f"a temperature is a number from 0 on, not {shown(self.temperature)}")
        if not isinstance(self.top_k, int) or isinstance(self.top_k, bool) or self.top_k < 0:
            raise UserError(f"top_k is a whole number from 0 on, not {shown(self.top_k)}")
        if not (_is_number(self.top_p) and 0 <= self.top_p <= 1):
            raise UserError(f"top_p is a number from 0 to 1, not {shown(self.top_p)}")

    def chances(self, scores: NDArray[Any], forbidden: Sequence[int] = ()) -> Numbers:
        """How likely each word is to be drawn.

        >>> rule = WordChoice(top_k=2)
        >>> [round(float(p), 3) for p in rule.chances(np.log([0.2, 0.5, 0.3]))]
        [0.0, 0.625, 0.375]

        Args:
            scores: of all words, before the softmax.
            forbidden: words that are never drawn.

        Raises:
            UserError: the scores are no numbers, or no word is left.
        """
        scores = np.array(scores, np.float64)
        if not np.isfinite(scores).all():
            raise UserError("the model's scores are not finite: its weights have exploded")
        scores[list(forbidden)] = -np.inf
        best = int(scores.argmax())
        if scores[best] == -np.inf:
            raise UserError("every word of the model is forbidden: there is none to draw")
        if self.temperature == 0:
            chances = np.zeros(len(scores))
            chances[best] = 1.0
            return chances
        with np.errstate(over="ignore"):  # a temperature near 0: all but the best have no chance
            chances = np.exp((scores - scores[best]) / self.temperature)
        return self._cut(chances / chances.sum())

    def _cut(self, chances: Numbers) -> Numbers:
        if self.top_k == 0 and self.top_p >= 1:
            return chances
        order = np.argsort(-chances, kind="stable")
        if self.top_k:
            chances[order[self.top_k :]] = 0.0
            chances /= chances.sum()
        if self.top_p < 1:
            sums = np.cumsum(chances[order])
            before = np.concatenate([[0.0], sums[:-1]])
            beyond = before >= self.top_p
            beyond[0] = False
            chances[order[beyond]] = 0.0
            chances /= chances.sum()
        return chances

    def draw(
        self, scores: NDArray[Any], random: np.random.Generator, forbidden: Sequence[int] = ()
    ) -> int:
        """A word by its chances; one random number is taken, whatever they are."""
        sums = np.cumsum(self.chances(scores, forbidden))
        return int(np.searchsorted(sums, random.random() * sums[-1], side="right"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
