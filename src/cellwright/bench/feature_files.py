"""Features of architectures from a CSV file, such as the release's graph2vec embeddings."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cellwright.base.errors import reason, shown
from cellwright.base.regular_files import read_named
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError

MOST_BYTES = 2**30


def attach_features(
    benchmark: Benchmark, path: str | Path, name: str | None = None
) -> tuple[Benchmark, int]:
    """The benchmark with features from a file, and how many architectures have them there.

    The release's file has one `recepie_id` for each architecture. Which of an architecture's
    repeated runs that is differs, so any of them counts, the first one found winning.

    Args:
        benchmark: whose architectures they are.
        path: a CSV file with a heading; the first column has labels of runs or names of
            architectures, all others numbers.
        name: what to call the features; the file's name unless said.
    """
    rows = read_features(path)
    width = len(next(iter(rows.values())))
    matrix = np.full((len(benchmark), width), np.nan)
    labels = list(benchmark.label)
    for number, own in enumerate(benchmark.names):
        for key in (own, *(labels[run] for run in benchmark.runs_of(number))):
            if key in rows:
                matrix[number] = rows[key]
                break
    covered = int(np.isfinite(matrix).all(axis=1).sum())
    if not covered:
        first = next(iter(rows))
        raise BenchError(
            f"{path}: none of its {len(rows):,} rows is of an architecture of "
            f"{benchmark.title!r}; its first column has labels such as {shown(first)}"
        )
    return benchmark.with_features(name or Path(path).stem, matrix), covered


def read_features(path: str | Path) -> dict[str, Floats]:
    """The rows of a CSV file of features, by the label in their first column."""
    try:
        text = read_named(path, MOST_BYTES).decode("utf-8-sig")
        return _rows(path, io.StringIO(text, newline=""))
    except OSError as error:
        raise BenchError(f"{path}: {reason(error)}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise BenchError(f"{path}: not a CSV file: {error}") from None


def _rows(path: str | Path, lines: Iterable[str]) -> dict[str, Floats]:
    reader = csv.reader(lines)
    heading: list[str] = next(reader, [])
    if len(heading) < 2:
        raise BenchError(f"{path}: its first line must name a label and at least one feature")
    rows: dict[str, Floats] = {}
    for row in reader:
        if not row:
            continue
        where = f"{path}: line {reader.line_num}"
        if len(row) != len(heading):
            raise BenchError(f"{where} has {len(row)} columns, the heading {len(heading)}")
        if row[0] in rows:
            raise BenchError(f"{where}: the label {shown(row[0])} is there twice")
        try:
            values = np.array(row[1:], np.float64)
        except ValueError:
            raise BenchError(f"{where} has a feature that is not a number") from None
        if not np.isfinite(values).all():
            raise BenchError(f"{where} has a feature that is not finite")
        rows[row[0]] = values
    if not rows:
        raise BenchError(f"{path}: there are no rows below the heading")
    return rows
