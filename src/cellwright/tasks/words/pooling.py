"""Pooled features of batches that follow each other (Akbik et al., NAACL 2019).

What a word has beside its features is what it was in all batches so far, this one among them. That
follows from the order of the batches alone, so nothing of it is in a checkpoint: a memory that is
to be at batch k adds the batches up to there, wherever it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.embeddings.pooled import WordMemory
from cellwright.tasks.words.features import NOT_POOLED, InOrder, Known, Rows, Source

Memories = Mapping[str, WordMemory]
"""What words were, by the name of the features."""

_AT_A_TIME = 256
"""Sentences of a part that are added together."""


class Sentence(NamedTuple):
    """The numbers of a sentence's words, and where it stands in its part."""

    words: NDArray[np.int32]
    start: int
    end: int


def sentences_of(part: InOrder, numbers: Iterable[int]) -> list[Sentence]:
    """Some sentences of a part."""
    offsets, words = np.asarray(part.offsets), np.asarray(part.words)  # a memmap's slices are slow
    found = []
    for number in numbers:
        start, end = int(offsets[number]), int(offsets[number + 1])
        found.append(Sentence(words[start:end], start, end))
    return found


def remembered(part: InOrder, features: Sequence[Known]) -> Memories:
    """What the words of a whole part were."""
    walk = Walk(features, lambda: {})
    many = len(part.offsets) - 1
    for begin in range(0, many, _AT_A_TIME):
        walk.add(sentences_of(part, range(begin, min(begin + _AT_A_TIME, many))))
    return walk.memories


class Walk:
    """The memories of features that are pooled, from batch to batch.

    Args:
        features: all features; those that are not pooled are left alone.
        before: gives what is known before the first batch.
    """

    def __init__(self, features: Sequence[Known], before: Callable[[], Memories]) -> None:
        self._features = [each for each in features if each.pooling != NOT_POOLED]
        self._before = before
        self._done = 0  # batches that were added
        self._made: Memories | None = None

    @property
    def memories(self) -> Memories:
        """What words were so far."""
        if self._made is None:
            known = self._before() if self._features else {}
            self._made = {
                each.name: WordMemory(each.width, each.pooling, known.get(each.name))
                for each in self._features
            }
        return self._made

    def to(self, number: int, batch: Callable[[int], list[Sentence]]) -> Memories:
        """The memories with all batches up to one.

        Args:
            number: of that batch.
            batch: gives the sentences of a batch.
        """
        if number + 1 < self._done:
            self._made, self._done = None, 0
        while self._features and self._done <= number:
            self.add(batch(self._done))
            self._done += 1
        return self.memories

    def add(self, sentences: Sequence[Sentence]) -> None:
        """Add the words of sentences."""
        words = np.concatenate([one.words for one in sentences]).tolist()
        for each in self._features:
            states = np.concatenate([each.rows(*one) for one in sentences])
            self.memories[each.name].add(words, torch.from_numpy(states.astype(np.float32)))


def full_width(known: Known | Source) -> int:
    """Numbers of a word, with those in front."""
    return known.width if known.pooling == NOT_POOLED else 2 * known.width


def pooled(memories: Memories, known: Known, sentence: Sentence) -> Rows:
    """The features of a sentence, with what its words were in front if they are pooled."""
    own = known.rows(*sentence)
    if known.pooling == NOT_POOLED:
        return own
    return np.concatenate([memories[known.name].pooled(sentence.words.tolist()).numpy(), own], 1)
