"""Texts that a recurrent model reads, and its states at some of their places.

Texts run in batches of like lengths, and long ones piece by piece with the state carried on:
neither changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cellwright.base.progress import Progress
from cellwright.embeddings.kept_features import put

BATCH = 32
"""Texts that are run together."""

STEPS = 64
"""Steps that are run at a time: the engine keeps all gates of all of them."""


class Text(NamedTuple):
    """What is read, as numbers, and the places whose states are wanted."""

    numbers: NDArray[np.int64]
    places: NDArray[np.int64]


Read = Callable[[Tensor, Any, Tensor], tuple[Tensor, Any]]
"""Reads numbers (steps, texts), from a state (None at the start), of each text so many as a third
tensor says: what comes out (steps, texts, size), and the state behind it."""


@torch.no_grad()
def states_at(
    read: Read, texts: Sequence[Text], out: Tensor, label: str, progress: Progress | None = None
) -> None:
    """Write the states of all wanted places into `out`, text after text.

    Args:
        read: the model.
        texts: what it reads.
        out: (wanted places, size), in float32 or half precision.
        label: what it is, for progress.
        progress: called with how many numbers were read.
    """
    first = np.cumsum([0, *(len(text.places) for text in texts)])
    order = sorted(range(len(texts)), key=lambda number: -len(texts[number].numbers))
    total, done = sum(len(text.numbers) for text in texts), 0
    for at in range(0, len(order), BATCH):
        numbers = [number for number in order[at : at + BATCH] if len(texts[number].places)]
        rows = [first[number] + np.arange(len(texts[number].places)) for number in numbers]
        for found, targets in _run(read, [texts[number] for number in numbers], rows):
            put(out, targets, found)
        done += sum(len(texts[number].numbers) for number in order[at : at + BATCH])
        if progress is not None:
            progress(label, done, total)


def _run(
    read: Read, batch: Sequence[Text], rows: Sequence[NDArray[np.int64]]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Run texts, the longest first; yields states that are wanted, and their rows in the result."""
    if not batch:
        return
    lengths = np.array([len(text.numbers) for text in batch])
    places = np.concatenate([text.places for text in batch])
    owners = np.repeat(np.arange(len(batch)), [len(text.places) for text in batch])
    targets = np.concatenate(list(rows))
    state: Any = None
    for begin in range(0, int(lengths[0]), STEPS):
        steps = min(STEPS, int(lengths[0]) - begin)
        active = int((lengths > begin).sum())
        numbers = torch.zeros(steps, active, dtype=torch.int64)
        for row, text in enumerate(batch[:active]):
            piece = text.numbers[begin : begin + steps]
            numbers[: len(piece), row] = torch.from_numpy(piece)
        if state is not None:
            state = _rows(state, active)
        left = np.minimum(lengths[:active] - begin, steps)
        output, state = read(numbers, state, torch.from_numpy(left))
        here = np.flatnonzero((places >= begin) & (places < begin + steps))
        if len(here):
            yield output[places[here] - begin, owners[here]], torch.from_numpy(targets[here])


def _rows(state: Any, count: int) -> Any:
    if isinstance(state, Tensor):
        return state[..., :count, :]
    return tuple(_rows(part, count) for part in state)
