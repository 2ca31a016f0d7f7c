"""A tagger around any cell: one tag for each word of a sentence (Huang 2015, Lample 2016, Flair).

What words become comes from outside, as modules that read a batch: pretrained vectors, characters,
features that were computed once. Behind them stand dropouts, a linear layer that may turn frozen
vectors as the task wants them ("relearn" in Flair), the cell in both directions, and a CRF or a
softmax.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cellwright.cell import Cell
from cellwright.engine import Recurrent, WeightBank
from cellwright.engine.crf import Allowed, crf_loss, marginals, viterbi
from cellwright.engine.linear import Linear
from cellwright.engine.ragged import Ragged
from cellwright.models.cell_model import Carried, CellModel, Loss, Theta
from cellwright.models.dropout import sentence_dropout
from cellwright.models.settings import TaggerSettings
from cellwright.models.words import Embedder, WordBatch, embedded


@dataclass(frozen=True)
class TaggedBatch(WordBatch):
    """Sentences side by side, with the numbers of the right tags; 0 behind a sentence's end."""

    tags: Tensor = field(kw_only=True)

    @property
    def size(self) -> int:
        """Its sentences."""
        return len(self.lengths)

    def rate(self, full: float) -> float:
        """The same for every batch."""
        return full


class Tagger(CellModel[TaggedBatch]):
    """The model.

    Args:
        settings: sizes and dropouts.
        cell: the same in both directions, which have weights of their own.
        embedders: what words become, side by side.
        tags: how many there are.
        allowed: which tags may follow each other, for the CRF; all of them unless given.
        backend: of the engine.
        bank: where cells that name their weights find those that they share with others.
    """

    def __init__(
        self,
        settings: TaggerSettings,
        cell: Cell,
        embedders: Sequence[Embedder],
        tags: int,
        *,
        allowed: Allowed | None = None,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        super().__init__()
        self.settings, self._backend, self._allowed = settings, backend, allowed
        self.embedders = nn.ModuleList(embedders)
        width = sum(each.width for each in embedders)
        self.relearn = Linear(width, width) if settings.relearn else None
        self.recurrent = Recurrent(
            cell,
            width,
            settings.hidden,
            settings.layers,
            bidirectional=True,
            dropout=settings.dropout_layers if settings.layers > 1 else 0.0,
            input_dropout=settings.dropout_x,
            hidden_dropout=settings.dropout_hidden,
            backend=backend,
            bank=bank,
            precision=settings.precision,
        )
        self.decision = Linear(2 * settings.hidden, tags)
        if settings.crf:
            self.transitions = nn.Parameter(torch.randn(tags, tags))
            self.start = nn.Parameter(torch.randn(tags))
            self.end = nn.Parameter(torch.randn(tags))

    def around(self, cell: Cell, bank: WeightBank) -> Tagger:
        """The same embeddings, dropouts and CRF around another cell; nothing is copied."""
        other = copy.copy(self)
        other._modules = {**self._modules, "recurrent": self.recurrent.around(cell, bank)}
        return other

    def scores(self, batch: TaggedBatch, theta: Theta | None = None) -> Tensor:
        """How much the model is for each tag of each word, (batch, steps, tags)."""
        settings = self.settings
        ragged = Ragged.of(batch.lengths, *batch.words.shape)
        x = embedded(self.embedders, batch, ragged)
        x = self._without_some_words(x, ragged)
        x = sentence_dropout(x, settings.dropout_input, ragged, self.training)
        if self.relearn is not None:
            x = self.relearn(x)
        said, _ = self.recurrent(ragged.packed(x), theta=theta)
        x = sentence_dropout(said.data, settings.dropout_output, ragged, self.training)
        return ragged.end(self.decision(x)).transpose(0, 1)

    def loss(self, batch: TaggedBatch, carried: Carried, *, theta: Theta | None = None) -> Loss:
        """How unlikely the right tags are."""
        scores, tags = self.scores(batch, theta), batch.tags.transpose(0, 1)
        if self.settings.crf:
            each = crf_loss(
                scores, tags, batch.lengths, self.transitions, self.start, self.end,
                allowed=self._allowed, backend=self._backend,
            )  # fmt: skip
        else:
            words = F.cross_entropy(scores.transpose(1, 2), tags, reduction="none")
            each = (words * self._inside(batch)).sum(1)
        divisors = {"word": int(batch.lengths.sum()), "sentence": batch.size, "sum": 1}
        mean = each.sum() / divisors[self.settings.loss]
        return Loss(mean, mean.new_zeros(()), ())

    @torch.no_grad()
    def tag(self, batch: TaggedBatch, theta: Theta | None = None) -> list[list[int]]:
        """The best tags of each sentence."""
        return self.best(self.scores(batch, theta), batch.lengths)

    @torch.no_grad()
    def best(self, scores: Tensor, lengths: Tensor) -> list[list[int]]:
        """The best tags of each sentence, of which these are the `scores`."""
        if self.settings.crf:
            tags, _ = viterbi(
                scores, lengths, self.transitions, self.start, self.end,
                allowed=self._allowed, backend=self._backend,
            )  # fmt: skip
        else:
            tags = scores.argmax(-1)
        return [row[:n] for row, n in zip(tags.tolist(), lengths.tolist(), strict=True)]

    @torch.no_grad()
    def probabilities(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """How likely each tag of each word is, (batch, steps, tags), over all that the sentence's
        other words may be; nothing is said of what stands behind a sentence's end."""
        if not self.settings.crf:
            return scores.softmax(-1)
        return marginals(
            scores, lengths, self.transitions, self.start, self.end,
            allowed=self._allowed, backend=self._backend,
        )  # fmt: skip

    def _without_some_words(self, x: Tensor, ragged: Ragged) -> Tensor:
        rate = self.settings.dropout_words
        if not self.training or rate == 0:
            return x
        if self.settings.words_dropped == "word":
            stay = torch.rand(len(x), 1, device=x.device) >= rate
        else:
            steps = torch.rand(ragged.steps, 1, device=x.device) >= rate
            stay = steps[ragged.word_steps.to(x.device)]
        return x * stay.to(x.dtype)

    def _inside(self, batch: TaggedBatch) -> Tensor:
        steps = torch.arange(batch.words.shape[0], device=batch.words.device)
        return steps < batch.lengths.unsqueeze(1)
