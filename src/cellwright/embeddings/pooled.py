"""Pooled vectors: what a word has been in all sentences so far, beside what it is in this one.

Akbik, Bergmann and Vollgraf, "Pooled Contextualized Embeddings for Named Entity Recognition" (NAACL
2019). A memory holds for each word, as it is spelled, the smallest, the largest or the mean of the
vectors that it has had, number by number. All words of a batch are added first; then each gets its
word's pooled vector, followed by its own. So the order of the batches matters. The memory is
emptied at the start of an epoch, and so it can be had again at any point of one: by adding the
epoch's batches up to there. A memory can stand on another one, which it leaves as it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from cellwright.base.errors import did_you_mean
from cellwright.embeddings.errors import EmbeddingError

POOLINGS = {"min": float("inf"), "max": float("-inf"), "mean": 0.0}
"""How vectors become one, with what a word's row is before its first."""


class WordMemory:
    """The pooled vector of every word that was seen.

    Args:
        size: numbers of a vector.
        pooling: one of `POOLINGS`.
        before: a memory of the same kind, whose words this one knows too.
    """

    def __init__(self, size: int, pooling: str = "min", before: WordMemory | None = None) -> None:
        if pooling not in POOLINGS:
            hint = did_you_mean(pooling, POOLINGS) or f"; known are {', '.join(POOLINGS)}"
            raise EmbeddingError(f"unknown pooling {pooling!r}{hint}")
        self.size, self.pooling, self._before = size, pooling, before
        self.empty()

    def empty(self) -> None:
        """Forget all words that were added, as at the start of an epoch."""
        self._rows: dict[Hashable, int] = {}
        self._table = torch.empty(0, self.size, dtype=torch.float32)
        self._counts = torch.empty(0, dtype=torch.float32)

    def __len__(self) -> int:
        """How many words were added."""
        return len(self._rows)

    def with_pooled(self, words: Sequence[Hashable], states: Tensor) -> Tensor:
        """Add the words of a batch; then their pooled vectors, each followed by its own.

        Args:
            words: the batch's words, sentence after sentence.
            states: (words, size), their vectors in this batch.

        Returns:
            (words, 2 · size).
        """
        self.add(words, states)
        return torch.cat([self.pooled(words), states], 1)

    def add(self, words: Sequence[Hashable], states: Tensor) -> None:
        """Add vectors of words."""
        if states.shape != (len(words), self.size):
            raise EmbeddingError(
                f"{len(words)} words need vectors of the shape ({len(words)}, {self.size}), "
                f"not {tuple(states.shape)}"
            )
        rows = torch.tensor(
            [self._rows.setdefault(word, len(self._rows)) for word in words], dtype=torch.int64
        )
        self._grow()
        states = states.detach().to(self._table)
        if self.pooling == "mean":
            self._table.index_add_(0, rows, states)
            self._counts.index_add_(0, rows, self._counts.new_ones(len(words)))
        else:
            index = rows.unsqueeze(1).expand_as(states)
            self._table.scatter_reduce_(0, index, states, f"a{self.pooling}")

    def pooled(self, words: Sequence[Hashable]) -> Tensor:
        """The pooled vectors of words that were added before.

        Raises:
            EmbeddingError: a word was not.
        """
        try:
            rows = torch.tensor([self._rows[word] for word in words], dtype=torch.int64)
        except KeyError as error:
            raise EmbeddingError(f"the word {error} has no pooled vector yet") from None
        found, counts = self._table[rows], self._counts[rows]
        if self._before is not None:
            self._join(self._before, words, found, counts)
        return found / counts.unsqueeze(1) if self.pooling == "mean" else found

    def _join(
        self, other: WordMemory, words: Sequence[Hashable], found: Tensor, counts: Tensor
    ) -> None:
        """Add what another memory has of words to what was found of them here."""
        places = [at for at, word in enumerate(words) if word in other._rows]
        rows = [other._rows[words[at]] for at in places]
        if self.pooling == "mean":
            found[places] += other._table[rows]
            counts[places] += other._counts[rows]
        else:
            smaller = torch.minimum if self.pooling == "min" else torch.maximum
            found[places] = smaller(found[places], other._table[rows])

    def _grow(self) -> None:
        """Make room for all words, and for as many again."""
        before, needed = len(self._table), len(self._rows)
        if needed <= before:
            return
        more = max(needed, 2 * before) - before
        start = POOLINGS[self.pooling]
        self._table = torch.cat([self._table, self._table.new_full((more, self.size), start)])
        self._counts = torch.cat([self._counts, self._counts.new_zeros(more)])
