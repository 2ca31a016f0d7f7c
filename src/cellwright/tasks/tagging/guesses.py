"""What a tagger says of tagged sentences, beside what is true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.models.cell_model import Theta
from cellwright.models.tagger import TaggedBatch, Tagger

Numbers = NDArray[np.int64]


class Guesses(NamedTuple):
    """The numbers of words, of their true tags, and of those that a model has said, the sentences
    one after another; `offsets` are their starts, and at last the number of words."""

    words: Numbers
    true: Numbers
    said: Numbers
    offsets: Numbers


@torch.no_grad()
def guesses(
    model: Tagger, batches: Sequence[TaggedBatch], theta: Theta | None = None
) -> Iterator[Guesses]:
    """The best tags of each batch, without dropout."""
    model.eval()
    for batch in batches:
        said = model.tag(batch, theta)
        lengths = batch.lengths.tolist()
        words, true = (
            np.concatenate([rows[:n, k] for k, n in enumerate(lengths)])
            for rows in (batch.words.numpy(), batch.tags.numpy())
        )
        together = np.concatenate([np.asarray(tags, np.int64) for tags in said])
        yield Guesses(words, true, together, np.cumsum([0, *lengths]))


def all_guesses(model: Tagger, batches: Sequence[TaggedBatch]) -> Guesses:
    """Those of all batches in one."""
    each = list(guesses(model, batches))
    words, true, said = (
        np.concatenate(column) for column in zip(*(one[:3] for one in each), strict=True)
    )
    lengths = np.concatenate([np.diff(one.offsets) for one in each])
    return Guesses(words, true, said, np.append(0, np.cumsum(lengths)))
