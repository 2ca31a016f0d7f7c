"""What a folder holds that can be watched: trainings, searches, studies, comparisons, …"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cellwright.base.regular_files import open_regular

Kind = Literal[
    "run", "search", "study", "comparison", "suite", "sensitivity", "methods", "grid", "benchmark"
]
FoundKind = Kind | Literal["store"]

_BY_FILE: tuple[tuple[str, Kind], ...] = (
    ("sensitivity.json", "sensitivity"),  # it is a comparison of cells as well
    ("suite.json", "suite"),
    ("comparison.json", "comparison"),
    ("methods.json", "methods"),
    ("grid.json", "grid"),
    ("run.json", "run"),
    ("search.json", "search"),
)
"""What a folder is, by a file in it; the first that is there counts."""

_LEAVES = ("run", "methods")
"""What has nothing in it that stands for itself."""

_STORES = (".db", ".sqlite", ".sqlite3")
_MAGIC = b"SQLite format 3\0"

MOST_FOLDERS = 20_000
"""A folder with more in it is the wrong one: somebody's home, say."""

DEEPEST = 12


@dataclass(frozen=True)
class Found:
    """A thing in the folder. Its id is its path in there; a store has studies of their own."""

    id: str
    kind: FoundKind
    path: Path
    parent: str | None = None


@dataclass
class Finding:
    """All that was found, parents before what is in them, and what was passed over."""

    found: list[Found] = field(default_factory=list)
    links: int = 0
    """Links to folders, which are not followed: they may lead anywhere, and in circles."""
    too_many: bool = False


def is_inside(root: Path, path: Path) -> bool:
    """Whether a path is in the folder, with all links followed. `root` has none.

    >>> is_inside(Path("/tmp"), Path("/tmp/../etc/passwd"))
    False
    """
    try:
        return Path(os.path.realpath(path)).is_relative_to(root)
    except (OSError, ValueError):  # a name with a null character
        return False


def find(root: Path) -> Finding:
    """Look through a folder. What cannot be read is passed over, as it may be somebody else's."""
    finding = Finding()
    seen = 0
    waiting: list[tuple[Path, str | None, int]] = [(root, None, 0)]
    while waiting:
        folder, parent, depth = waiting.pop()
        seen += 1
        if seen > MOST_FOLDERS:
            finding.too_many = True
            break
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in listed}
        kind = next((kind for name, kind in _BY_FILE if name in names), None)
        if kind is not None:
            own = Found(identity(root, folder), kind, folder, parent)
            finding.found.append(own)
            parent = own.id
            if kind in _LEAVES:
                continue
        below = []
        for entry in listed:
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            if entry.is_symlink() and entry.is_dir():
                finding.links += 1
            elif entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST and not (kind == "search" and entry.name.startswith("seed-")):
                    below.append((Path(entry.path), parent, depth + 1))
            else:
                finding.found.extend(_files(root, Path(entry.path), parent))
        waiting.extend(reversed(below))
    return finding


def identity(root: Path, path: Path) -> str:
    """The name of a thing in the folder: its path from there."""
    return path.relative_to(root).as_posix()


def _files(root: Path, path: Path, parent: str | None) -> Iterator[Found]:
    """A store or a benchmark, if the file is one."""
    if path.suffix == ".bench" and is_inside(root, path):
        yield Found(identity(root, path), "benchmark", path, parent)
    elif path.suffix in _STORES and is_inside(root, path) and is_sqlite(path):
        yield Found(identity(root, path), "store", path, parent)


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as a SQLite database does."""
    try:
        with open_regular(path) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
