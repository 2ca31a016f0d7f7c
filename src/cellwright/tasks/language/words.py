"""What each word costs a language model, and what one model gains over another, word by word.

ESS (section 5.2, Table 3) asks where a better perplexity comes from: it takes the difference of two
models' losses for each word, divided by how often the word occurs, and looks at the words that
gained most and at the most frequent ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import UserError
from cellwright.data import Vocabulary
from cellwright.tasks.frequency import range_label, ranges
from cellwright.tasks.language.measuring import Measured

Numbers = NDArray[np.float64]
Words = NDArray[np.int64]
"""Words by their number in the vocabulary."""


class WordsError(UserError):
    """Two models' losses cannot be compared."""


@dataclass(frozen=True, eq=False)
class WordLosses:
    """How often each word of a vocabulary occurs in a text, and what it cost there in all.

    Args:
        vocabulary: the words, with their counts in the training text.
        counts: of each word in the text, as far as it was predicted.
        losses: the sum of each word's losses, in nats.
    """

    vocabulary: Vocabulary
    counts: NDArray[np.int64]
    losses: Numbers

    @property
    def tokens(self) -> int:
        """How many words were predicted."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Nats per word; e to this is the perplexity."""
        return float(self.losses.sum()) / self.tokens

    @property
    def means(self) -> Numbers:
        """Nats of each word per occurrence; NaN for a word that does not occur."""
        return _ratio(self.losses, self.counts)


@dataclass(frozen=True)
class FrequencyClass:
    """The words whose count in the training text is from `least` to `most` (None: no end).

    `types` of them occur in the text, `tokens` times in all, and cost `loss` nats together.
    """

    least: int
    most: int | None
    types: int
    tokens: int
    loss: float

    @property
    def label(self) -> str:
        """For people.

        >>> FrequencyClass(10, 99, 0, 0, 0.0).label, FrequencyClass(0, 0, 0, 0, 0.0).label
        ('10 to 99', 'never')
        """
        return range_label(self.least, self.most)

    @property
    def mean(self) -> float:
        """Nats per word; NaN where there is none."""
        return self.loss / self.tokens if self.tokens else math.nan


def word_losses(parts: Iterable[Measured], vocabulary: Vocabulary) -> WordLosses:
    """Sum a text's losses by word, as its segments come in."""
    counts = np.zeros(len(vocabulary), np.int64)
    losses = np.zeros(len(vocabulary), np.float64)
    for part in parts:
        words = part.words.reshape(-1)
        counts += np.bincount(words, minlength=len(counts))
        losses += np.bincount(words, part.losses.reshape(-1), minlength=len(losses))
    return WordLosses(vocabulary, counts, losses)


def by_frequency(words: WordLosses) -> list[FrequencyClass]:
    """The words in classes of tenfold frequency in the training text, rarest first.

    A class that has no word in the text is there as well, unless it is beyond all that are.
    """
    trained, here = words.vocabulary.counts, words.counts > 0
    classes = []
    for least, most in ranges(int(trained[here].max(initial=0))):
        inside = here & (trained >= least)
        if most is not None:
            inside &= trained <= most
        classes.append(
            FrequencyClass(
                least,
                most,
                int(inside.sum()),
                int(words.counts[inside].sum()),
                float(words.losses[inside].sum()),
            )
        )
    return [c for c in classes if c.types or c.least]  # without "never" where every word was seen


def costliest(words: WordLosses, most: int) -> Words:
    """The words that make up the largest parts of the loss, largest first."""
    order = np.argsort(-words.losses, kind="stable")
    return order[words.counts[order] > 0][:most]


def most_frequent(words: WordLosses, most: int) -> Words:
    """The most frequent words of the text (ESS, Table 3, right)."""
    order = np.argsort(-words.counts, kind="stable")
    return order[words.counts[order] > 0][:most]


def differences(words: WordLosses, against: WordLosses) -> Numbers:
    """How much more each word costs per occurrence than in another model; negative is better.

    NaN for words that do not occur.

    Raises:
        WordsError: these are not losses of the same words of the same text.
    """
    check_comparable(words, against)
    return _ratio(words.losses - against.losses, words.counts)


def most_improved(words: WordLosses, against: WordLosses, most: int, least: int = 1) -> Words:
    """The words with the best improvements over another model (ESS, Table 3, left), best first.

    Args:
        words: the losses of the model.
        against: those of the other one.
        most: how many words.
        least: how often a word has to occur in the text; what one occurrence gains is mostly
            chance.
    """
    found = differences(words, against)
    order = np.argsort(found, kind="stable")  # NaN is last
    return order[(words.counts[order] >= max(1, least)) & (found[order] < 0)][:most]


def check_comparable(words: WordLosses, against: WordLosses) -> None:
    """Say so if two models' losses are of different words or of different text."""
    if words.vocabulary.tokens != against.vocabulary.tokens:
        raise WordsError(
            f"the two models have different vocabularies, of {len(words.vocabulary):,} and of "
            f"{len(against.vocabulary):,} words; only models of the same words can be compared"
        )
    if not np.array_equal(words.counts, against.counts):
        raise WordsError("the two models were measured on different words")


def _ratio(sums: Numbers, counts: NDArray[np.int64]) -> Numbers:
    found = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found
