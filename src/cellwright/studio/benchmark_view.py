"""A tabular benchmark: its architectures as columns, as trials of a study are."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.base.amounts import duration
from cellwright.base.errors import UserError
from cellwright.bench import summary
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.file import load
from cellwright.cell import Cell
from cellwright.studio.rows import Document, Row, figures, metric_words, values_of


@lru_cache(maxsize=2)
def _loaded(path: Path, moment: int, size: int) -> Benchmark:
    return load(path)


def read_benchmark(path: Path) -> Benchmark:
    """A benchmark, from memory while its file is as it was."""
    status = path.stat()
    return _loaded(path, status.st_mtime_ns, status.st_size)


def benchmark_row(path: Path) -> Row:
    """What a benchmark is."""
    table = read_benchmark(path)
    valid = summary.of_architectures(table).valid
    fine = valid[np.isfinite(valid)]
    best = float(fine.min()) if len(fine) else None
    place = int(np.nanargmin(valid)) if len(fine) else None
    return {
        "state": "finished",
        "cell": None if place is None else table.names[place],
        "data": table.corpus,
        "method": f"{len(table):,} architectures",
        "metric": metric_words(table.metric),
        **figures(table.metric, best),
        "done": table.run_count,
        "total": None,
        "unit": "trainings",
        "part": None,
        "left": None,
        "seconds": float(np.nansum(table.seconds)),
        "created": path.stat().st_mtime,
    }


def benchmark_detail(path: Path) -> Document:
    """What the table has in it."""
    table = read_benchmark(path)
    ok = int(table.has_status("ok").sum())
    return {
        "facts": [
            ["title", table.title],
            ["data", table.corpus],
            ["task", table.kind],
            ["trainings", f"{table.run_count:,}, {ok:,} of them ended well"],
            ["epochs", f"{table.most_epochs:,} at most"],
            ["training time", duration(float(np.nansum(table.seconds)))],
        ],
        "next": [f"cellwright bench top {path}", f"cellwright bench compare {path}"],
    }


def architectures_document(path: Path) -> Document:
    """The architectures in the shape of `trials_document`."""
    table = read_benchmark(path)
    found = summary.of_architectures(table)
    texts: dict[str, int] = {}

    def numbered(text: str | None) -> int | None:
        return None if text is None else texts.setdefault(text, len(texts))

    failed = [_message(table, n) if not found.ok[n] else None for n in range(len(table))]
    return {
        "moment": 0,
        "whole": True,
        "texts": texts,
        "columns": {
            "number": list(range(len(table))),
            "state": [numbered("finished" if ok else "failed") for ok in found.ok.tolist()],
            "value": values_of(table.metric, found.valid.tolist()),
            "seconds": [_finite(value) for value in found.seconds.tolist()],
            "parameters": [value or None for value in found.parameters.tolist()],
            "cell": [numbered(name) for name in table.names],
            "attempts": found.runs.tolist(),
            "reason": [numbered(text) for text in failed],
        },
    }


def _message(table: Benchmark, number: int) -> str:
    runs = table.runs_of(number)
    return str(table.message[runs[0]])[:300] if len(runs) else "not trained"


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def architecture_detail(path: Path, number: int) -> Document:
    """One architecture with the curve of its first training."""
    table = read_benchmark(path)
    _check(table, number)
    runs = table.runs_of(number)
    first = runs[0] if len(runs) else None
    curve: list[float] = []
    if first is not None:
        begin, end = int(table.first_epoch[first]), int(table.first_epoch[first + 1])
        curve = table.valid[begin:end].tolist()
    return {
        "number": number,
        "facts": [
            ["name", table.names[number]],
            ["cell", table.graphs[number]],
            ["trainings", f"{len(runs):,}"],
        ],
        "settings": {},
        "error": None,
        "metric": metric_words(table.metric),
        "curves": {
            "epoch": list(range(1, len(curve) + 1)),
            "valid": values_of(table.metric, curve),
        },
        "cell_id": table.graphs[number],
        "lineage": [],
    }


def architecture_cell(path: Path, number: int) -> Cell:
    """The cell of an architecture."""
    table = read_benchmark(path)
    _check(table, number)
    return table.cell(number)


def _check(table: Benchmark, number: int) -> None:
    if not 0 <= number < len(table):
        raise UserError(f"the benchmark has no architecture {number}")
