"""ESIM (Chen et al. 2017) as ENAS-pairs has it (2020, section 3.2 and the caption of Table 5).

The paper uses AllenNLP's model: each word attends to those of the other sentence, and what it finds
there is put beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.engine import WeightBank
from cellwright.engine.linear import Linear
from cellwright.models.cell_model import Theta
from cellwright.models.dropout import sentence_dropout
from cellwright.models.sentences.attention import attended
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.head import Head
from cellwright.models.sentences.pooling import largest, mean
from cellwright.models.sentences.sentence_model import SentenceModel, vector_width
from cellwright.models.sentences.settings import EsimSettings
from cellwright.models.words import Embedder


class Esim(SentenceModel):
    """Encoder, attention across the pair, enhancement, projection, composition, pooling, head.

    Linear layers start as AllenNLP's do, Xavier uniform with biases of zero.

    Args:
        settings: sizes and dropouts.
        cell, embedders, outputs, per_example, backend, bank: see `SentenceModel`.

    Raises:
        UserError: examples are no pairs.
    """

    def __init__(
        self,
        settings: EsimSettings,
        cell: Cell,
        embedders: Sequence[Embedder],
        outputs: int,
        per_example: int,
        *,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        if per_example != 2:
            raise UserError("esim reads pairs of sentences, and the data has single ones")
        hidden, composed = settings.hidden, settings.hidden_composition
        widths = [(vector_width(embedders), hidden), (settings.projection, composed)]
        super().__init__(
            settings, cell, embedders, outputs, per_example, widths, backend=backend, bank=bank
        )
        self.settings = settings
        self.projection = Linear(4 * 2 * hidden, settings.projection)
        self.head = Head(
            4 * 2 * composed,
            settings.feed_forward,
            outputs,
            torch.relu,
            dropout_input=settings.dropout_pooled,
            dropout_projection=settings.dropout_projection,
        )
        for linear in (self.projection, self.head.feed_forward, self.head.projection):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def outputs(self, batch: SentenceBatch, theta: Theta | None = None) -> Tensor:
        """How much the model is for each label, (examples, labels); or the scores, (examples,)."""
        settings, training = self.settings, self.training
        x, ragged = self.read(batch)
        x = sentence_dropout(x, settings.dropout_input, ragged, training)
        x = self.recur(0, x, ragged, theta)
        x = F.dropout(_enhanced(x, attended(x, ragged)), settings.dropout_enhancement, training)
        x = torch.relu(self.projection(x))
        x = sentence_dropout(x, settings.dropout_composition, ragged, training)
        x = self.recur(1, x, ragged, theta)
        first, second = torch.cat([mean(x, ragged), largest(x, ragged)], 1).chunk(2)
        said: Tensor = self.head(torch.cat([first, second], 1))
        return said


def _enhanced(x: Tensor, other: Tensor) -> Tensor:
    return torch.cat([x, other, x - other, x * other], 1)
