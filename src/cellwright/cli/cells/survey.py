"""What `cellwright cells check` finds out: does every cell survive its own format?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.cell import Cell, CellError
from cellwright.cell.liveness import surely_dead
from cellwright.cli.cells.options import expressible_in
from cellwright.cli.errors import describe
from cellwright.cli.sources import Document, Loaded, numbered

Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class Entry:
    """A cell that passed.

    `listing` is its graph as it was written, names included; `dead` says why it surely cannot
    learn, if so.
    """

    label: str
    format: str
    id: str
    listing: object
    dead: str | None = None


@dataclass(frozen=True)
class Failure:
    """A document, or one of its cells, with which something is wrong."""

    label: str
    reason: str


@dataclass
class Survey:
    """All that was checked."""

    files: int = 0
    entries: list[Entry] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def graphs(self) -> dict[str, list[Entry]]:
        """The cells by id, in the order in which they were met."""
        groups: dict[str, list[Entry]] = {}
        for entry in self.entries:
            groups.setdefault(entry.id, []).append(entry)
        return groups

    @property
    def repeated(self) -> dict[str, list[Entry]]:
        """The ids that more than one cell has."""
        return {id: group for id, group in self.graphs.items() if len(group) > 1}

    @property
    def dead(self) -> list[Failure]:
        """The cells that are valid, but surely cannot learn."""
        return [Failure(entry.label, entry.dead) for entry in self.entries if entry.dead]

    @property
    def listings(self) -> int:
        """How many cells differ as they are written."""
        return len({entry.listing for entry in self.entries})

    def as_json(self) -> dict[str, Any]:
        """The survey as JSON values."""
        return {
            "files": self.files,
            "cells": len(self.entries),
            "distinct_listings": self.listings,
            "distinct_graphs": len(self.graphs),
            "same_graph": {
                id: [entry.label for entry in group] for id, group in self.repeated.items()
            },
            "cannot_learn": [_reason(dead) for dead in self.dead],
            "failures": [_reason(failure) for failure in self.failures],
        }


def _reason(of: Failure) -> dict[str, str]:
    return {"where": of.label, "reason": of.reason}


def survey(
    documents: Sequence[Document], format: str | None = None, watch: Watch | None = None
) -> Survey:
    """Check every document. What is wrong with one becomes a failure, not an exception.

    Args:
        documents: what to check.
        format: the format of all of them; recognised unless said.
        watch: called after each cell with how many are done, and how many there are as far
            as is known.
    """
    found = Survey()
    first: dict[object, Entry] = {}
    done, expected = 0, len(documents)
    for document in documents:
        found.files += 1
        try:
            cells, names = _read(document, format)
        except (CellError, OSError) as error:
            reason = describe(error).removeprefix(f"{document.label}: ")
            found.failures.append(Failure(document.label, reason))
            cells, names = [], []
            done += 1
        expected += max(len(cells) - 1, 0)
        for loaded in cells:
            entry = _round_trip(loaded, names)
            if isinstance(entry, Entry):
                entry = _consistent(entry, first.setdefault(entry.listing, entry))
            if isinstance(entry, Entry):
                found.entries.append(entry)
            else:
                found.failures.append(entry)
            done += 1
            if watch is not None:
                watch(done, expected)
    return found


def _read(document: Document, format: str | None) -> tuple[list[Loaded], list[str]]:
    """The cells of a document, and the formats that each must survive."""
    from cellwright.cell import formats

    if document.zoo_cell is not None:
        names = expressible_in(document.zoo_cell)
        return [Loaded(document.label, document.zoo_cell)], names
    text = document.text()
    assert text is not None
    name = format or formats.recognize(text)
    found = numbered(document.label, formats.read(text, name))
    if not found:
        raise CellError("there is no cell in it")
    return found, [name]


def _consistent(entry: Entry, first: Entry) -> Entry | Failure:
    """Cells that are written alike must have one id."""
    if first.id == entry.id:
        return entry
    reason = f"is written as {first.label} is, but its id is {entry.id}, not {first.id}"
    return Failure(entry.label, reason)


def _round_trip(loaded: Loaded, names: list[str]) -> Entry | Failure:
    from cellwright.cell import formats

    cell = loaded.cell
    for name in names:
        try:
            back = formats.read(formats.write(cell, name), name)
        except CellError as error:
            return Failure(loaded.label, f"does not survive {name}: {describe(error)}")
        if [other.id for other in back] != [cell.id]:
            return Failure(loaded.label, f"comes back from {name} as another graph")
    return Entry(loaded.label, names[0], cell.id, _listing(cell), surely_dead(cell))


def _listing(cell: Cell) -> object:
    """Equal for two cells that are written with the same nodes under the same names."""
    return frozenset(cell.nodes), cell.states, cell.output
