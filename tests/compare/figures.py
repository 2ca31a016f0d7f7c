"""Trainings that never took place, for tests of what is made of their figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import cellwright as cw
from cellwright.compare.contenders import Contender
from cellwright.compare.results import Ended, Standing
from cellwright.runs.folder import RunFolder
from cellwright.training.results import EpochRecord, Result

CELLS = {"found": "darts-v1", "lstm": "lstm", "a": "gru", "b": "rnn", "c": "darts-v2"}


def ended(seed: int, perplexity: float, epochs: int = 2) -> Ended:
    """A training of that perplexity on both texts; infinite if it diverged in its first epoch."""
    loss = math.log(perplexity)
    lost = math.isinf(perplexity)
    curve = () if lost else tuple(_record(epoch, loss + 2 - epoch) for epoch in (1, 2))
    result = Result(
        "exploded" if lost else "ok", curve, None if lost else epochs, loss, loss, 30.0, 1000, 10**8
    )
    folder = cast(RunFolder, cast(Any, RunFolder)(Path(f"seed{seed}"), None))
    return Ended(seed, folder, result)


def _record(epoch: int, loss: float) -> EpochRecord:
    return EpochRecord(epoch, loss, loss, loss, 1.0, 15.0 * epoch, 10**8, False)


def standing(label: str, perplexities: Sequence[float]) -> Standing:
    """A cell with a training for each perplexity."""
    cell = cw.zoo[CELLS.get(label, "rnn")]
    runs = tuple(ended(seed, value) for seed, value in enumerate(perplexities))
    return Standing(Contender(label, cell), runs)
