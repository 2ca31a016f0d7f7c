"""What is known of words before anything is learned: features that do not change.

Those of a word, wherever it stands, are a table; those of a word in its sentence are computed once
for all words of a part, and mapped from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cellwright.base.progress import Progress
from cellwright.data.tagged import Sentences
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.flair_lm import CharacterModel, kept_states
from cellwright.embeddings.settings import EmbeddingSettings, FlairSettings, VectorsSettings
from cellwright.embeddings.vectors import word_vectors

Rows = NDArray[np.float32]

Lookup = Callable[[NDArray[np.integer], int, int], Rows]
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


class Vectors:
    """Pretrained vectors of all words of a vocabulary."""

    def __init__(
        self, name: str, settings: VectorsSettings, words: Vocabulary, progress: Progress | None
    ) -> None:
        self.name = name
        self._matrix = np.asarray(word_vectors(settings.name, words.tokens, progress).matrix)
        self.width = int(self._matrix.shape[1])

    def of(self, part: Sentences, progress: Progress | None = None) -> Lookup:
        """A word has the same vector everywhere."""
        return lambda words, start, end: self._matrix[words]


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
