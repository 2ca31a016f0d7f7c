"""Reading text with the model of a stage: losses to learn from, and to measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cellwright.base.seeds import seeded
from cellwright.data import Corpus, batchify
from cellwright.models.language_model import CarriedState, detach_state
from cellwright.models.one_layer import OneLayer
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.gradient.stages import Stage
from cellwright.tasks.language.segments import Segment, even_segments

Tokens = NDArray[np.int32]


@dataclass(frozen=True)
class Texts:
    """Batched texts (rows, batch): what the weights learn, the architecture learns, and measures.

    DARTS' code for recurrent cells gives all of the training text to the weights and the
    validation text to the architecture; its code for images, one half of the training data to
    each. I-DARTS copies DARTS' setup (section 3.1); ESS does not say.
    """

    weights: Tokens
    architecture: Tokens
    valid: Tokens

    @classmethod
    def of(cls, corpus: Corpus, settings: DifferentiableSettings) -> Texts:
        """The corpus as the settings divide it."""
        weights, architecture = corpus.train, corpus.valid
        if settings.architecture_text == "halves":
            middle = len(corpus.train) // 2
            weights, architecture = corpus.train[:middle], corpus.train[middle:]
        return cls(
            batchify(weights, settings.batch),
            batchify(architecture, settings.batch),
            batchify(corpus.valid, settings.evaluation_batch),
        )

    def architecture_segments(self, settings: DifferentiableSettings) -> list[Segment]:
        """What the architecture reads again and again; a rest shorter than others is left out."""
        segments = even_segments(len(self.architecture), settings.bptt)
        return [s for s in segments if s.length == segments[0].length]


@dataclass
class Reading:
    """The loss of a segment, the same function each time: same words, state and dropout masks.

    Args:
        stage: whose model reads, with weights and variables as they are each time.
        text: (rows, batch).
        segment: its rows that are read.
        state: what the segment before left.
        seed: of the search.
        masks: what sets these dropout masks apart from others of the seed.
        penalty: whether the penalty on activations belongs to the loss.
    """

    stage: Stage
    text: Tokens
    segment: Segment
    state: CarriedState
    seed: int
    masks: tuple[str | int, ...]
    penalty: bool
    nats: float = field(default=math.nan, init=False)
    after: CarriedState = field(default=(), init=False)

    def __call__(self) -> Tensor:
        """Read; `nats` is then the mean loss of a word, `after` the state, without their past."""
        model = self.stage.model
        model.train()
        tokens, targets = _words(self.text, self.segment)
        with seeded(self.seed, *self.masks):
            seen = model.loss(tokens, targets, self.state, theta=self.stage.theta())
        self.nats, self.after = float(seen.cross_entropy.detach()), detach_state(seen.state)
        return seen.cross_entropy + seen.penalty if self.penalty else seen.cross_entropy


@torch.no_grad()
def mean_loss(model: OneLayer, text: Tokens, length: int, theta: Mapping[str, Tensor]) -> float:
    """Nats per word of a batched text, each word read with all before it."""
    model.eval()
    state = model.zero_state(text.shape[1])
    total = 0.0
    for segment in even_segments(len(text), length):
        losses, state = model.token_losses(*_words(text, segment), state, theta=theta)
        total += float(losses.double().sum())
    return total / text[1:].size


def _words(text: Tokens, segment: Segment) -> tuple[Tensor, Tensor]:
    """A segment and what comes after each of its words."""
    rows = text[segment.start : segment.start + segment.length + 1]
    tokens = torch.from_numpy(np.ascontiguousarray(rows).astype(np.int64))
    return tokens[:-1], tokens[1:]
