"""How much memory learning takes at the least, known before anything of it is made."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from cellwright.base.amounts import memory
from cellwright.base.memory import NotEnoughMemoryError, memory_there
from cellwright.engine import Recurrent
from cellwright.models.cell_model import AnyBatch
from cellwright.training.settings import TrainingSettings

_FLOAT = 4
_COPIES = {"sgd": 2, "adam": 4}
"""How many numbers there are for each weight: itself, its gradient, and what Adam remembers."""


def check_size(
    make: Callable[[], nn.Module], batch: AnyBatch, settings: TrainingSettings, table: str
) -> None:
    """Say so if a model cannot learn on this machine: before its weights are drawn, and not after
    the machine has begun to swap.

    What it takes is underestimated: without what stands around the recurrent layers, and without
    what a backend needs beyond the sums of linears that every backend keeps.

    Args:
        make: makes the model; its weights are made without memory (torch's meta device).
        batch: what it learns from at once.
        settings: how it learns.
        table: the table of a recipe that the settings are from, for people.

    Raises:
        NotEnoughMemoryError: it takes more than there is.
    """
    there = memory_there()
    if there is None:
        return
    model = _weightless(make)
    if model is None:
        return
    parameters = sum(weight.numel() for weight in model.parameters())
    weights = _FLOAT * parameters * _COPIES[settings.optimizer]
    kept = _FLOAT * batch.size * sum(_kept(m) for m in model.modules() if isinstance(m, Recurrent))
    if weights + kept <= there:
        return
    parts = f"{memory(weights)} for {parameters:,} parameters with gradients and optimizer"
    if kept:
        parts += f", {memory(kept)} for what is kept of each batch"
    raise NotEnoughMemoryError(
        f"the model takes {memory(weights + kept)} of memory at least ({parts}), and there are "
        f"{memory(there)} here; {_smaller(table, weights > there)}"
    )


def parameter_count(make: Callable[[], nn.Module]) -> int:
    """How many numbers a model learns, known without memory for them where that can be."""
    model = _weightless(make)
    if model is None:
        with torch.random.fork_rng(devices=[]):
            model = make()
    return sum(weight.numel() for weight in model.parameters())


def _smaller(table: str, by_weights: bool) -> str:
    nodes = " or fewer search.nodes" if table == "search" else ""
    if by_weights:
        return f"choose smaller sizes under [model]{nodes}"
    return f"choose a smaller {table}.batch, or smaller sizes under [model]{nodes}"


def _weightless(make: Callable[[], nn.Module]) -> nn.Module | None:
    """The model with shapes alone, or None where it cannot be made so: a plug-in's perhaps."""
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            return make()
    except (RuntimeError, NotImplementedError):
        return None


def _kept(layers: Recurrent) -> int:
    """The numbers that every backend keeps for each row and step, for the way back."""
    cell = layers.cell.simplified()
    linears = sum(node.op == "linear" for node in cell.nodes)
    directions = 2 if layers.bidirectional else 1
    return layers.num_layers * directions * layers.hidden_size * (linears + len(cell.states))
