"""Word vectors against human judgements of how alike two words are (NAS-Bench-NLP, section 4.2).

The similarity of two words is the cosine of their vectors. The similarities of all pairs are
correlated with the judgements, by Pearson and by Spearman. Upper and lower case are alike, as in
gensim's `evaluate_word_pairs`, with which NAS-Bench-NLP measured: of several spellings the one is
taken that the training text has most often.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cellwright.data.vocabulary import Vocabulary
from cellwright.data.word_pairs import WordPairs
from cellwright.tasks.correlation import pearson, spearman

if TYPE_CHECKING:
    from cellwright.models.language_model import LanguageModel

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST_PAIRS = 3
"""A correlation of fewer says nothing: two points are always on a line."""

_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words, how often the training text has each, and a vector for each.

    Args:
        name: what people see.
        words: all different.
        counts: of each word in the training text.
        vectors: (words, dimensions).
    """

    name: str
    words: Sequence[str] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    vectors: NDArray[np.float32] = field(repr=False)

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return int(self.vectors.shape[1])

    @cached_property
    def _rows(self) -> dict[str, int]:
        rarest_last = np.argsort(-self.counts, kind="stable")
        # What is written last stays: of several spellings the most frequent one.
        return {self.words[row].upper(): row for row in rarest_last[::-1].tolist()}

    def rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The number of each word's vector, in whatever case; -1 for a word that is not there."""
        return np.array([self._rows.get(word.upper(), -1) for word in words], np.int64)


def embedding_vectors(name: str, vocabulary: Vocabulary, model: LanguageModel) -> WordVectors:
    """The word vectors of a language model: its first layer, which is the decoder's matrix too."""
    weight = model.embedding.weight.detach().cpu().numpy().astype(np.float32)
    return WordVectors(name, vocabulary.tokens, vocabulary.counts, weight)


@dataclass(frozen=True)
class Agreement:
    """How well similarities agree with people's, over so many pairs.

    `interval` is the 95% interval of Pearson's correlation by Fisher's transformation: the fewer
    pairs, the wider. NaN where there are too few pairs or nothing varies.
    """

    pairs: int
    pearson: float
    spearman: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of Pearson's correlation."""
        if self.pairs <= 3 or not abs(self.pearson) < 1:
            return math.nan, math.nan
        middle, half = math.atanh(self.pearson), _NORMAL_95 / math.sqrt(self.pairs - 3)
        return math.tanh(middle - half), math.tanh(middle + half)


@dataclass(frozen=True)
class Similarity:
    """What came of one model on one set of pairs.

    `own` is over all pairs both of whose words the model has, `common` over those that all
    compared models have: only these compare.
    """

    own: Agreement
    common: Agreement


def compare(models: Sequence[WordVectors], pairs: WordPairs) -> list[Similarity]:
    """Measure several models on one set, each on its own pairs and all on the same ones."""
    known = [known_pairs(model, pairs) for model in models]
    common = np.logical_and.reduce(known)
    return [
        Similarity(agreement(model, pairs, own), agreement(model, pairs, common))
        for model, own in zip(models, known, strict=True)
    ]


def known_pairs(model: WordVectors, pairs: WordPairs) -> Mask:
    """Of which pairs does the model have both words?"""
    first, second = _sides(model, pairs)
    found: Mask = (first >= 0) & (second >= 0)
    return found


def agreement(model: WordVectors, pairs: WordPairs, chosen: Mask | None = None) -> Agreement:
    """The correlations over the chosen pairs, whose words the model has to have; all such pairs
    unless said."""
    chosen = known_pairs(model, pairs) if chosen is None else chosen
    first, second = (side[chosen] for side in _sides(model, pairs))
    cosines = _cosines(model.vectors[first], model.vectors[second])
    scores, count = pairs.scores[chosen], int(chosen.sum())
    if count < LEAST_PAIRS:
        return Agreement(count, math.nan, math.nan)
    return Agreement(count, pearson(cosines, scores), spearman(cosines, scores))


def _sides(model: WordVectors, pairs: WordPairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = zip(*pairs.words, strict=True)
    return model.rows(first), model.rows(second)


def _cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> Numbers:
    """The cosine of each pair of rows; 0 where one of them is zero."""
    first, second = a.astype(np.float64), b.astype(np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines: Numbers = np.zeros(len(first))
    np.divide((first * second).sum(axis=1), lengths, out=cosines, where=lengths != 0)
    return cosines
