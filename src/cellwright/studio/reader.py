"""From the files of one thing to its row, to all that the page shows of it, and to its cell."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.base.locks import is_held
from cellwright.cell import Cell
from cellwright.runs.cell_file import read_cell
from cellwright.runs.folder import RunFolder
from cellwright.studio import (
    benchmark_view,
    comparison_view,
    grid_view,
    methods_view,
    run_view,
    search_epochs,
    search_view,
    sensitivity_view,
    suite_view,
)
from cellwright.studio.found import Found, is_inside
from cellwright.studio.metrics_tail import MetricsTail
from cellwright.studio.rows import NOTHING_KNOWN, Document, Row
from cellwright.studio.search_file import Search, read_search

Signature = tuple[Any, ...]
"""What is as it was as long as nothing has changed."""

_OWN_FILES: dict[str, tuple[str, ...]] = {
    "run": ("run.json", "metrics.jsonl", "result.json"),
    "search": ("search.json", "found.json", "selection.json"),
    "comparison": ("comparison.json", "failures.json", "index.html"),
    "sensitivity": (
        "comparison.json",
        "sensitivity.json",
        "failures.json",
        "points.json",
        "index.html",
    ),
    "suite": ("suite.json", "results.json", "index.html"),
    "grid": ("grid.json", "index.html"),
    "methods": ("methods.json", "runs", "report.html"),
}


class NotWatchedError(UserError):
    """There is nothing of that name."""


def status(path: Path) -> tuple[int, int]:
    """When a file was changed and how long it is; zeros if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


class Reader:
    """Reads what is in a folder, and remembers how far it has read files that grow.

    Args:
        root: the folder; None where there is none, and so nothing to read.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root
        self._tails: dict[Path, MetricsTail] = {}

    def signature(self, item: Found) -> Signature:
        """What changes whenever the thing does, but for what is inside it."""
        if item.kind == "benchmark":
            return (status(item.path),)
        own = [status(item.path / name) for name in _OWN_FILES[item.kind]]
        if item.kind == "search":
            own += [status(each / "metrics.jsonl") for each in sorted(item.path.glob("seed-*"))]
        if item.kind == "methods":
            own += [status(each) for each in sorted((item.path / "runs").glob("*"))]
        return (*own, is_held(item.path))

    def row(self, item: Found, inside: Sequence[Row]) -> Row:
        """How it stands.

        Args:
            item: what.
            inside: the rows of what is in it.

        Raises:
            UserError: it is damaged; the message says how.
        """
        path = item.path
        if item.kind == "run":
            return run_view.run_row(*self._run(item))
        if item.kind == "search":
            search = read_search(self._checked(path / "search.json").parent)
            return search_view.search_row(
                search, list(self._seed_tails(search).values()), _runs(inside)
            )
        if item.kind in ("comparison", "sensitivity"):
            if not (path / "comparison.json").is_file():
                return {**NOTHING_KNOWN, "state": "open", "method": "searches first"}
            plan = comparison_view.read_comparison(self._checked(path / "comparison.json").parent)
            return comparison_view.comparison_row(path, plan, _named(inside))
        if item.kind == "grid":
            self._checked(path / "grid.json")
            return grid_view.grid_row(path, inside)
        if item.kind == "suite":
            self._checked(path / "suite.json")
            return suite_view.suite_row(path, inside)
        if item.kind == "methods":
            self._checked(path / "methods.json")
            return methods_view.methods_row(path)
        return benchmark_view.benchmark_row(path)

    def detail(self, item: Found, within: Callable[[str], list[Row]]) -> Document:
        """All that the page shows of it; see `row`.

        Args:
            item: what.
            within: gives the rows of what is in a thing, by its id.
        """
        path, inside = item.path, within(item.id)
        if item.kind == "run":
            return run_view.run_detail(*self._run(item))
        if item.kind == "search":
            search = read_search(self._checked(path / "search.json").parent)
            return search_view.search_detail(search, self._seed_tails(search), _runs(inside))
        if item.kind in ("comparison", "sensitivity"):
            searches = [row["id"] for row in inside if row["kind"] == "search"]
            if not (path / "comparison.json").is_file():
                return {"facts": [], "inside": searches}
            plan = comparison_view.read_comparison(self._checked(path / "comparison.json").parent)
            made = comparison_view.comparison_detail(path, plan, _named(inside))
            axes = sensitivity_view.axes_of(path) if item.kind == "sensitivity" else []
            return {**made, "inside": searches, "axes": axes,
                    "curves_of": self._curves(item, inside)}  # fmt: skip
        if item.kind == "grid":
            return grid_view.grid_detail(path, inside)
        if item.kind == "suite":
            return suite_view.suite_detail(path, inside, lambda each: _named(within(each)))
        if item.kind == "methods":
            return methods_view.methods_detail(path)
        return benchmark_view.benchmark_detail(path)

    def cell(self, item: Found, seed: int | None, place: int) -> Cell:
        """The cell of a training, that a search found, or that it had after an epoch of a seed."""
        if item.kind == "run":
            return read_cell(self._checked(item.path / "cell.json"))
        if item.kind != "search":
            raise NotWatchedError(f"{item.id} has no cell of its own")
        if seed is None:
            return read_cell(self._checked(item.path / "found.json"))
        tails = self._seed_tails(read_search(item.path))
        if seed not in tails:
            raise NotWatchedError(f"{item.id} has no seed {seed}")
        return search_epochs.epoch_cell(tails[seed], place)

    def _run(self, item: Found) -> tuple[RunFolder, MetricsTail]:
        for name in ("run.json", "result.json"):
            self._checked(item.path / name)
        tail = self._tail(item.path / "metrics.jsonl")
        return RunFolder.open(item.path, item.path.parent), tail

    def _tail(self, path: Path) -> MetricsTail:
        self._checked(path)
        tail = self._tails.setdefault(path, MetricsTail(path))
        tail.read_on()
        return tail

    def _seed_tails(self, search: Search) -> dict[int, MetricsTail]:
        folders = search.seed_folders()
        return {seed: self._tail(path / "metrics.jsonl") for seed, path in folders}

    def _curves(self, item: Found, inside: Sequence[Row]) -> dict[str, Document]:
        """The validation curves of a comparison's trainings, by id."""
        found = {}
        for row in _runs(inside):
            if row["state"] != "damaged" and self._root is not None:
                run, tail = self._run(Found(row["id"], "run", self._root / row["id"], item.id))
                whole = run_view.run_curves(run_view.curve(tail), tail, run.info.metric)
                found[row["id"]] = {"epoch": whole["epoch"], "valid": whole["valid"]}
        return found

    def _checked(self, path: Path) -> Path:
        """The path, if it does not lead out of the folder."""
        if self._root is not None and not is_inside(self._root, path):
            raise UserError(f"{path} is a link that leads out of the folder")
        return path


def _runs(inside: Sequence[Row]) -> list[Row]:
    return [row for row in inside if row["kind"] == "run"]


def _named(inside: Sequence[Row]) -> dict[str, Row]:
    return {row["name"]: row for row in _runs(inside)}
