"""A training step of DARTS' language model: on which text, by whom, and what belongs to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from contenders import Shape
from plain_language_model import PlainLanguageModel, plain_layer
from torch import Tensor, nn

import cellwright as cw
from cellwright.data import batchify, load
from cellwright.data.sources import is_here
from cellwright.models import OneLayerSettings, build_language_model
from cellwright.models.cell_model import detached
from cellwright.models.one_layer import OneLayer

CONTENDERS = ("ours", "plain", "nn.LSTM")
"""Our model, the plain one with the same cell and weights, the plain one with `nn.LSTM`."""

WORDS = 10_000
LEARNING_RATE, WEIGHT_DECAY, CLIP = 20.0, 8e-7, 0.25  # DARTS' evaluation


@dataclass(frozen=True)
class Text:
    """Rows of a batch of running text (rows, batch), its vocabulary, and where it is from."""

    rows: Tensor
    words: int
    name: str

    def segments(self, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Words and those that follow them, `steps` rows at a time, from the start once done."""
        for first in itertools.cycle(range(0, len(self.rows) - steps, steps)):
            yield self.rows[first : first + steps], self.rows[first + 1 : first + 1 + steps]


def running_text(shape: Shape, words: int | None) -> Text:
    """PTB where it is on this machine; else, or for a given vocabulary, words by Zipf's law."""
    if words is None and is_here("ptb"):
        corpus = load("ptb")
        rows = torch.from_numpy(batchify(corpus.train, shape.batch).astype("int64"))
        return Text(rows, len(corpus.vocabulary), f"PTB, {len(corpus.vocabulary):,} words")
    words = words or WORDS
    generator = torch.Generator().manual_seed(0)
    frequencies = 1 / torch.arange(1, words + 1)
    count = (20 * shape.steps + 1) * shape.batch
    tokens = frequencies.multinomial(count, replacement=True, generator=generator)
    return Text(tokens.view(-1, shape.batch), words, f"random text of {words:,} words")


class Training:
    """One contender in the middle of its training: `step` goes on by one segment."""

    def __init__(self, name: str, cell: str, shape: Shape, text: Text) -> None:
        torch.manual_seed(0)
        ours = build_language_model(OneLayerSettings(hidden=shape.hidden), cw.zoo[cell], text.words)
        assert isinstance(ours, OneLayer)
        self.model: nn.Module = ours
        self._objective: Callable[..., tuple[Tensor, Any]] = self._ours
        if name != "ours":
            lstm = name == "nn.LSTM"
            layer = nn.LSTM(shape.hidden, shape.hidden) if lstm else plain_layer(cell, ours)
            self.model = self._objective = PlainLanguageModel(ours, layer)
        self._optimizer = torch.optim.SGD(
            self.model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
        )
        self._segments = text.segments(shape.steps)
        self._state: Any = None

    def _ours(self, tokens: Tensor, targets: Tensor, state: Any) -> tuple[Tensor, Any]:
        mean, penalty, state = self.model.text_loss(tokens, targets, state)
        return mean + penalty, state

    def step(self) -> float:
        """A full training step; its loss."""
        tokens, targets = next(self._segments)
        self._optimizer.zero_grad(set_to_none=True)
        loss, state = self._objective(tokens, targets, self._state)
        self._state = detached(state)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self._optimizer.step()
        return loss.item()
