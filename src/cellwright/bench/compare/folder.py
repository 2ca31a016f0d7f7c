"""The folder of a comparison of search methods, which says on which table they were compared.

FOLDER/methods.json     the table's fingerprint and title
FOLDER/runs/            what was searched, a file for each method and seed
FOLDER/report.html      the report, with summary.csv, curves.csv, regrets.csv, tests.csv, pictures
"""

from __future__ import annotations

import hashlib
import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.base.errors import refused, shown
from cellwright.base.files import write_whole
from cellwright.base.folder_kinds import kind_of
from cellwright.base.names import file_stem
from cellwright.base.regular_files import open_regular, read_regular
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.errors import BenchError

FILE, FORMAT = "methods.json", "cellwright-methods/1"
RUNS, TABLE, REPORT = "runs", "table.bench", "report.html"

EARLIER = Path("comparison")
"""Where comparisons went unless said, in earlier versions."""

_HINT = "choose another folder with -o"
_TITLE = "Search methods on "


def default_folder(file: Path) -> Path:
    """Where a comparison on a table goes unless said: each table has a folder of its own."""
    return Path("bench-comparison") / file_stem(file.stem, "benchmark")


def report_title(benchmark: Benchmark) -> str:
    """What the report is called."""
    return f"{_TITLE}{benchmark.title}"


def fingerprint(benchmark: Benchmark) -> str:
    """A hash of all that decides how a search goes, but for the features."""
    found = hashlib.sha256(" ".join(benchmark.graphs).encode())
    for column in ("first_run", "first_epoch", "valid", "test", "seconds", "seed", "status"):
        found.update(np.ascontiguousarray(getattr(benchmark, column)).tobytes())
    return found.hexdigest()[:16]


def check_folder(folder: Path, benchmark: Benchmark) -> None:
    """Refuse a folder that has something else, before anything is written.

    Raises:
        BenchError: it is a file, another table's comparison, or anything else.
        FileError: it cannot be looked at.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise BenchError(f"{folder} is a file; a comparison is a folder; {_HINT}")
        if not folder.is_dir():
            return
        kind = kind_of(folder)
        # What a process left that was killed before it had said what the folder is.
        strange = [path for path in folder.iterdir() if path.name not in (RUNS, TABLE)]
        strange = [path for path in strange if not path.name.startswith(".")]
        marked = (folder / FILE).exists()
        if kind is not None and "search methods" not in kind:
            raise BenchError(f"{folder} is {kind}, not one of search methods; {_HINT}")
        if kind is None and strange:
            raise BenchError(
                f"{folder} has other files, such as {strange[0].name}, and no comparison; {_HINT}"
            )
    except OSError as error:
        raise refused("read", folder, error) from None
    if marked:
        _check_table(folder, benchmark)
    elif kind is not None and not _is_titled(folder, benchmark):
        raise BenchError(
            f"{folder} compares search methods on another table than {shown(benchmark.title)}; "
            f"{_HINT}"
        )


def mark_folder(folder: Path, benchmark: Benchmark) -> None:
    """Make the folder, and let it say what it is for."""
    check_folder(folder, benchmark)
    value = {"format": FORMAT, "table": fingerprint(benchmark), "title": benchmark.title}
    data = json.dumps(value, indent=2).encode() + b"\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / FILE).exists() and read_regular(folder / FILE) == data:
            return
    except OSError as error:
        raise refused("make", folder, error) from None
    write_whole(folder / FILE, data)


def _check_table(folder: Path, benchmark: Benchmark) -> None:
    path = folder / FILE
    try:
        value: Any = json.loads(read_regular(path))
        fits = value["format"] == FORMAT
        title, table = str(value["title"]), str(value["table"])
    except OSError as error:
        raise refused("read", path, error) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        fits, title, table = False, "", ""
    if not fits:
        raise BenchError(f"{path} is damaged, or of another version; {_HINT}")
    if table != fingerprint(benchmark):
        own = "this" if title == benchmark.title else shown(benchmark.title)
        raise BenchError(
            f"{folder} compares search methods on {shown(title)} (table {table}), and {own} is "
            f"another table ({fingerprint(benchmark)}); {_HINT}"
        )


def _is_titled(folder: Path, benchmark: Benchmark) -> bool:
    """Whether the report of an earlier version, which said nothing else, is about this table."""
    path = folder / REPORT
    try:
        with open_regular(path) as file:
            head = file.read(2**16).decode("utf-8", "replace")
    except OSError as error:
        raise refused("read", path, error) from None
    return f"<title>{html.escape(report_title(benchmark))}</title>" in head
