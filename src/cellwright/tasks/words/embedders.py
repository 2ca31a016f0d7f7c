"""What of words' vectors is learned with the model, and what is only handed on."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from cellwright.cell.zoo import zoo
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.characters import CharacterCell, CharacterCNN
from cellwright.embeddings.settings import CharactersSettings
from cellwright.models.words import Embedder, WordBatch
from cellwright.tasks.words.spellings import FIRST_NUMBER


class HandedOn(Embedder):
    """Features that do not change."""

    def __init__(self, name: str, width: int) -> None:
        super().__init__()
        self.name, self.width = name, width

    def forward(self, batch: WordBatch) -> Tensor:
        """As they are."""
        return batch.features[self.name]


class LearnedOn(Embedder):
    """Vectors that the training goes on with: as they are, and what it adds, which begins with 0.

    Words that the training part does not have, in the vocabulary or not, stay as they are.

    Args:
        name: of the features.
        width: numbers of each.
        words: the vocabulary, with counts of the training part.
    """

    def __init__(self, name: str, width: int, words: Vocabulary) -> None:
        super().__init__()
        self.name, self.width = name, width
        self.rows: Tensor
        self.register_buffer("rows", _rows(words, 1), persistent=False)
        self.added = nn.Embedding(int(self.rows.max()) + 1, width, padding_idx=0)
        nn.init.zeros_(self.added.weight)

    def forward(self, batch: WordBatch) -> Tensor:
        """The sum."""
        known: Tensor = batch.features[self.name] + self.added(self.rows[batch.words])
        return known


class Mixed(Embedder):
    """One sum of layers, by weights that are learned: γ · Σ softmax(w)ₖ · hₖ (Peters et al. 2018).

    All layers begin with the same weight, and γ with 1.

    Args:
        name: of the features, which have layer after layer.
        layers: how many there are.
        width: numbers of each.
    """

    def __init__(self, name: str, layers: int, width: int) -> None:
        super().__init__()
        self.name, self.width = name, width
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, batch: WordBatch) -> Tensor:
        """The sum."""
        known, layers = batch.features[self.name], len(self.weights)
        known = known.view(*known.shape[:-1], layers, self.width)
        # Each word has its own shares: their gradients are then summed over numbers first, and in
        # the same order for any number of threads.
        shares = (self.gamma * self.weights.softmax(0)).expand(*batch.words.shape, layers)
        return (known * shares.unsqueeze(-1)).sum(-2)


class WordTable(Embedder):
    """A learned vector for each word that training has often enough; one for all others.

    The number behind the last of the vocabulary stands for every word that is not in it.

    Args:
        words: the vocabulary, with counts of the training part.
        width: numbers of a word.
        least: how often a word has to be there.
    """

    def __init__(self, words: Vocabulary, width: int, least: int) -> None:
        super().__init__()
        self.width = width
        self.rows: Tensor
        self.register_buffer("rows", _rows(words, least), persistent=False)
        self.table = nn.Embedding(int(self.rows.max()) + 1, width)

    def forward(self, batch: WordBatch) -> Tensor:
        """Each word's own vector."""
        known: Tensor = self.table(self.rows[batch.words])
        return known


def _rows(words: Vocabulary, least: int) -> Tensor:
    """For each word of the vocabulary, and for all that are not in it, which row of a table it has:
    one of its own from `least` occurrences in training on, otherwise 0."""
    often = words.counts >= least
    rows = np.append(np.where(often, np.cumsum(often), 0), 0)
    return torch.from_numpy(rows.astype(np.int64))


class Spelled(Embedder):
    """Vectors of words by their characters.

    Args:
        module: `CharacterCNN` or `CharacterCell`.
    """

    def __init__(self, module: CharacterCNN | CharacterCell) -> None:
        super().__init__()
        self.module, self.width = module, module.size

    def forward(self, batch: WordBatch) -> Tensor:
        """Each distinct word is computed once."""
        assert batch.characters is not None
        found: Tensor = self.module(*batch.characters)
        return found.view(*batch.words.shape, self.width)


def spelled(settings: CharactersSettings, characters: Vocabulary, backend: str = "auto") -> Spelled:
    """The module that settings describe.

    Raises:
        CellError: the zoo has no such cell.
    """
    count = len(characters) + FIRST_NUMBER
    if settings.by == "cnn":
        return Spelled(CharacterCNN(count, settings.size, settings.width, dropout=settings.dropout))
    return Spelled(
        CharacterCell(
            zoo[settings.by], count, settings.size, settings.width, settings.dropout, backend
        )
    )
