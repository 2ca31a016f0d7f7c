"""Sentences on their way into token files: numbers of words, codes, and where sentences start.

A code belongs to a word, as a tag does, or to one or two sentences, as a label does. Nothing is in
memory but what is being appended, or one block of what has been.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellwright.base.files import sync
from cellwright.base.seeds import seed_for
from cellwright.data.cache import mapped
from cellwright.data.prepare import DTYPE

Array = NDArray[np.int64]

OFFSETS = np.dtype("<i8")

CUT_SHARE, CUT_SEED = 0.1, 0
"""What valid gets of train where there is no file for it."""

BLOCK = 2**18
"""Words of a block, about."""

_WHAT: dict[str, np.dtype[Any]] = {"words": DTYPE, "codes": DTYPE, "offsets": OFFSETS}


@dataclass
class SentenceFiles:
    """The three files that a part is written into.

    `per_code` is the number of sentences that one code is for; 0 if each word has one.
    """

    folder: Path
    part: str
    per_code: int = 0
    sentences: int = 0
    words: int = 0

    def path(self, what: str) -> Path:
        """One of them: words, codes or offsets."""
        return self.folder / f"{self.part}.{what}.bin"

    @property
    def examples(self) -> int:
        """How many there are of what is cut or kept as a whole."""
        return self.sentences // max(1, self.per_code)

    def append(self, words: Array, codes: Array, offsets: Array) -> None:
        """Write some more sentences; the first of the offsets is 0."""
        ends = offsets[1:] + self.words
        if not self.sentences:
            ends = np.append(0, ends)
        for (what, dtype), numbers in zip(_WHAT.items(), (words, codes, ends), strict=True):
            with open(self.path(what), "ab") as file:
                file.write(numbers.astype(dtype).tobytes())
        self.sentences += len(offsets) - 1
        self.words += len(words)

    def move(self, what: str, target: Path) -> None:
        """Put one of the files into its place, when the disk has it."""
        with open(self.path(what), "ab") as file:
            sync(file)
        os.rename(self.path(what), target)

    def blocks(self) -> Iterator[tuple[Array, Array, Array]]:
        """The sentences, some at a time: words, codes, and offsets that begin with 0."""
        words, codes, offsets = (mapped(self.path(what), dtype) for what, dtype in _WHAT.items())
        whole = max(1, self.per_code)
        first = 0
        while first < self.sentences:
            last = int(np.searchsorted(offsets, offsets[first] + BLOCK, side="left"))
            last = min(first + max(whole, (last - first) // whole * whole), self.sentences)
            start, end = offsets[first], offsets[last]
            some = slice(first // whole, last // whole) if self.per_code else slice(start, end)
            yield (
                words[start:end].astype(np.int64),
                codes[some].astype(np.int64),
                np.asarray(offsets[first : last + 1]) - start,
            )
            first = last

    def split(self, chosen: Mapping[str, NDArray[np.bool_]]) -> dict[str, SentenceFiles]:
        """Other parts of these sentences, each with the examples that are chosen for it."""
        new = {part: SentenceFiles(self.folder, f"cut-{part}", self.per_code) for part in chosen}
        done = 0
        for words, codes, offsets in self.blocks():
            lengths = np.diff(offsets)
            many = len(lengths) // max(1, self.per_code)
            for part, all_chosen in chosen.items():
                here = all_chosen[done : done + many]
                if here.any():
                    of_sentences = np.repeat(here, max(1, self.per_code))
                    of_words = np.repeat(of_sentences, lengths)
                    ends = np.append(0, np.cumsum(lengths[of_sentences]))
                    of_codes = here if self.per_code else of_words
                    new[part].append(words[of_words], codes[of_codes], ends)
            done += many
        return new

    def word_counts(self, many: int) -> Array:
        """How often each of so many words occurs."""
        counts = np.zeros(many, np.int64)
        for words, _, _ in self.blocks():
            counts += np.bincount(words, minlength=many)
        return counts


def drawn(many: int, *shares: float) -> list[NDArray[np.bool_]]:
    """Which of `many` examples are drawn for each share, and at last which are left over.

    Every share gets one at the least. The draw is the same each time.
    """
    # Python promises that `random()` stays as it is; numpy promises nothing of the kind.
    draw = random.Random(seed_for(CUT_SEED, "valid of train"))
    chances = np.fromiter((draw.random() for _ in range(many)), np.float64)
    order = np.argsort(chances, kind="stable")
    ends = np.cumsum([max(1, round(share * many)) for share in shares])
    chosen = []
    for some in np.split(order, ends):
        taken = np.zeros(many, bool)
        taken[some] = True
        chosen.append(taken)
    return chosen
