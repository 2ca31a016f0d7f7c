"""Small models of sentences and batches for them, for the tests of this folder."""

import torch
import torch.nn.functional as F
from torch import nn

from cellwright.cell.zoo import zoo
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.build import build_sentence_model
from cellwright.models.sentences.settings import BiRnnSettings, BlmSettings, EsimSettings
from cellwright.models.words import Embedder, WordBatch

WORDS, WIDTH, MORE = 20, 5, 2

NO_DROPOUT = {
    "bi-rnn": {"dropout_input": 0.0, "dropout_output": 0.0},
    "blm": {"dropout_input": 0.0, "dropout_output": 0.0, "dropout_projection": 0.0},
    "esim": {
        "dropout_input": 0.0, "dropout_composition": 0.0, "dropout_enhancement": 0.0,
        "dropout_projection": 0.0,
    },
}  # fmt: skip

SMALL = {
    "bi-rnn": (BiRnnSettings, {"hidden": 6, "layers": 1, "feed_forward": 7}),
    "blm": (BlmSettings, {"hidden": 6, "feed_forward": 7}),
    "esim": (
        EsimSettings, {"hidden": 6, "hidden_composition": 4, "projection": 5, "feed_forward": 7}
    ),
}  # fmt: skip
KINDS = tuple(SMALL)


def settings_of(kind, *, dropouts=False, **changes):
    made, sizes = SMALL[kind]
    return made(**({} if dropouts else NO_DROPOUT[kind]) | sizes | changes)


class Table(Embedder):
    """A vector for each word."""

    width = WIDTH

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(WORDS, WIDTH))

    def forward(self, batch):
        return F.embedding(batch.words, self.table)


class Elsewhere(Embedder):
    """Features that came with the batch."""

    width = MORE

    def forward(self, batch):
        return batch.features["more"]


def model_of(kind, cell=zoo["lstm"], labels=3, per_example=2, *, bank=None, seed=0, **changes):
    settings = settings_of(kind, **changes)
    torch.manual_seed(seed)
    embedders = [Table(), Elsewhere()]
    return build_sentence_model(settings, cell, embedders, labels, per_example, bank=bank)


def batch_of(*lengths, labels=3, seed=0, behind=0):
    """A batch of examples.

    Args:
        lengths: of all first sentences, and of all second ones if there are.
        labels: 0 for scores.
        seed: of words and targets.
        behind: how far the padding goes behind the longest sentence.
    """
    generator = torch.Generator().manual_seed(seed)
    per_example, size = len(lengths), len(lengths[0])
    all_lengths = torch.tensor([n for each in lengths for n in each])
    shape = (int(all_lengths.max()) + behind, len(all_lengths))
    words = torch.randint(WORDS, shape, generator=generator)
    more = torch.randn(*shape, MORE, generator=generator)
    if labels:
        targets = torch.randint(labels, (size,), generator=generator).float()
    else:
        targets = torch.rand(size, generator=generator)
    sentences = WordBatch(words, all_lengths, {"more": more})
    return SentenceBatch(sentences, per_example, targets)


def examples(batch):
    """For each example its sentences, each the words and what else is known of them."""
    sentences = [
        (batch.sentences.words[:n, row], batch.sentences.features["more"][:n, row].double())
        for row, n in enumerate(batch.sentences.lengths.tolist())
    ]
    groups = [sentences[at : at + batch.size] for at in range(0, len(sentences), batch.size)]
    return list(zip(*groups, strict=True))


RAGGED = ((3, 7, 1, 5), (6, 1, 4, 5))
"""Lengths of pairs, with sentences of a single word."""
