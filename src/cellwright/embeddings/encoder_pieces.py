"""Sentences as numbers of an encoder's pieces, and what its tokenizer puts around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellwright.embeddings.errors import EmbeddingError

Numbers = NDArray[np.int64]

_SENTENCES = 256
"""Sentences that are cut into pieces together."""


class Pieces(NamedTuple):
    """The numbers of a sentence's pieces, and of the word that each belongs to."""

    numbers: Numbers
    words: Numbers

    def some(self, first: int, end: int) -> Pieces:
        """Those between two places."""
        return Pieces(self.numbers[first:end], self.words[first:end])


Cut = Callable[[Sequence[Sequence[str]], Any], Iterator[Pieces]]
"""Makes pieces of sentences, each a list of words, by a fast tokenizer of transformers."""


def pieces_of_words(sentences: Sequence[Sequence[str]], tokenizer: Any) -> Iterator[Pieces]:
    """Ordinary words, as the tokenizer cuts them; some words have no pieces."""
    for begin in range(0, len(sentences), _SENTENCES):
        some = [list(map(_unicode, words)) for words in sentences[begin : begin + _SENTENCES]]
        read = tokenizer(some, is_split_into_words=True, add_special_tokens=False, **_ONLY_NUMBERS)
        for number, found in enumerate(read["input_ids"]):
            words = np.array(read.word_ids(number), np.int64)
            yield Pieces(np.array(found, np.int64), words)


def words_as_pieces(sentences: Sequence[Sequence[str]], tokenizer: Any) -> Iterator[Pieces]:
    """Words that are pieces already. One that the tokenizer does not know is its unknown one, or
    none."""
    known: dict[str, int] = tokenizer.get_vocab()
    unknown = -1 if tokenizer.unk_token_id is None else int(tokenizer.unk_token_id)
    for words in sentences:
        numbers = np.array([known.get(word, unknown) for word in words], np.int64)
        own = np.flatnonzero(numbers >= 0)
        yield Pieces(numbers[own], own)


@dataclass(frozen=True)
class Frame:
    """What a tokenizer puts around a sentence or two: [CLS] a [SEP] b [SEP].

    Args:
        numbers: of the pieces before, between and behind the sentences.
        types: of these, which some encoders tell sentences apart by.
        own: the type of each sentence's pieces.
    """

    numbers: tuple[Numbers, ...]
    types: tuple[Numbers, ...]
    own: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many pieces it has itself."""
        return sum(map(len, self.numbers))

    @cached_property
    def _nothing(self) -> tuple[Numbers, ...]:
        return tuple(np.full_like(part, -1) for part in self.numbers)

    def around(self, *sentences: Pieces) -> Pieces:
        """All pieces in order; those of the frame are of the word -1."""
        numbers = _alternating(self.numbers, [one.numbers for one in sentences])
        return Pieces(numbers, _alternating(self._nothing, [one.words for one in sentences]))

    def types_around(self, *sentences: Pieces) -> Numbers:
        """The type of each piece."""
        own = [np.full(len(s.numbers), t) for s, t in zip(sentences, self.own, strict=True)]
        return _alternating(self.types, own)


def frame_of(tokenizer: Any, sentences: int) -> Frame:
    """What a fast tokenizer puts around one sentence, or around two that are read together.

    Raises:
        EmbeddingError: it has no way to read so many.
    """
    example = [[_WORD]]
    read = tokenizer(
        *[example] * sentences,
        is_split_into_words=True,
        **{**_ONLY_NUMBERS, "return_token_type_ids": True},
    )
    owners = [-1 if owner is None else int(owner) for owner in read.sequence_ids(0)]
    numbers, types = (np.array(read[name][0], np.int64) for name in ("input_ids", "token_type_ids"))
    if sorted({*owners} - {-1}) != [*range(sentences)]:
        raise EmbeddingError(f"the encoder's tokenizer does not read {sentences} sentences at once")
    firsts = [owners.index(number) for number in range(sentences)]
    ends = [len(owners) - owners[::-1].index(number) for number in range(sentences)]
    gaps = [slice(*gap) for gap in zip([0, *ends], [*firsts, len(owners)], strict=True)]
    return Frame(
        tuple(numbers[gap] for gap in gaps),
        tuple(types[gap] for gap in gaps),
        tuple(int(types[first]) for first in firsts),
    )


_WORD = "a"
"""Whatever pieces it has, something stands before and behind it."""

_ONLY_NUMBERS = {
    "return_attention_mask": False,
    "return_token_type_ids": False,
    "verbose": False,
}


def _alternating(around: Sequence[Numbers], sentences: Sequence[Numbers]) -> Numbers:
    parts = [part for both in zip(around, sentences, strict=False) for part in both]
    return np.concatenate([*parts, around[-1]])


def _unicode(word: str) -> str:
    """A word without halves of characters, which Python has and tokenizers refuse."""
    return word.encode("utf-8", "replace").decode() if not word.isascii() else word
