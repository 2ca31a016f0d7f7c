"""Sentences as an encoder reads them: pieces of words, in windows that are no longer than it can.

A sentence that is too long is read in windows that overlap by half. Each word is taken from the
window that has most of its pieces and, of several, from that in which it is furthest from both
ends. A word that is longer than a window counts as far as it fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellwright.embeddings.encoder_pieces import (
    Cut,
    Numbers,
    Pieces,
    frame_of,
    pieces_of_words,
)

MOST = 512
"""Pieces of a window, where neither encoder nor tokenizer says how many it may have."""


@dataclass(frozen=True)
class Window:
    """What an encoder reads at once, and which words it is read for.

    Args:
        pieces: the numbers of all pieces, with those that begin and end a text.
        places: of the pieces that words are taken from.
        words: the number of the word that each of these belongs to, among all words.
        types: of all pieces, for encoders that tell two sentences apart by them.
    """

    pieces: Numbers
    places: Numbers
    words: Numbers
    types: Numbers | None = None


def longest_window(tokenizer: Any, config: Any) -> int:
    """How many pieces an encoder reads at most, with those that begin and end a text."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        positions = MOST + 2
    # RoBERTa and its kind begin to count at 2; a tokenizer that says less is right as well.
    return int(min(tokenizer.model_max_length, max(positions - 2, 1)))


def windows(
    sentences: Sequence[Sequence[str]],
    tokenizer: Any,
    longest: int,
    cut: Cut = pieces_of_words,
) -> Iterator[Window]:
    """The windows of all sentences, one sentence after the other.

    Words that have no pieces are in none.

    Args:
        sentences: each a list of words.
        tokenizer: a fast one of transformers.
        longest: pieces of a window.
        cut: makes pieces of sentences.
    """
    frame, first = frame_of(tokenizer, 1), 0
    for words, pieces in zip(sentences, cut(sentences, tokenizer), strict=True):
        read = [frame.around(some) for some in _overlapping(pieces, longest - frame.size)]
        for window, places in zip(read, _chosen([w.words for w in read], len(words)), strict=True):
            if len(places):
                yield Window(window.numbers, places, first + window.words[places])
        first += len(words)


def _overlapping(pieces: Pieces, most: int) -> Iterator[Pieces]:
    """A sentence in parts that overlap by half."""
    first, end = 0, len(pieces.numbers)
    while True:
        yield pieces.some(first, first + most)
        if first + most >= end:
            return
        first += most - most // 2


def _chosen(ids: Sequence[Numbers], words: int) -> list[Numbers]:
    """The places of each window that words are taken from.

    Args:
        ids: for each window the word that each piece is of, or -1.
        words: how many there are.
    """
    if len(ids) == 1:
        return [np.flatnonzero(ids[0] >= 0)]
    best = np.full((words, 2), -1, np.int64)
    window_of = np.full(words, -1)
    for number, own in enumerate(ids):
        inside = np.flatnonzero(own >= 0)
        if not len(inside):
            continue
        found, at, counts = np.unique(own[inside], return_index=True, return_counts=True)
        far = len(own) + words  # the ends of the sentence itself are not edges
        left = at + (far if number == 0 else 0)
        right = len(inside) - at - counts + (far if number == len(ids) - 1 else 0)
        score = np.stack([counts, np.minimum(left, right)], 1)
        better = (score[:, 0] > best[found, 0]) | (
            (score[:, 0] == best[found, 0]) & (score[:, 1] > best[found, 1])
        )
        best[found[better]], window_of[found[better]] = score[better], number
    return [
        np.flatnonzero((own >= 0) & (window_of[np.maximum(own, 0)] == number))
        for number, own in enumerate(ids)
    ]
