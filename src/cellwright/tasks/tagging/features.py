"""What is known of words before anything is learned: features that do not change.

Those of a word, wherever it stands, are a table; those of a word in its sentence are computed once
for all words of a part, and mapped from a file. Of sentences that are in no part they are computed
as they come, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cellwright.base.progress import Progress
from cellwright.data.tagged import Sentences
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.all_vectors import AllVectors
from cellwright.embeddings.flair_lm import CharacterModel, kept_states
from cellwright.embeddings.settings import EmbeddingSettings, FlairSettings, VectorsSettings
from cellwright.embeddings.vectors import word_vectors

Rows = NDArray[np.float32]

Texts = Sequence[Sequence[str]]
"""Sentences, each a list of words."""

Lookup = Callable[[NDArray[np.int32], int, int], Rows]
"""The features of some words of a part, (words, width): from their numbers, and from where they
stand in the part."""


class Known(NamedTuple):
    """Features of the words of a part, by the name that they have in batches."""

    name: str
    width: int
    rows: Lookup


class Source(Protocol):
    """Where features come from."""

    @property
    def name(self) -> str:
        """What they are called in batches."""

    @property
    def width(self) -> int:
        """How many numbers a word has."""

    def of(self, part: Sentences, progress: Progress | None = None) -> Lookup:
        """The features of a part."""

    def rows(self, sentences: Texts, progress: Progress | None = None) -> Rows:
        """The features of the words of any sentences, one after another: (words, width)."""


class Vectors:
    """Pretrained vectors of all words of a vocabulary, and of others if need be."""

    def __init__(
        self, name: str, settings: VectorsSettings, words: Vocabulary, progress: Progress | None
    ) -> None:
        self.name, self._words, self._file = name, words, settings.name
        self._matrix = word_vectors(settings.name, words.tokens, progress).matrix
        self.width = int(self._matrix.shape[1])
        self._all: AllVectors | None = None

    def of(self, part: Sentences, progress: Progress | None = None) -> Lookup:
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


class CharacterStates:
    """States of character language models, side by side."""

    def __init__(self, name: str, settings: FlairSettings, words: Vocabulary) -> None:
        self.name, self._words = name, words
        self._models = [CharacterModel(model) for model in settings.models]
        self.width = sum(model.size for model in self._models)

    def of(self, part: Sentences, progress: Progress | None = None) -> Lookup:
        """Computed for the whole part, or found where they are kept."""
        texts = [self._words.decode(words) for words, _ in part]
        states = kept_states(self._models, texts, progress)
        return lambda words, start, end: states[start:end]

    def rows(self, sentences: Texts, progress: Progress | None = None) -> Rows:
        """Computed now."""
        return np.concatenate([model.states(sentences).numpy() for model in self._models], 1)


def sources(
    settings: Sequence[EmbeddingSettings], words: Vocabulary, progress: Progress | None = None
) -> Iterator[Source]:
    """The sources of all features that do not change.

    Raises:
        EmbeddingError: a file is not there, or damaged.
    """
    for number, one in enumerate(settings):
        name = f"{number}-{one.kind}"
        if isinstance(one, VectorsSettings):
            yield Vectors(name, one, words, progress)
        elif isinstance(one, FlairSettings):
            yield CharacterStates(name, one, words)
