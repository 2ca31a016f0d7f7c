"""Features of words in their sentences: computed once for all words, and kept as one array.

They are kept in float32, or in half precision, which takes half the room: numbers then have 11 bits
and are below 65,504. What is read of them is the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cellwright.base.errors import shown
from cellwright.base.progress import Progress
from cellwright.embeddings.disk_room import check_room
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.kept_arrays import is_kept, kept, key_of

Sentences = Sequence[Sequence[str]]

_ARRAY = "states"


@dataclass(frozen=True, eq=False)
class Features:
    """What is to be had for all words of some sentences.

    Args:
        kind: of features; a folder of the cache has this name.
        about: everything that they depend on beside the sentences.
        sentences: each a list of words.
        width: numbers of a word.
        compute: writes them into a tensor (words, width) of zeros, by `put`, and tells progress.
        half: whether they are kept in half precision.
    """

    kind: str
    about: Sequence[str]
    sentences: Sentences
    width: int
    compute: Callable[[Tensor, Progress | None], object]
    half: bool = False

    def __post_init__(self) -> None:
        check_sentences(self.sentences)

    @property
    def words(self) -> int:
        """How many there are in all sentences."""
        return sum(map(len, self.sentences))

    @cached_property
    def key(self) -> str:
        """A hash of all that they depend on."""
        words = (part for sentence in self.sentences for part in (str(len(sentence)), *sentence))
        return key_of([*self.about, *(["half"] if self.half else []), *words])

    @property
    def missing(self) -> int:
        """The bytes that would have to be written; 0 if they are kept already."""
        size = self.words * self.width * (2 if self.half else 4)
        return 0 if is_kept(self.kind, self.key) else size

    def now(self, progress: Progress | None = None) -> NDArray[np.float32]:
        """The features, computed and not kept."""
        out = torch.zeros(self.words, self.width)
        self.compute(out, progress)
        return out.numpy()

    def get(self, progress: Progress | None = None) -> NDArray[Any]:
        """The features, (words, width), mapped from a file; computed if they are not kept.

        Args:
            progress: told how far that is, or that another process is computing the same.

        Raises:
            EmbeddingError: they cannot be kept, or there is too little room for them.
        """
        dtype = np.float16 if self.half else np.float32

        def make(folder: Path) -> None:
            mapped = np.lib.format.open_memmap(
                folder / f"{_ARRAY}.npy", mode="w+", dtype=dtype, shape=(self.words, self.width)
            )
            self.compute(torch.from_numpy(mapped), progress)
            mapped.flush()

        check_room(self.missing, self.half)
        return kept(self.kind, self.key, make, progress)[_ARRAY]


def put(out: Tensor, rows: Tensor, values: Tensor) -> None:
    """Write features of some words.

    Raises:
        EmbeddingError: half precision has no such numbers.
    """
    if out.dtype == torch.float16 and values.numel():
        largest = float(values.abs().max())
        if largest > torch.finfo(torch.float16).max:
            raise EmbeddingError(
                f"features of {largest:,.0f} are too large for half precision; set half = false"
            )
    out[rows] = values.to(out.dtype)


def check_sentences(sentences: Sentences) -> None:
    """Say so if something is no list of lists of words.

    Raises:
        EmbeddingError: it is not.
    """
    for sentence in [sentences] if isinstance(sentences, str) else sentences:
        if isinstance(sentence, str) or not all(isinstance(word, str) for word in sentence):
            raise EmbeddingError(f"a sentence has to be a list of words, not {shown(sentence)}")
