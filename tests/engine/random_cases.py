"""Modules and calls of random sizes and settings, for random cells."""

from __future__ import annotations

import random
from typing import Any

import torch
from support import Inputs, random_state, thetas
from torch import nn

from cellwright.cell import Cell
from cellwright.engine import Recurrent


def random_case(cell: Cell, rng: random.Random) -> tuple[Recurrent, Inputs]:
    """A module around the cell and a call of it, of random sizes and settings."""
    torch.manual_seed(rng.randrange(2**31))
    hidden = rng.choice((1, 2, 3, 5, 16, 17, 33, 50))
    width = rng.choice((1, 3, 4, 16, 19, 33))
    layers, directions = rng.choice(((1, 1),) * 7 + ((1, 2), (2, 1), (2, 2), (3, 1), (3, 2)))
    options: dict[str, Any] = {}
    if cell.simplified().needs_equal_widths:
        options["project_input"] = rng.random() < 0.5
        width = width if options["project_input"] else hidden
        directions = directions if layers == 1 else 1
    for name in ("dropout", "input_dropout", "hidden_dropout", "weight_dropout"):
        options[name] = rng.choice((0.0, 0.0, 0.3))
    module = Recurrent(
        cell, width, hidden, layers, bidirectional=directions == 2,
        init_range=rng.choice((None, 0.3)) if hidden > 16 else 0.4, **options,
    )  # fmt: skip
    for parameter in module.parameters():
        parameter.requires_grad_(rng.random() < 0.9)
    steps, batch = rng.choice((1, 2, 3, 5, 7)), rng.choice((1, 2, 3, 5, 13, 20))
    lengths = [rng.randint(1, steps) for _ in range(batch)] if rng.random() < 0.4 else None
    carried = _has_parameters(module) and rng.random() < 0.6
    inputs = Inputs(
        torch.randn(steps, batch, width).requires_grad_(rng.random() < 0.7),
        random_state(module, batch, grad=rng.random() < 0.7) if carried else None,
        lengths,
        thetas(cell) if cell.is_supernet else {},
        rng.choice(("output and state",) * 3 + ("output", "state")),
        rng.randrange(2**31),
    )
    return module, inputs


def _has_parameters(module: nn.Module) -> bool:
    return next(module.parameters(), None) is not None
