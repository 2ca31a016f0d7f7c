"""The words of sentences side by side, and what turns them into vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from cellwright.embeddings.characters import CharacterBatch
from cellwright.engine.ragged import Ragged


@dataclass(frozen=True)
class WordBatch:
    """Sentences side by side; (steps, batch) where each word has something.

    Args:
        words: the numbers of the words.
        lengths: (batch,), of the sentences.
        features: what is known of each word, by name, (steps, batch, width).
        characters: of all distinct words, and which of these each word is: (steps · batch,).
    """

    words: Tensor
    lengths: Tensor
    features: dict[str, Tensor]
    characters: CharacterBatch | None = None


class Embedder(nn.Module, ABC):
    """Turns the words of a batch into vectors: (steps, batch, `width`)."""

    width: int

    @abstractmethod
    def forward(self, batch: WordBatch) -> Tensor:
        """The vectors of all words; what stands behind a sentence's end does not matter."""


def embedded(embedders: Iterable[nn.Module], batch: WordBatch, ragged: Ragged) -> Tensor:
    """What all embedders say of each word, side by side, as `ragged` keeps words."""
    vectors = [ragged.begin(embed(batch)) for embed in embedders]
    return vectors[0] if len(vectors) == 1 else torch.cat(vectors, -1)
