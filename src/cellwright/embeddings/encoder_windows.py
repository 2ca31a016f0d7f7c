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
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

MOST = 512
"""Pieces of a window, where neither encoder nor tokenizer says how many it may have."""

_SENTENCES = 256
"""Sentences that are cut into pieces together."""


@dataclass(frozen=True)
class Window:
    """What an encoder reads at once, and which words it is read for.

    Args:
        pieces: the numbers of all pieces, with those that begin and end a text.
        places: of the pieces that words are taken from.
        words: the number of the word that each of these belongs to, among all words.
    """

    pieces: Numbers
    places: Numbers
    words: Numbers


def longest_window(tokenizer: Any, config: Any) -> int:
    """How many pieces an encoder reads at most, with those that begin and end a text."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        positions = MOST + 2
    # RoBERTa and its kind begin to count at 2; a tokenizer that says less is right as well.
    return int(min(tokenizer.model_max_length, max(positions - 2, 1)))


def windows(sentences: Sequence[Sequence[str]], tokenizer: Any, longest: int) -> Iterator[Window]:
    """The windows of all sentences, one sentence after the other.

    Words that have no pieces are in none.

    Args:
        sentences: each a list of words.
        tokenizer: a fast one of transformers.
        longest: pieces of a window.
    """
    around = int(tokenizer.num_special_tokens_to_add(pair=False))
    overlap = (longest - around) // 2
    first = np.cumsum([0, *map(len, sentences)])
    for begin in range(0, len(sentences), _SENTENCES):
        some = [list(map(_unicode, words)) for words in sentences[begin : begin + _SENTENCES]]
        read = tokenizer(
            some,
            is_split_into_words=True,
            truncation=True,
            max_length=longest,
            stride=overlap,
            return_overflowing_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        owners = np.asarray(read["overflow_to_sample_mapping"])
        for number in range(len(some)):
            own = np.flatnonzero(owners == number).tolist()
            ids = [_word_ids(read, at) for at in own]
            for at, words, places in zip(own, ids, _chosen(ids, len(some[number])), strict=True):
                pieces = np.array(read["input_ids"][at], np.int64)
                if len(places):
                    yield Window(pieces, places, first[begin + number] + words[places])


def _unicode(word: str) -> str:
    """A word without halves of characters, which Python has and tokenizers refuse."""
    return word.encode("utf-8", "replace").decode() if not word.isascii() else word


def _word_ids(read: Any, window: int) -> Numbers:
    """The word that each piece of a window is of; -1 for what begins and ends a text."""
    return np.array([-1 if word is None else word for word in read.word_ids(window)], np.int64)


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
