"""What is compared: cells under labels that tell them apart."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cellwright.base.errors import shown
from cellwright.cell import Cell
from cellwright.engine.probe import dead_reason
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import Recipe
from cellwright.spaces import Space, space

MOST_RANDOM = 1000
"""The most cells that one space is asked for."""

_TRIES = 1000
"""How often a cell that was drawn before, or cannot learn, is drawn again."""


@dataclass(frozen=True)
class Contender:
    """A cell in a comparison.

    Args:
        label: tells it from the others, and names its files.
        cell: the cell itself.
        source: where it comes from, for people.
        width: `hidden` of its model, in place of the recipe's (`widths.py`).
        recipe: how it is trained, in place of the comparison's recipe; on the same data.
    """

    label: str
    cell: Cell
    source: str = ""
    width: int | None = None
    recipe: Recipe | None = None


def contender(cell: Cell, label: str = "", source: str = "") -> Contender:
    """A cell under a label that is safe in any folder; its name, or else its id, unless said."""
    wanted = label or cell.name or cell.id
    safe = re.sub(r"[^\w.-]+", "-", wanted, flags=re.ASCII).strip("._-")[:60]
    return Contender(safe or cell.id, cell, source)


def dead_words(contenders: Sequence[Contender]) -> list[str]:
    """A sentence for each cell that cannot learn."""
    found = [(one.label, dead_reason(one.cell)) for one in contenders]
    return [f"{label} cannot learn: {reason}." for label, reason in found if reason is not None]


def told_apart(contenders: Sequence[Contender]) -> tuple[Contender, ...]:
    """The contenders, with a piece of the cell's id behind labels that several have.

    Raises:
        RunError: there is none, one is a supernet, or two are the same cell.
    """
    if not contenders:
        raise RunError("there is no cell to compare")
    for one in contenders:
        if one.cell.is_supernet:
            raise RunError(
                f"{one.label} is a supernet: its mix nodes take their weights from a search; "
                "derive a cell from it and compare that"
            )
    first: dict[str, list[Contender]] = {}
    for one in contenders:
        others = first.setdefault(one.cell.id, [])
        same = next((other for other in others if other.recipe == one.recipe), None)
        others.append(one)
        if same is not None:
            raise RunError(
                f"{_described(same)} and {_described(one)} are the same cell ({one.cell.id}); "
                "name it once, or draw random cells from another seed"
            )
    # File systems that do not tell capitals apart would mix up two runs.
    labels = [one.label.lower() for one in contenders]
    return tuple(
        one
        if labels.count(one.label.lower()) == 1
        else replace(one, label=f"{one.label}-{one.cell.id[:8]}")
        for one in contenders
    )


def _described(one: Contender) -> str:
    return f"{one.label} ({one.source})" if one.source else one.label


# -- random cells --------------------------------------------------------------------------------


def random_contenders(request: str, seed: int = 0) -> list[Contender]:
    """Cells drawn uniformly from those of a space that can learn, no two the same.

    What is drawn follows from the seed and the space alone: a request for more cells of the same
    space begins with those of a request for fewer.

    Args:
        request: `SPACE[:N][,SETTING=VALUE…]`, as in `ess:2,nodes=4,m=2`.
        seed: decides which.

    Raises:
        RunError: the request is not of that form, or the space has no more cells.
        SettingError: there is no such space or setting.
    """
    name, number, settings = read_request(request)
    return draw(space(name, **settings), number, seed)


def draw(source: Space, number: int, seed: int = 0) -> list[Contender]:
    """So many cells of a space that can learn, drawn uniformly, no two the same."""
    what = json.dumps([source.name, source.settings(), seed], sort_keys=True)
    rng = np.random.default_rng(list(hashlib.sha256(what.encode()).digest()))
    told = ", ".join(f"{key}={_value_text(value)}" for key, value in _unusual(source))
    origin = f"drawn from {source.name}{f' ({told})' if told else ''}, seed {seed}"
    found: dict[str, Cell] = {}
    for _ in range(number):
        for _ in range(_TRIES):
            cell = source.sample_live(rng)
            if cell.id not in found and dead_reason(cell) is None:
                break
        else:
            raise RunError(
                f"the space {source.name} with these settings has too few different cells to draw "
                f"{number} of them"
            )
        found[cell.id] = cell.renamed(f"random-{source.name}-{len(found) + 1}")
    return [contender(cell, source=origin) for cell in found.values()]


def read_request(request: str) -> tuple[str, int, dict[str, Any]]:
    """The parts of a request for random cells.

    >>> read_request("ess:2,nodes=4,operations=tanh+relu")
    ('ess', 2, {'nodes': 4, 'operations': ('tanh', 'relu')})
    """
    head, *rest = (part.strip() for part in request.split(","))
    name, colon, digits = head.partition(":")
    if not name or (colon and not (digits.isascii() and digits.isdigit())):
        raise _unclear(request)
    number = int(digits[:10]) if colon else 1
    if not 1 <= number <= MOST_RANDOM:
        raise RunError(
            f"random cells are drawn 1 to {MOST_RANDOM:,} at a time, not {shown(digits)}"
        )
    settings: dict[str, Any] = {}
    for part in rest:
        key, equals, text = (word.strip() for word in part.partition("="))
        if not equals or not key.isidentifier() or not text or key in settings:
            raise _unclear(request)
        settings[key] = _value(text)
    return name, number, settings


def _unclear(request: str) -> RunError:
    return RunError(
        "random cells are asked for as SPACE:N, with settings behind commas, as in "
        f"ess:2,nodes=4,m=2, not {shown(request)}"
    )


def _value(text: str) -> Any:
    """A number, a truth value, a word, or a list of words that are joined by +."""
    if "+" in text:
        return tuple(text.split("+"))
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return text


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unusual(source: Space) -> Iterable[tuple[str, Any]]:
    """The settings that are not the space's own defaults."""
    usual = space(source.name).settings()
    return [(key, value) for key, value in source.settings().items() if usual[key] != value]
