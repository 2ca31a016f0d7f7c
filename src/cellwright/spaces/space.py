"""`Space`: what every search space offers, and `ProductSpace`, where every choice is free."""

from __future__ import annotations

import dataclasses
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from cellwright.base.errors import UserError
from cellwright.base.plugins import Source
from cellwright.cell import Cell, CellError
from cellwright.cell.liveness import surely_dead
from cellwright.cell.zoo import zoo
from cellwright.spaces.settings import is_unsaid

Value = str | int | float
"""What a choice may be set to."""

Item = TypeVar("Item")

_TRIES = 200
"""How often a mutation that changed nothing is drawn again before that is an error."""

_MOST_DEAD = 1000
"""How often a cell that cannot learn is drawn again before that is an error."""


class SpaceError(UserError):
    """A cell is not of the space, or the space cannot do what was asked."""


@dataclass(frozen=True)
class Interval:
    """The numbers from `low` to `high`: the options of a choice that is continuous.

    Args:
        low: the least.
        high: the most.
        log: whether logarithms are drawn evenly, not the numbers themselves.
        whole: whether only whole numbers count.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False


Options = tuple[Value, ...] | Interval
"""What one choice is made from."""


@dataclass(frozen=True)
class Drawn:
    """What a trial is to train: a cell, and settings of the training that are this trial's own."""

    cell: Cell
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def info(self) -> dict[str, Any]:
        """What a trial says of it, beside the cell."""
        return {"settings": dict(self.settings)} if self.settings else {}

    @property
    def key(self) -> str:
        """The same for two that are trained in the same way."""
        if not self.settings:
            return self.cell.id
        return f"{self.cell.id} {json.dumps(self.settings, sort_keys=True)}"


class Space(ABC):
    """A set of cells that can be drawn from, moved in and asked for membership.

    The constructor's arguments are the settings, plain values. Search methods call `sample`
    for a first cell, `mutate` for a neighbour of a good one, and, where they need a space as a
    list of named choices (TPE, SMAC), `choices` and `decode`. All randomness comes from `rng`,
    so the same generator state gives the same cell.

    `sample` and `mutate` know nothing of what a cell is good for; searches and baselines draw with
    `sample_live` and `mutate_live`, which give no cell that surely cannot learn.
    """

    name: ClassVar[str]
    """What the space is called in recipes and on the command line."""

    source: ClassVar[Source | None] = None
    """Where its code comes from, if it did not come with cellwright."""

    @property
    def title(self) -> str:
        """The space in an error message."""
        return f"space {self.name!r}"

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Cell:
        """A cell of the space, drawn at random."""

    @abstractmethod
    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """A different cell of the space that is one small change away from `cell`."""

    @abstractmethod
    def contains(self, cell: Cell) -> bool:
        """Whether the cell is of the space, by its graph alone."""

    def wanted(self, cell: Cell) -> bool:
        """Whether a search should train the cell: not if its graph says that it cannot learn."""
        return surely_dead(cell) is None

    def sample_live(self, rng: np.random.Generator) -> Cell:
        """A cell drawn as `sample` does, among those that are `wanted`.

        Raises:
            SpaceError: none was found in very many draws.
        """
        return _wanted(self, lambda: self.sample(rng), "cells drawn from it")

    def mutate_live(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """A mutation drawn as `mutate` does, among those that are `wanted`.

        Raises:
            SpaceError: none was found in very many draws.
        """
        return _wanted(self, lambda: self.mutate(cell, rng), f"mutations of {cell!r}")

    def draw(self, rng: np.random.Generator) -> Drawn:
        """What a new trial trains, drawn at random: a cell that is `wanted`."""
        return Drawn(self.sample_live(rng))

    def size(self) -> int | None:
        """How many listings the space has, or None where that is not counted.

        Two listings may be the same cell: `distinct_size` counts cells.
        """
        return None

    def distinct_size(self) -> int | None:
        """How many different cells the space has, or None where that is not counted."""
        return None

    def choices(self) -> Mapping[str, Options] | None:
        """The named choices that make up a cell, or None where there is no such form.

        Every combination is a cell: `decode` takes them all.
        """
        return None

    def decode(self, values: Mapping[str, Value]) -> Cell:
        """The cell of one value for each choice."""
        raise SpaceError(f"the space {self.name!r} has no form as a list of choices")

    def applies(self, choice: str, values: Mapping[str, Value]) -> bool:
        """Whether a choice is to be made, after those before it came out so."""
        return True

    def drawn(self, values: Mapping[str, Value]) -> Drawn:
        """What a trial trains, by one value for each choice that applies."""
        return Drawn(self.decode(values))

    def known(self) -> dict[str, Cell]:
        """Cells with a name that the space contains: what a search may start from."""
        return {name: cell for name, cell in zoo.items() if self.contains(cell)}

    def described(self) -> dict[str, Any]:
        """The space as JSON values: what has to be the same where a search goes on."""
        code = {} if self.source is None else {"sha256": self.source.sha256}
        return {"name": self.name, "settings": self.settings(), **code}

    def settings(self) -> dict[str, Any]:
        """The settings as JSON values; `space(name, **settings)` makes the same space."""
        assert dataclasses.is_dataclass(self)
        return {
            field.name: list(value) if isinstance(value, tuple) else value
            for field in dataclasses.fields(self)
            for value in [getattr(self, field.name)]
            if not is_unsaid(field, value)
        }


class ProductSpace(Space):
    """A space whose choices are free of each other, so that the listings are their product."""

    @abstractmethod
    def choices(self) -> Mapping[str, tuple[Value, ...]]: ...

    @abstractmethod
    def _encode(self, cell: Cell) -> dict[str, Value]:
        """The value of each choice, allowed or not; a `CellError` for a cell of another shape."""

    def encode(self, cell: Cell) -> dict[str, Value]:
        """The value of each choice in a cell of the space: the inverse of `decode`."""
        try:
            values = self._encode(cell)
        except CellError as error:
            raise SpaceError(f"{cell!r} is not a cell of {self}: {error}") from None
        choices = self.choices()
        if values.keys() != choices.keys():
            raise SpaceError(f"{cell!r} is not a cell of {self}: it has more or fewer nodes")
        for name, options in choices.items():
            if values[name] not in options:
                raise SpaceError(f"{cell!r} is not a cell of {self}: {values[name]!r} is not in it")
        return values

    def sample(self, rng: np.random.Generator) -> Cell:
        """Each listing is as likely as every other."""
        return self.decode({name: pick(options, rng) for name, options in self.choices().items()})

    def contains(self, cell: Cell) -> bool:
        try:
            self.encode(cell)
        except SpaceError:
            return False
        return True

    def size(self) -> int:
        return math.prod(map(len, self.choices().values()))

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """One operation or one connection changes, each kind in half of the cases.

        Real et al. 2019, section 3.2: their "op mutation" and "hidden state mutation".
        """
        values = self.encode(cell)
        open_choices = {n: o for n, o in self.choices().items() if len(o) > 1}
        connections = [name for name in open_choices if name.startswith("from_")]
        operations = [name for name in open_choices if not name.startswith("from_")]
        kinds = [kind for kind in (operations, connections) if kind]

        def change() -> Cell | None:
            if not kinds:
                return None
            name = pick(pick(kinds, rng), rng)
            others = [value for value in open_choices[name] if value != values[name]]
            return self.decode({**values, name: pick(others, rng)})

        return different(cell, change, self)


def require(space: Space, cell: Cell) -> None:
    """Raise unless the space contains the cell."""
    if not space.contains(cell):
        raise SpaceError(f"{cell!r} is not a cell of the space {space.name!r} {space.settings()}")


def different(cell: Cell, draw: Callable[[], Cell | None], space: Space) -> Cell:
    """What `draw` gives once that is a cell, and another than `cell`.

    A changed listing may be the same cell again: two nodes that look alike, swapped.
    """
    for _ in range(_TRIES):
        child = draw()
        if child is not None and child.id != cell.id:
            return child
    raise SpaceError(
        f"found no mutation of {cell!r} in the space {space.name!r} {space.settings()}; "
        "a space of more nodes or operations would have one"
    )


def _wanted(space: Space, draw: Callable[[], Cell], what: str) -> Cell:
    """What `draw` gives once that is wanted."""
    for _ in range(_MOST_DEAD):
        cell = draw()
        if space.wanted(cell):
            return cell
    raise SpaceError(
        f"the space {space.name!r} {space.settings()}: of {_MOST_DEAD:,} {what} none can learn, "
        f"since {surely_dead(cell)}; other operations would help, a sigmoid among them"
    )


def pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    """One of the items, each as likely as every other, as the value that it is.

    `rng.choice` would make a numpy scalar of it.
    """
    return items[int(rng.integers(len(items)))]
