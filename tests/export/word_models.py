"""Small taggers and models of sentences over every kind of embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import cellwright as cw
from cellwright.data.tagged.schemes import TagSet
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.settings import CharactersSettings
from cellwright.models.sentences.build import build_sentence_model
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.models.sentences.settings import (
    BiRnnSettings,
    BlmSettings,
    EsimSettings,
    FrozenSettings,
)
from cellwright.models.settings import TaggerSettings
from cellwright.models.tagger import Tagger
from cellwright.models.words import Embedder
from cellwright.tasks.tagging.legal import legal
from cellwright.tasks.words.embedders import HandedOn, LearnedOn, Mixed, WordTable, spelled

WORDS = Vocabulary(["a", "b", "c", "d"], np.array([3, 1, 0, 2]))
TAGS = TagSet("IOBES", ("LOC", "PER"))


def embedders(by: str) -> list[Embedder]:
    """One of each kind; `by` is what reads characters."""
    learned, mixed = LearnedOn("2-vectors", 2, WORDS), Mixed("3-transformer", 3, 2)
    torch.nn.init.normal_(learned.added.weight)
    torch.nn.init.normal_(mixed.weights)
    characters = spelled(CharactersSettings(by=by, size=5, width=4), WORDS)
    return [WordTable(WORDS, 4, 1), HandedOn("1-vectors", 3), learned, mixed, characters]


def tagger(by: str, *, crf: bool, constrained: bool) -> Tagger:
    """A tagger of two layers."""
    torch.manual_seed(1)
    settings = TaggerSettings(
        hidden=6, layers=2, crf=crf, constrained=constrained, relearn=constrained
    )
    allowed = legal(TAGS) if constrained else None
    model = Tagger(settings, cw.zoo["lstm"], embedders(by), len(TAGS), allowed=allowed)
    return model.eval()


SENTENCES: dict[str, Any] = {
    "bi-rnn": BiRnnSettings(hidden=5, layers=2, feed_forward=7),
    "blm": BlmSettings(hidden=5, feed_forward=6),
    "blm signed": BlmSettings(
        hidden=5, feed_forward=6, padding_is_zero=True, signed_difference=True
    ),
    "esim": EsimSettings(
        hidden=5, hidden_composition=4, projection=6, feed_forward=7, layer_cells=("gru", "*")
    ),
    "frozen": FrozenSettings(projection=5, feed_forward=6),
    "frozen with attention": FrozenSettings(
        projection=5, feed_forward=6, attention=4, pooling="mean"
    ),
}


SENTENCE_CASES = [
    (name, per_example) for name in SENTENCES for per_example in (1, 2) if name != "esim"
] + [("esim", 2)]
"""Each model on sentences and on pairs; ESIM reads pairs alone."""


def sentence_model(name: str, labels: int, per_example: int) -> SentenceModel:
    """One of the models above."""
    torch.manual_seed(2)
    model = build_sentence_model(
        SENTENCES[name], cw.zoo["darts-v1"], embedders("cnn"), labels, per_example
    )
    return model.eval()
