"""What `cellwright cells check` finds out: does every cell survive its own format?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cellwright.cell import Cell, CellError
from cellwright.cli.cells.options import expressible_in
from cellwright.cli.errors import describe
from cellwright.cli.sources import Document, Loaded, numbered


@dataclass(frozen=True)
class Entry:
    """A cell that passed. `listing` is its graph as it was written, names included."""

    label: str
    format: str
    id: str
    listing: object


@dataclass(frozen=True)
class Failure:
    """A document, or one of its cells, that did not."""

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
            "failures": [{"where": f.label, "reason": f.reason} for f in self.failures],
        }


def survey(documents: Iterable[Document], format: str | None = None) -> Survey:
    """Check every document. What is wrong with one becomes a failure, not an exception."""
    found = Survey()
    ids: dict[object, Entry] = {}
    for document in documents:
        found.files += 1
        try:
            entries = _check(document, format)
        except (CellError, OSError) as error:
            reason = describe(error).removeprefix(f"{document.label}: ")
            found.failures.append(Failure(document.label, reason))
            continue
        for entry in entries:
            if isinstance(entry, Failure):
                found.failures.append(entry)
                continue
            first = ids.setdefault(entry.listing, entry)
            if first.id != entry.id:
                reason = f"is written as {first.label} is, but its id is {entry.id}, not {first.id}"
                found.failures.append(Failure(entry.label, reason))
            else:
                found.entries.append(entry)
    return found


def _check(document: Document, format: str | None) -> list[Entry | Failure]:
    from cellwright.cell import formats

    if document.zoo_cell is not None:
        names = expressible_in(document.zoo_cell)
        return [_round_trip(Loaded(document.label, document.zoo_cell), names)]
    text = document.text()
    assert text is not None
    name = format or formats.recognize(text)
    found = numbered(document.label, formats.read(text, name))
    if not found:
        raise CellError("there is no cell in it")
    return [_round_trip(loaded, [name]) for loaded in found]


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
    return Entry(loaded.label, names[0], cell.id, _listing(cell))


def _listing(cell: Cell) -> object:
    """Equal for two cells that are written with the same nodes under the same names."""
    return frozenset(cell.nodes), cell.states, cell.output
