"""Settings of a training, with given cells: what tuning draws from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cellwright.cell import Cell
from cellwright.spaces.space import Drawn, Interval, Options, Space, SpaceError, Value, pick

CELL = "cell"
"""The choice of a cell, where there are several."""


@dataclass(frozen=True)
class Varied:
    """A setting that differs from trial to trial.

    Args:
        name: of the setting, with its table: `training.learning_rate`.
        options: what it may be. An option may be a list or a table, too.
        tied_to: another setting that is varied, which it follows, in place of options.
        times: what that one is multiplied with.
        when: it is varied only where each of these other choices has come out as one of the
            values; otherwise it stays as the recipe has it.
    """

    name: str
    options: tuple[Any, ...] | Interval = ()
    tied_to: str | None = None
    times: float = 1.0
    when: Mapping[str, tuple[Any, ...]] | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        options: Any = list(self.options) if isinstance(self.options, tuple) else vars(self.options)
        when = None if self.when is None else {name: list(of) for name, of in self.when.items()}
        return {**vars(self), "options": options, "when": when}


@dataclass(frozen=True)
class Tuned(Space):
    """Cells, each with any values of the settings that are varied.

    Args:
        cells: to choose among, each with a name of its own.
        varied: the settings, each behind those that its condition or tie names.
    """

    name: ClassVar[str] = "settings"

    cells: tuple[Cell, ...]
    varied: tuple[Varied, ...]

    def sample(self, rng: np.random.Generator) -> Cell:
        """One of the cells."""
        return pick(self.cells, rng)

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """There is no such thing: methods that change cells cannot tune."""
        raise SpaceError("settings are drawn, not changed: tune with tpe, random or hyperband")

    def contains(self, cell: Cell) -> bool:
        """Whether it is one of the cells."""
        return any(cell.id == each.id for each in self.cells)

    def wanted(self, cell: Cell) -> bool:
        """All are: somebody chose them."""
        return True

    def choices(self) -> dict[str, Options]:
        """The cell, and every setting that does not follow another."""
        found: dict[str, Options] = {CELL: tuple(cell.name for cell in self.cells)}
        for each in self.varied:
            if isinstance(each.options, Interval):
                found[each.name] = each.options
            elif each.tied_to is None:
                found[each.name] = tuple(map(plain, each.options))
        return found

    def open_choices(self) -> dict[str, Options]:
        """Those of the choices that have more than one way to come out."""
        return {
            name: options
            for name, options in self.choices().items()
            if not isinstance(options, tuple) or len(options) > 1
        }

    def applies(self, choice: str, values: Mapping[str, Value]) -> bool:
        """Whether the condition of a setting holds, and those of the settings that it names."""
        each = next((each for each in self.varied if each.name == choice), None)
        if each is None or each.when is None:
            return True
        return all(
            name in values and values[name] in map(plain, wanted) and self.applies(name, values)
            for name, wanted in each.when.items()
        )

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Everything drawn evenly, between the logarithms where an interval says so."""
        values: dict[str, Value] = {}
        for name, options in self.choices().items():
            if self.applies(name, values):
                values[name] = _drawn(options, rng)
        return self.drawn(values)

    def decode(self, values: Mapping[str, Value]) -> Cell:
        """The cell that was chosen."""
        return next(cell for cell in self.cells if cell.name == values[CELL])

    def drawn(self, values: Mapping[str, Value]) -> Drawn:
        """The cell, and the settings, with those that follow others."""
        settings: dict[str, Any] = {}
        for each in self.varied:
            if not self.applies(each.name, values):
                continue
            if each.tied_to is not None:
                if each.tied_to in settings:
                    settings[each.name] = times_of(settings[each.tied_to], each.times)
            elif each.name in values:
                settings[each.name] = _meant(each.options, values[each.name])
        return Drawn(self.decode(values), settings)

    def settings(self) -> dict[str, Any]:
        """Cells and settings as JSON values."""
        return {
            "cells": [cell.to_json(indent=None) for cell in self.cells],
            "varied": [each.to_json() for each in self.varied],
        }


def plain(value: Any) -> Value:
    """An option as a value that can be written in a line and compared."""
    return value if isinstance(value, str | int | float) else json.dumps(value, sort_keys=True)


def _meant(options: tuple[Any, ...] | Interval, value: Value) -> Any:
    """The option that a plain value stands for."""
    if isinstance(options, Interval):
        return value
    return next(option for option in options if plain(option) == value)


def times_of(value: Any, times: float) -> Any:
    """What follows a value: so many times as much. A whole number stays one, 1 at the least."""
    if times == 1:
        return value
    return max(1, round(value * times)) if isinstance(value, int) else value * times


def _drawn(options: Options, rng: np.random.Generator) -> Value:
    if isinstance(options, tuple):
        return pick(options, rng)
    low, high = options.low, options.high
    if options.whole and not options.log:
        return int(rng.integers(int(low), int(high) + 1))
    if options.whole:  # each whole number has the part of the line that is closest to it
        low, high = low - 0.5, high + 0.5
    drawn = (
        math.exp(rng.uniform(math.log(low), math.log(high)))
        if options.log
        else float(rng.uniform(low, high))
    )
    if options.whole:
        return min(max(round(drawn), int(options.low)), int(options.high))
    return min(max(drawn, options.low), options.high)
