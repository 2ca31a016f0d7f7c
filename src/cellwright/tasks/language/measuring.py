"""The loss of every word of a text, with the state carried through all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cellwright.models.language_model import CarriedState, LanguageModel
from cellwright.tasks.language.segments import Segment, even_segments

Tokens = NDArray[np.int32]


class Measured(NamedTuple):
    """A segment's words and what each cost: both (steps, batch), in nats."""

    words: NDArray[np.int64]
    losses: NDArray[np.float64]


def text_losses(model: LanguageModel, text: Tokens, length: int) -> NDArray[np.float64]:
    """The loss of every word of a batched text but its first row: (rows − 1, batch) nats.

    The state is carried from segment to segment, so every word is read with all before it.
    """
    return np.concatenate([part.losses for part in segment_losses(model, text, length)])


def segment_losses(model: LanguageModel, text: Tokens, length: int) -> Iterator[Measured]:
    """The same, segment by segment, for texts whose losses are not kept."""
    model.eval()
    state: CarriedState = model.zero_state(text.shape[1])
    for segment in even_segments(len(text), length):
        tokens, targets = words_of(text, segment)
        losses, state = model.token_losses(tokens, targets, state)
        yield Measured(targets.numpy(), losses.double().numpy())


def words_of(text: Tokens, segment: Segment) -> tuple[Tensor, Tensor]:
    """A segment and what comes after each of its words."""
    rows = text[segment.start : segment.start + segment.length + 1]
    tokens = torch.from_numpy(np.ascontiguousarray(rows).astype(np.int64))
    return tokens[:-1], tokens[1:]
