"""`dead_reason`: whether a cell can learn anything at all, from its graph and from a short run.

The graph says for sure where an output cannot depend on the text (`cellwright.cell.liveness`).
Where it says nothing, the cell runs: a few rows of random numbers, a few steps, with random weights
that leave a linear's result as large as its input. If the outputs of different rows are the same,
for each of several draws of the weights, the cell is dead. Outputs of cells that live differ by a
few hundredths at least, those of dead ones by nothing, so the threshold between them is wide.

A cell whose run gives numbers that are not finite is not dead: a training says that it diverged.
"""

from __future__ import annotations

import functools
import math

import torch

from cellwright.base.seeds import seeded
from cellwright.cell import Cell
from cellwright.cell.liveness import surely_dead
from cellwright.engine.recurrent import Recurrent

NO_SPREAD = "its output does not change with what it reads, whichever weights were tried"

THRESHOLD = 1e-6
"""Outputs of different rows that differ by less than this are the same: a float has 7 digits."""

_WIDTH, _ROWS, _STEPS = 16, 16, 8
_DRAWS = 3


@functools.lru_cache(maxsize=4096)
def dead_reason(cell: Cell) -> str | None:
    """Why a cell cannot learn, in words; None if it can.

    The answer is the same at all times: all draws have fixed seeds. A supernet is judged by its
    graph alone, since the weights of its edges come from a search.

    >>> from cellwright import zoo
    >>> dead_reason(zoo["lstm"]) is None
    True
    """
    reason = surely_dead(cell)
    if reason is not None or cell.is_supernet:
        return reason
    spreads = (_spread(cell, draw) for draw in range(_DRAWS))
    return NO_SPREAD if all(spread < THRESHOLD for spread in spreads) else None


def _spread(cell: Cell, draw: int) -> float:
    """How far the outputs of rows differ at most; infinite if one is not finite."""
    steps = _STEPS + max(cell.input_history, cell.state_history)
    with seeded(draw, "probe"), torch.no_grad():
        layer = Recurrent(cell, _WIDTH, _WIDTH, init_range=math.sqrt(3 / _WIDTH)).eval()
        output = layer(torch.randn(steps, _ROWS, _WIDTH))[0]
    assert isinstance(output, torch.Tensor)
    spread = float((output.amax(1) - output.amin(1)).amax())
    return spread if math.isfinite(spread) else math.inf
