"""Pairs of sentences as an encoder reads them: both at once, [CLS] a [SEP] b [SEP].

A pair that is too long loses pieces at the end of its longer sentence until both are equally long,
and then of both in turn, as by `longest_first` of transformers. Words behind the cut are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cellwright.embeddings.encoder_pieces import Cut, Pieces, frame_of, pieces_of_words
from cellwright.embeddings.encoder_windows import Window


def pairs(
    sentences: Sequence[Sequence[str]],
    tokenizer: Any,
    longest: int,
    cut: Cut = pieces_of_words,
) -> Iterator[Window]:
    """One window for each pair.

    Words that have no pieces, or none that fit, are in none.

    Args:
        sentences: each a list of words: first, second, first, second, …
        tokenizer: a fast one of transformers.
        longest: pieces of a pair, with those that are put around the sentences.
        cut: makes pieces of sentences.
    """
    frame, start = frame_of(tokenizer, 2), 0
    found = cut(sentences, tokenizer)
    for number, (first, second) in enumerate(zip(found, found, strict=True)):
        kept = kept_lengths(len(first.numbers), len(second.numbers), longest - frame.size)
        one, other = first.some(0, kept[0]), second.some(0, kept[1])
        words = len(sentences[2 * number])
        read = frame.around(one, Pieces(other.numbers, words + other.words))
        places = np.flatnonzero(read.words >= 0)
        if len(places):
            types = frame.types_around(one, other)
            yield Window(read.numbers, places, start + read.words[places], types)
        start += words + len(sentences[2 * number + 1])


def kept_lengths(first: int, second: int, most: int) -> tuple[int, int]:
    """How many pieces two sentences keep that may have so many together.

    >>> kept_lengths(3, 20, 10), kept_lengths(20, 9, 11), kept_lengths(20, 20, 11)
    ((3, 7), (6, 5), (5, 6))
    """
    if first > second:
        return kept_lengths(second, first, most)[::-1]
    shorter = min(first, most // 2) if first + second > most else first
    return shorter, min(second, most - shorter)
