"""What a search proposes in the end: the cell that each seed found, and others that it came by.

Those are the cells of earlier epochs and cells drawn: from θ, or what the controller sampled last.
They follow from the folders of the seeds alone, so a search that goes on proposes the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

from pydantic import ValidationError

from cellwright.base.errors import UserError
from cellwright.base.validation import first_problem
from cellwright.cell import Cell
from cellwright.engine.probe import dead_reason
from cellwright.runs.errors import RunError
from cellwright.runs.work_folder import RESULT
from cellwright.search.gradient.drawing import drawn_listing
from cellwright.search.gradient.records import listing_of, lowered
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.cells import listed_cell
from cellwright.search.one_shot.epochs import epochs_of
from cellwright.search.one_shot.folder import SearchFolder, SeedFolder
from cellwright.search.sharing.listings import lowered as lowered_child
from cellwright.search.sharing.records import Candidate as Sampled

FOUND, DRAWN = "found", "drawn"
"""Where a proposal comes from; else it is an epoch, "epoch 3"."""

MOST_DRAWS = 100
"""How often a seed draws cells, however many of them are dead or there already."""


@dataclass(frozen=True)
class Proposal:
    """A cell of a seed; the first one is what it found.

    `dead` says that it cannot learn, `tried` that it is one of those that are chosen among.
    """

    seed: int
    number: int
    origin: str
    cell: Cell
    dead: bool = False
    tried: bool = True


def proposed(folder: SearchFolder) -> list[Proposal]:
    """The proposals of all seeds, each with what it found first.

    What a seed found is always there. If that is all, it is always tried, as in the papers; else a
    cell that is dead is not, and one that two seeds found is tried once. Others follow until a seed
    has the recipe's `selection_cells` of those that can learn; none of them is dead, or there
    twice. A seed that diverged has no others.

    Raises:
        RunError: a file of a seed is damaged.
    """
    most = folder.info.recipe.selection_cells
    known: set[str] = set()
    found: list[Proposal] = []
    for seed in folder.info.seeds:
        cell = folder.seed_folder(seed).cell()
        dead = dead_reason(cell) is not None
        tried = most == 1 or not (dead or cell.id in known)
        found.append(Proposal(seed, 1, FOUND, cell, dead, tried))
        known.add(cell.id)
    return [each for first in found for each in _with_others(folder, first, most, known)]


def cells_of_search(folder: SearchFolder, many: int) -> list[Cell]:
    """What a search found, and cells that it drew in its end, as many as are wanted or there are.

    All of them can learn, and no two are the same; what was found is there whatever it is.

    Raises:
        RunError: a file of a seed is damaged.
    """
    found = {folder.found().id: folder.found()}
    for seed in folder.info.seeds:
        for _, cell in _drawn(folder.seed_folder(seed)):
            if len(found) >= many:
                return list(found.values())
            if cell.id not in found and dead_reason(cell) is None:
                found[cell.id] = cell
    return list(found.values())


def _with_others(
    folder: SearchFolder, first: Proposal, most: int, known: set[str]
) -> Iterator[Proposal]:
    yield first
    number, live = 1, 0 if first.dead else 1
    if most == 1:
        return
    for origin, cell in _others(folder.seed_folder(first.seed)):
        if cell.id in known or dead_reason(cell) is not None:
            continue
        known.add(cell.id)
        number, live = number + 1, live + 1
        yield Proposal(first.seed, number, origin, cell)
        if live == most:
            return


def _others(folder: SeedFolder) -> Iterator[tuple[str, Cell]]:
    """Cells of earlier epochs, the latest first, in turn with cells that are drawn."""
    if folder.figures()["status"] != "ok":
        return
    pairs = zip_longest(_earlier(folder), _drawn(folder))
    yield from (each for each in chain.from_iterable(pairs) if each is not None)


def _earlier(folder: SeedFolder) -> Iterator[tuple[str, Cell]]:
    if (
        folder.info.recipe.search.kind == "random-sharing"
    ):  # its epochs know of no cell that is better
        return
    for record in reversed(epochs_of(folder)):
        yield f"epoch {record['epoch']}", listed_cell(record["listing"])


def _drawn(folder: SeedFolder) -> Iterator[tuple[str, Cell]]:
    figures, settings = folder.figures(), folder.info.recipe.search
    try:
        if isinstance(settings, DifferentiableSettings):
            theta, found = figures["theta"], listing_of(figures["listing"])
            for number in range(MOST_DRAWS):
                listing = drawn_listing(settings, theta, found, folder.info.seed, number)
                yield DRAWN, lowered(listing)
            return
        sampled = [Sampled.from_json(each) for each in figures["candidates"]]
        for each in sorted(sampled, key=_merit):
            yield DRAWN, lowered_child(each.listing)
    except ValidationError as error:
        raise _damaged(folder, first_problem(error)) from None
    except (LookupError, TypeError, ValueError, AttributeError, UserError) as error:
        raise _damaged(folder, f"{type(error).__name__}: {error}") from None


def _merit(sampled: Sampled) -> tuple[float, float]:
    """By the loss on all of the validation data where it is known, then by that on some of it."""
    losses = (sampled.valid, sampled.screened)
    first, second = (math.inf if x is None or math.isnan(x) else x for x in losses)
    return first, second


def _damaged(folder: SeedFolder, problem: str) -> RunError:
    return RunError(f"{folder.path / RESULT} is damaged, no cells can be drawn from it: {problem}")
