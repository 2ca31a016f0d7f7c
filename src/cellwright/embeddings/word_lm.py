"""A language model of cellwright's own as an embedding: its state at each word of a sentence.

The model reads a sentence from the left, behind the `<eos>` that ended the line before, as it has
learned to. A word's vector is what the last layer gives after the word; so it knows the words
before, and not those behind. A word that the model does not know is tried in lower case, and else
is the model's `<unk>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from cellwright.base.progress import Progress
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.kept_features import Features, Sentences
from cellwright.embeddings.text_states import Read, Text, states_at


@dataclass(frozen=True, eq=False)
class WordModel:
    """A frozen language model over words.

    Args:
        read: reads numbers of words; see `Read`.
        vocabulary: what the numbers mean.
        size: numbers of a word's vector.
        fingerprint: a hash of all that the vectors depend on.
        vectors: what the model itself reads for each word of its vocabulary, (words, width).
    """

    read: Read
    vocabulary: Vocabulary
    size: int
    fingerprint: str
    vectors: NDArray[np.float32]

    def features(self, sentences: Sentences, half: bool = False) -> Features:
        """What the model has for all words, (words, size)."""

        def compute(out: Tensor, progress: Progress | None) -> None:
            texts = [self._text(words) for words in sentences]
            states_at(self.read, texts, out, "reading sentences", progress)

        about = ["word model states 1", self.fingerprint]
        return Features("runs", about, sentences, self.size, compute, half)

    def input(self, words: Sequence[str]) -> NDArray[np.float32]:
        """What the model reads for words, wherever they stand: (words, width)."""
        return self.vectors[known_as(words, self.vocabulary)]

    def _text(self, words: Sequence[str]) -> Text:
        whole = np.append(self.vocabulary.eos, known_as(words, self.vocabulary)).astype(np.int64)
        return Text(whole, np.arange(1, len(whole), dtype=np.int64))


def known_as(words: Iterable[str], vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The numbers that words have: of the word as it is, in lower case, or else of `<unk>`."""
    return vocabulary.encode(word if word in vocabulary else word.lower() for word in words)
