"""The table `[tune]` of a recipe: what differs from trial to trial.

    [tune]
    cells = ["lstm", "gru", "found.json"]      # one of them
    seed = [0, 1, 2]                           # of the training

    [tune.training]
    batch = [16, 32, 64]                       # one of a list
    learning_rate = {low = 1e-4, high = 1e-2, log = true}

    [tune.model]
    layers = {low = 1, high = 3}               # whole numbers, as both ends are
    dropout_layers = {low = 0.0, high = 0.5, when = {"model.layers" = [2, 3]}}
    hidden = [100, 200]
    feed_forward = {tied = "model.hidden", times = 2}

A setting that is not named here is as the training recipe has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.base.validation import first_problem
from cellwright.cell import Cell
from cellwright.cell.named import said_cell
from cellwright.runs.recipe_text import NONE
from cellwright.spaces import Interval, Tuned, Varied
from cellwright.spaces.tuned import CELL
from cellwright.trials.trial import SEED

TABLES = ("task", "model", "training")
"""The tables of a training recipe whose settings can be varied."""

MOST_VALUES = 1000
"""Of a list."""


class _Range(BaseModel):
    """What a table says in place of a list."""

    model_config = ConfigDict(extra="forbid", strict=True)

    values: list[Any] | None = None
    low: float | int | None = None
    high: float | int | None = None
    log: bool = False
    tied: str | None = None
    times: float | int = 1
    when: dict[str, Any] = {}


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _as_text(said: str) -> str:
    return _whole(said_cell(said)).to_json(indent=None)


def _whole(cell: Cell) -> Cell:
    if cell.is_supernet:
        raise UserError(f"{cell.name or cell.id} is a supernet, which cannot be trained")
    return cell


TunedCell = Annotated[str, AfterValidator(_as_text)]
"""The text of a cell, which may be given by name or file too."""


class TuneTable(BaseModel):
    """What differs from trial to trial."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cells: Annotated[tuple[TunedCell, ...], BeforeValidator(_listed)] = Field(
        ("lstm",), description="to choose among: names, files or texts", validate_default=True
    )
    seed: tuple[Annotated[int, Field(ge=0)], ...] | None = Field(
        None, description="of the training, one of these; none: each trial has its own"
    )
    task: dict[str, Any] = Field({}, description="settings of the task")
    model: dict[str, Any] = Field({}, description="settings of the model")
    training: dict[str, Any] = Field({}, description="settings of the training")

    @model_validator(mode="before")
    @classmethod
    def _seeds(cls, values: Any) -> Any:
        if isinstance(values, dict) and "seed" in values:
            values = {**values, "seed": _listed(values["seed"])}
        return values

    @model_validator(mode="after")
    def _makes_sense(self) -> TuneTable:
        if not self.cells:
            raise ValueError("cells is a choice of no cells; say one at least")
        if self.seed is not None and not self.seed:
            raise ValueError("seed is a choice of no values")
        self.space()
        return self

    def space(self) -> Tuned:
        """What trials are drawn from.

        Raises:
            ValueError: something cannot be varied so; the message names it.
        """
        cells = _named_apart([Cell.from_json(text) for text in self.cells])
        varied = [] if self.seed is None else [Varied(SEED, self.seed)]
        varied += [_varied(name, said) for name, said in self._said()]
        return Tuned(cells, _in_order(varied, [cell.name for cell in cells]))

    def with_cells(self, cells: tuple[Cell, ...]) -> TuneTable:
        """The same with other cells.

        Raises:
            UserError: one is a supernet.
        """
        for cell in cells:
            _whole(cell)
        return self.model_copy(update={"cells": tuple(cell.to_json(indent=None) for cell in cells)})

    def _said(self) -> Iterator[tuple[str, Any]]:
        for table in TABLES:
            for key, said in getattr(self, table).items():
                if said is not None:  # "none": as the training recipe has it
                    yield f"{table}.{key}", said


def _named_apart(cells: list[Cell]) -> tuple[Cell, ...]:
    """Cells with a name each: their own, or the id where two would have the same."""
    found: dict[str, Cell] = {}
    for cell in cells:
        if any(cell.id == other.id for other in found.values()):
            continue
        name = cell.name or cell.id
        if name in found:
            name = f"{name}-{cell.id}"
        found.setdefault(name, cell.renamed(name))
    return tuple(found.values())


def _varied(name: str, said: Any) -> Varied:
    if isinstance(said, list | tuple):
        return Varied(name, _values(name, said))
    if not isinstance(said, Mapping):
        raise ValueError(
            f"{name} should be a list of values, or a range {{low = …, high = …}}, "
            f"not {shown(said)}"
        )
    try:
        known = _Range.model_validate(dict(said))
    except ValidationError as error:
        unknown = [key for key in said if key not in _Range.model_fields]
        hint = did_you_mean(str(unknown[0]), _Range.model_fields) if unknown else ""
        problem = f"{shown(unknown[0])} is unknown{hint}" if unknown else first_problem(error)
        raise ValueError(f"{name}: {problem}") from None
    when = {other: tuple(_list_of(wanted)) for other, wanted in known.when.items()} or None
    forms = {"values": known.values, "low": known.low, "tied": known.tied}
    given = [form for form, value in forms.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"{name} should have either values, or low and high, or tied; it has "
            f"{' and '.join(given) or 'none of them'}"
        )
    if known.values is not None:
        return Varied(name, _values(name, known.values), when=when)
    if known.tied is not None:
        if not (math.isfinite(known.times) and known.times > 0):
            raise ValueError(f"{name}: times should be a number above 0, not {known.times}")
        return Varied(name, tied_to=known.tied, times=known.times, when=when)
    return Varied(name, _interval(name, known), when=when)


def _values(name: str, values: Any) -> tuple[Any, ...]:
    found = tuple(None if value == NONE else value for value in values)
    if not found:
        raise ValueError(f"{name} is a choice of no values")
    if len(found) > MOST_VALUES:
        raise ValueError(f"{name} has {len(found):,} values, and {MOST_VALUES:,} are the most")
    if any(value in found[:place] for place, value in enumerate(found)):
        raise ValueError(f"{name} has a value twice")
    return found


def _interval(name: str, said: _Range) -> Interval:
    low, high = said.low, said.high
    if low is None or high is None:
        raise ValueError(f"{name} has low and no high, or high and no low")
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{name}: the ends of a range are finite numbers")
    if low >= high:
        raise ValueError(f"{name}: the range is the wrong way round, from {low:g} to {high:g}")
    if said.log and low <= 0:
        raise ValueError(f"{name}: a range of logarithms begins above 0, not at {low:g}")
    whole = isinstance(low, int) and isinstance(high, int)
    return Interval(low, high, said.log, whole)


def _list_of(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    return [None if each == NONE else each for each in values]


def _in_order(varied: list[Varied], cells: list[str]) -> tuple[Varied, ...]:
    """Each behind those that it depends on."""
    chosen = Varied(CELL, tuple(cells))
    by_name = {CELL: chosen, **{each.name: each for each in varied}}
    for each in varied:
        _check_dependence(each, by_name)
    ordered: dict[str, Varied] = {CELL: chosen}
    left = list(varied)
    while left:
        ready = [each for each in left if all(name in ordered for name in _needs(each))]
        if not ready:
            names = ", ".join(each.name for each in left)
            raise ValueError(f"conditions and ties go in a circle: {names}")
        ordered |= {each.name: each for each in ready}
        left = [each for each in left if each.name not in ordered]
    for each in varied:
        _check_numbers(each, by_name)
    return tuple(each for each in ordered.values() if each.name != CELL)


def _needs(varied: Varied) -> list[str]:
    return [*(varied.when or ()), *([varied.tied_to] if varied.tied_to else [])]


def _check_dependence(varied: Varied, by_name: Mapping[str, Varied]) -> None:
    for name in _needs(varied):
        if name not in by_name:
            what = "follows" if name == varied.tied_to else "has a condition on"
            hint = did_you_mean(name, by_name) or f"; varied are {', '.join(by_name)}"
            raise ValueError(f"{varied.name} {what} {shown(name)}, which is not varied{hint}")
    for name, wanted in (varied.when or {}).items():
        other, options = by_name[name], by_name[name].options
        if other.tied_to is not None:
            raise ValueError(
                f"{varied.name} has a condition on {name}, which follows {other.tied_to}: say that"
            )
        if not wanted:
            raise ValueError(f"{varied.name} has a condition on {name} that no value meets")
        if isinstance(options, Interval):
            if not options.whole:
                raise ValueError(
                    f"{varied.name} has a condition on {name}, which is any number of a range: "
                    "conditions are on lists and whole numbers"
                )
            options = tuple(range(int(options.low), int(options.high) + 1))
        for value in wanted:
            if value not in options:
                raise ValueError(
                    f"{varied.name} has the condition {name} = {shown(value)}, which is none of "
                    f"its values {shown(list(options))}"
                )


def _check_numbers(varied: Varied, by_name: Mapping[str, Varied]) -> None:
    """Say so if a setting follows, as a multiple, what is no number."""
    root = varied
    while root.tied_to is not None:
        root = by_name[root.tied_to]
    values = root.options if isinstance(root.options, tuple) else ()
    is_number = [isinstance(v, int | float) and not isinstance(v, bool) for v in values]
    if varied.tied_to is not None and varied.times != 1 and not all(is_number):
        raise ValueError(f"{varied.name} follows {root.name}, whose values are not all numbers")
