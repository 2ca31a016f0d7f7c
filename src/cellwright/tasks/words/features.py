"""What is known of words before anything is learned: features that do not change.

Those of a word, wherever it stands, are a table; those of a word in its sentence are computed once
for all words of a part, and mapped from a file. Of sentences that are in no part they are computed
as they come, and nothing is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cellwright.base.progress import Progress
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.all_vectors import AllVectors
from cellwright.embeddings.kept_arrays import key_of
from cellwright.embeddings.kept_features import Features
from cellwright.embeddings.settings import VectorsSettings
from cellwright.embeddings.vectors import word_vectors

Rows = NDArray[Any]
"""Numbers in float32 or half precision."""

Texts = Sequence[Sequence[str]]
"""Sentences, each a list of words."""


class InOrder(Protocol):
    """The numbers of the words of sentences, one sentence after another.

    `offsets` has where each sentence starts, and at last the number of all words.
    """

    @property
    def words(self) -> NDArray[np.int32]:
        """All of them."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """One more than there are sentences."""


Lookup = Callable[[NDArray[np.int32], int, int], Rows]
"""The features of some words of a part, (words, width): from their numbers, and from where they
stand in the part."""

NOT_POOLED = "none"


class Known(NamedTuple):
    """Features of the words of a part, by the name that they have in batches.

    `pooling` says how what a word was in the sentences so far becomes one vector that is put in
    front; `width` is without it.
    """

    name: str
    width: int
    rows: Lookup
    pooling: str = NOT_POOLED


class Source(Protocol):
    """Where features come from."""

    @property
    def name(self) -> str:
        """What they are called in batches."""

    @property
    def width(self) -> int:
        """How many numbers a word has."""

    @property
    def layers(self) -> int:
        """Of how many layers these are, one after the other."""

    @property
    def pooling(self) -> str:
        """See `Known`."""

    @property
    def identity(self) -> str:
        """A hash of what they depend on, beside the words."""

    def of(self, part: InOrder, progress: Progress | None = None) -> Lookup:
        """The features of a part."""

    def rows(self, sentences: Texts, progress: Progress | None = None) -> Rows:
        """The features of the words of any sentences, one after another: (words, width)."""

    def missing(self, part: InOrder) -> int:
        """The bytes that `of` would write to the disk."""


class Vectors:
    """Pretrained vectors of all words of a vocabulary, and of others if need be."""

    def __init__(
        self, name: str, settings: VectorsSettings, words: Vocabulary, progress: Progress | None
    ) -> None:
        self.name, self.layers, self.pooling = name, 1, NOT_POOLED
        self._words, self._file = words, settings.name
        self._matrix = np.asarray(word_vectors(settings.name, words.tokens, progress).matrix)
        self.width = int(self._matrix.shape[1])
        self._all: AllVectors | None = None

    @cached_property
    def identity(self) -> str:
        """A hash of the vectors themselves: a file that has them with others is as good."""
        return key_of([self._matrix.tobytes()])

    def of(self, part: InOrder, progress: Progress | None = None) -> Lookup:
        """A word has the same vector everywhere."""
        return lambda words, start, end: self._matrix[words]

    def rows(self, sentences: Texts, progress: Progress | None = None) -> Rows:
        """Those of words that are not in the vocabulary come from the file."""
        words = [word for sentence in sentences for word in sentence]
        numbers = np.array([self._words.get(word, -1) for word in words])
        found: Rows = self._matrix[numbers]
        others = np.flatnonzero(numbers < 0).tolist()
        if others:
            if self._all is None:
                self._all = AllVectors(self._file, progress)
            found[others] = self._all.of([words[place] for place in others])
        return found

    def missing(self, part: InOrder) -> int:
        """Nothing: the matrix is there."""
        return 0


class OfWords:
    """Vectors that a word has wherever it stands, of any word.

    Args:
        name: what they are called in batches.
        words: the vocabulary.
        of: gives the vectors of words, (words, width).
    """

    def __init__(self, name: str, words: Vocabulary, of: Callable[[Sequence[str]], Rows]) -> None:
        self.name, self.layers, self.pooling = name, 1, NOT_POOLED
        self._of, self._matrix = of, of(words.tokens)
        self.width = int(self._matrix.shape[1])

    @cached_property
    def identity(self) -> str:
        """A hash of the vectors."""
        return key_of([self._matrix.tobytes()])

    def of(self, part: InOrder, progress: Progress | None = None) -> Lookup:
        """From the vectors of the vocabulary."""
        return lambda words, start, end: self._matrix[words]

    def rows(self, sentences: Texts, progress: Progress | None = None) -> Rows:
        """Of words that need not be in the vocabulary."""
        return self._of([word for sentence in sentences for word in sentence])

    def missing(self, part: InOrder) -> int:
        """Nothing: the matrix is there."""
        return 0


class Joined:
    """Features that are one for whoever reads them.

    Args:
        name: what they are called in batches.
        parts: none of which is pooled.
    """

    def __init__(self, name: str, parts: Sequence[Source]) -> None:
        self.name, self.layers, self.pooling = name, 1, NOT_POOLED
        self._parts, self.width = parts, sum(each.width for each in parts)

    @property
    def identity(self) -> str:
        """A hash of all."""
        return key_of([each.identity for each in self._parts])

    def of(self, part: InOrder, progress: Progress | None = None) -> Lookup:
        """What each has for a word, one behind the other."""
        found = [each.of(part, progress) for each in self._parts]
        return lambda words, start, end: np.concatenate([f(words, start, end) for f in found], 1)

    def rows(self, sentences: Texts, progress: Progress | None = None) -> Rows:
        """The same for any sentences."""
        return np.concatenate([each.rows(sentences, progress) for each in self._parts], 1)

    def missing(self, part: InOrder) -> int:
        """What is missing of any."""
        return sum(each.missing(part) for each in self._parts)


class InSentences:
    """Features of words in their sentences: computed for a whole part, or found where they are
    kept.

    Args:
        name: what they are called in batches.
        words: the vocabulary.
        width: numbers of a word.
        features: what a model has for the words of sentences.
        layers: of how many layers the numbers are.
        pooling: see `Known`.
    """

    def __init__(
        self,
        name: str,
        words: Vocabulary,
        width: int,
        features: Callable[[Texts], Features],
        *,
        layers: int = 1,
        pooling: str = NOT_POOLED,
    ) -> None:
        self.name, self.width, self.layers, self.pooling = name, width, layers, pooling
        self._words, self._features = words, features

    @cached_property
    def identity(self) -> str:
        """A hash of the model, and of what of it is taken."""
        return key_of(self._features([]).about)

    def of(self, part: InOrder, progress: Progress | None = None) -> Lookup:
        """A word has the row of its place."""
        rows = self._wanted(part).get(progress)
        return lambda words, start, end: rows[start:end]

    def rows(self, sentences: Texts, progress: Progress | None = None) -> Rows:
        """Computed now, and not kept; a few sentences take a moment, of which nobody is told."""
        return self._features(sentences).now()

    def missing(self, part: InOrder) -> int:
        """All rows, unless they are kept."""
        return self._wanted(part).missing

    def _wanted(self, part: InOrder) -> Features:
        offsets, words = part.offsets.tolist(), np.asarray(part.words)
        return self._features(
            [self._words.decode(words[start:end]) for start, end in itertools.pairwise(offsets)]
        )
