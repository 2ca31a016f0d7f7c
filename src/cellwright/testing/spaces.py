"""What every space has to hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cellwright.cell import Cell
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.spaces import Interval, Space, SpaceError

_SEEDS = (0, 1, 7, 42, 2**31)


def samples_are_finished_cells_of_the_space(space: Space) -> None:
    """What is sampled is contained, is no supernet, and survives JSON."""
    for seed in _SEEDS:
        cell = space.sample(np.random.default_rng(seed))
        assert space.contains(cell), f"{space.name} does not contain its sample {cell.id}"
        assert not cell.is_supernet, f"{space.name} sampled a supernet"
        back = Cell.from_json(cell.to_json())
        assert back == cell, f"a sample of {space.name} does not survive JSON"
        assert space.contains(back), f"{space.name} does not contain its sample after JSON"


def mutations_stay_inside_and_change_the_cell(space: Space) -> None:
    """A mutant is another cell of the space."""
    for seed in _SEEDS:
        rng = np.random.default_rng(seed)
        parent = space.sample(rng)
        for _ in range(4):
            child = space.mutate(parent, rng)
            assert space.contains(child), f"a mutant left the space {space.name}"
            assert child != parent, f"a mutation in {space.name} changed nothing"
            parent = child


def the_same_seed_draws_the_same(space: Space) -> None:
    """Everything that is drawn comes from the generator that is handed in."""

    def draw() -> list[Cell]:
        rng = np.random.default_rng(7)
        drawn = [space.sample(rng) for _ in range(5)]
        return drawn + [space.mutate(cell, rng) for cell in drawn]

    assert draw() == draw(), f"the same seed draws other cells of {space.name}"
    assert len(set(draw())) > 3, f"{space.name} draws nearly always the same cell"


def supernets_are_outside(space: Space) -> None:
    """A supernet is no finished cell, and mutating one is refused with words."""
    supernet = darts_supernet(2, ("tanh", "relu")).cell
    assert not space.contains(supernet), f"{space.name} contains a supernet"
    try:
        space.mutate(supernet, np.random.default_rng(0))
    except SpaceError:
        return
    raise AssertionError(f"{space.name} mutates a cell that it does not contain")


def known_cells_are_contained(space: Space) -> None:
    """Published cells that the space claims are in it."""
    for name, cell in space.known().items():
        assert space.contains(cell), f"{space.name} knows {name} and does not contain it"


def choices_decode_to_cells_of_the_space(space: Space) -> None:
    """A space with a form as choices decodes any of them; one without says so."""
    chosen = space.choices()
    if chosen is None:
        try:
            space.decode({})
        except SpaceError:
            return
        raise AssertionError(f"{space.name} has no choices, and decodes some")
    rng = np.random.default_rng(3)
    for _ in range(20):
        values: dict[str, Any] = {}
        for key, options in chosen.items():
            if isinstance(options, Interval):
                values[key] = rng.uniform(options.low, options.high)
            else:
                values[key] = options[rng.integers(len(options))]
        assert space.contains(space.decode(values)), f"choices lead out of {space.name}"


SPACE_CHECKS: tuple[Callable[[Space], None], ...] = (
    samples_are_finished_cells_of_the_space,
    mutations_stay_inside_and_change_the_cell,
    the_same_seed_draws_the_same,
    supernets_are_outside,
    known_cells_are_contained,
    choices_decode_to_cells_of_the_space,
)


def check_space(space: Space) -> None:
    """All that a space has to hold.

    >>> from cellwright.spaces import space
    >>> check_space(space("enas", nodes=4))
    """
    for check in SPACE_CHECKS:
        check(space)
