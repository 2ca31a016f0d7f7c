"""The loss of every word of a text, with the state carried through all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellwright.models.cell_model import Theta
from cellwright.models.language_model import LanguageModel, TextBatch


class Measured(NamedTuple):
    """A segment's words and what each cost: both (steps, batch), in nats."""

    words: NDArray[np.int64]
    losses: NDArray[np.float64]


def segment_losses(
    model: LanguageModel, batches: Sequence[TextBatch], theta: Theta | None = None
) -> Iterator[Measured]:
    """What each word of a text costs, segment by segment.

    The state is carried from segment to segment, so every word is read with all before it.
    """
    model.eval()
    state = model.begin(batches[0])
    for batch in batches:
        losses, state = model.token_losses(batch.tokens, batch.targets, state, theta=theta)
        yield Measured(batch.targets.numpy(), losses.double().numpy())
