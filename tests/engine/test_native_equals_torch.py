"""The native core computes what the torch backend computes, for random cells of every space."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

import cells
from cellwright.cell import Cell, zoo
from cellwright.cell.listings import darts, enas, ess, fenas, nas_bench_nlp
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.engine import Recurrent
from engine.support import Inputs, assert_native_is_torch, random_case, random_state, thetas


def supernet(rng: random.Random) -> Cell:
    operations = rng.sample(darts.OPERATIONS, rng.randint(1, len(darts.OPERATIONS)))
    edges, norm = rng.choice(darts.EDGES), rng.random() < 0.5
    if rng.random() < 0.5:
        return darts_supernet(rng.randint(1, 3), operations, edges=edges, norm=norm).cell
    return ess_supernet(rng.randint(1, 3), rng.randint(1, 3), operations, edges=edges, norm=norm).cell


SPACES: dict[str, Callable[[random.Random], Cell]] = {
    "enas": lambda rng: enas.lower(cells.enas_listing(rng)),
    "darts": lambda rng: darts.lower(cells.darts_listing(rng)),
    "ess": lambda rng: ess.lower(cells.ess_listing(rng)),
    "fenas": lambda rng: fenas.lower(cells.fenas_listing(rng)),
    "nas-bench-nlp": lambda rng: nas_bench_nlp.lower(cells.recipe(rng)),
    "any": cells.cell,
    "any-supernet": lambda rng: cells.cell(rng, supernets=True),
    "supernet": supernet,
}
CELLS, CHUNK = 300, 30


@pytest.mark.parametrize("start", range(0, CELLS, CHUNK))
@pytest.mark.parametrize("space", SPACES)
def test_random_cells_agree(space: str, start: int) -> None:
    for number in range(start, start + CHUNK):
        rng = random.Random(f"{space} {number}")
        module, inputs = random_case(SPACES[space](rng), rng)
        assert_native_is_torch(module, inputs)
