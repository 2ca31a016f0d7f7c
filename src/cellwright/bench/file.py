"""The benchmark file: all columns in one safetensors file.

Chosen over Parquet (pyarrow alone is larger than everything else here but torch), over SQLite
(curves would be blobs that have to be taken apart one by one) and over a zip file of numpy arrays
(which has no guard against a header that lies). The library is there anyway for weights, opens
without running code from the file, and any program that has it can read the columns.

The header has one entry, `cellwright-bench`, with JSON:

| key | meaning |
|---|---|
| `format` | `cellwright-bench/2` |
| `table` | title, corpus, kind of task, metric and settings |
| `checksums` | the CRC-32 of each column, and of `table` under the empty name |

One entry, because the library writes several in an order that differs from run to run, and equal
benchmarks should be equal files.

Columns are named as the fields of `Benchmark`. A column of texts is two: `cells` has the UTF-8
bytes, `cells.starts` the places where the texts begin. A matrix of features is `features.NAME`,
and a score of the runs `scores.NAME`.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import shown
from cellwright.base.regular_files import check_mapped
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Texts
from cellwright.bench.errors import BenchError
from cellwright.bench.runs import CURVES, STATUSES
from cellwright.tasks.metric import Metric
from cellwright.tasks.registry import task_kind

FORMAT, EARLIER = "cellwright-bench/2", "cellwright-bench/1"

ENDING = ".bench"
"""What benchmark files are usually called."""

_ENTRY = FORMAT.split("/")[0]
_TEXTS = ("names", "graphs", "cells", "message", "label")
_NUMBERS: dict[str, Any] = {
    "first_run": np.int64,
    "first_epoch": np.int64,
    **dict.fromkeys(CURVES, np.float64),
    "seed": np.int64,
    "status": np.uint8,
    "parameters": np.int64,
    "settings_of": np.int64,
}
_FEATURES, _SCORES = "features.", "scores."


class _OtherFormatError(Exception):
    """The file was written by another version."""


Columns = dict[str, NDArray[Any]]


def save(benchmark: Benchmark, path: str | Path) -> Path:
    """Write a benchmark into one file, whole: a reader finds the old file or the new one."""
    from cellwright.base.files import write_named

    write_named(Path(path), to_bytes(benchmark))
    return Path(path)


def to_bytes(benchmark: Benchmark) -> bytes:
    """What the file of a benchmark holds."""
    from safetensors.numpy import save as encoded

    columns: Columns = {name: getattr(benchmark, name) for name in _NUMBERS}
    for name in _TEXTS:
        texts = getattr(benchmark, name)
        column = texts if isinstance(texts, Texts) else Texts.of(texts)
        columns[name], columns[f"{name}.starts"] = column.data, column.starts
    for name, matrix in benchmark.features.items():
        columns[_FEATURES + name] = matrix
    for name, values in benchmark.scores.items():
        columns[_SCORES + name] = values
    columns = {name: np.ascontiguousarray(column) for name, column in columns.items()}
    table = {name: getattr(benchmark, name) for name in ("title", "corpus", "kind", "settings")}
    table["metric"] = benchmark.metric.model_dump()
    header = {"format": FORMAT, "table": table, "checksums": _checksums(table, columns)}
    return encoded(columns, {_ENTRY: json.dumps(header, sort_keys=True)})


def load(path: str | Path) -> Benchmark:
    """Open a benchmark file.

    Raises:
        BenchError: there is no such file, it is not a benchmark, it is damaged or cut off, or a
            newer version of cellwright has written it. The message names the file.
    """
    path = Path(path)
    header, columns = _read(path)
    if _ENTRY not in header:
        raise BenchError(f"{path} is a safetensors file, but not a benchmark")
    try:
        about = json.loads(header[_ENTRY])
        if about["format"] not in (FORMAT, EARLIER):
            raise _OtherFormatError(about["format"])
        if about["checksums"] != _checksums(about["table"], columns):
            raise BenchError("its contents are not those that were written")
        return _benchmark(about["table"], columns)
    except _OtherFormatError as error:
        raise BenchError(
            f"{path} is in the format {shown(error.args[0])}; this cellwright reads {FORMAT}"
        ) from None
    except BenchError as error:
        raise _damaged(path, str(error)) from None
    except (KeyError, ValueError, TypeError, RecursionError, AttributeError):
        raise _damaged(path, "its header cannot be read") from None


def _read(path: Path) -> tuple[dict[str, str], Columns]:
    from safetensors import SafetensorError, safe_open

    try:
        check_mapped(path)  # the library's own errors do not tell why it failed to open
        with safe_open(os.fspath(path), "numpy") as file:
            header = dict(file.metadata() or {})
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise BenchError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise BenchError(
            f"{path} is a folder; 'cellwright bench import' makes a benchmark of a folder of logs"
        ) from None
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror or error}") from None
    except (SafetensorError, TypeError, ValueError, KeyError):
        raise BenchError(
            f"{path} is not a benchmark file, or is cut off; 'cellwright bench import' makes one"
        ) from None


def _damaged(path: Path, why: str) -> BenchError:
    return BenchError(f"the benchmark {path} is damaged: {why}")


def _checksums(table: dict[str, Any], columns: Columns) -> dict[str, int]:
    found = {
        name: zlib.crc32(np.ascontiguousarray(column).data) for name, column in columns.items()
    }
    return {**found, "": zlib.crc32(json.dumps(table, sort_keys=True).encode())}


def _benchmark(table: dict[str, Any], columns: Columns) -> Benchmark:
    for name, kind in {**_NUMBERS, **dict.fromkeys(_TEXTS, np.uint8)}.items():
        if name not in columns or columns[name].dtype != kind or columns[name].ndim != 1:
            raise BenchError(f"its column {name!r} is missing or of the wrong kind")
        columns[name].flags.writeable = False
    read: dict[str, Any] = {name: columns[name] for name in _NUMBERS}
    for name in _TEXTS:
        _check_starts(name, columns[f"{name}.starts"], len(columns[name]))
        read[name] = Texts(columns[name], columns[f"{name}.starts"])
    found = Benchmark(
        title=str(table["title"]),
        corpus=str(table["corpus"]),
        kind=str(table.get("kind", "language")),
        metric=_metric(table["metric"]),
        settings=tuple(dict(value) for value in table["settings"]),
        names=tuple(read.pop("names")),
        graphs=tuple(read.pop("graphs")),
        **read,
        features=_named(columns, _FEATURES),
        scores=_named(columns, _SCORES),
    )
    _check(found)
    return found


def _named(columns: Columns, prefix: str) -> Columns:
    """The columns whose names begin so, by what follows."""
    return {
        name.removeprefix(prefix): column
        for name, column in sorted(columns.items())
        if name.startswith(prefix)
    }


def _metric(value: Any) -> Metric:
    """The metric; an earlier version had only language models, and named their losses."""
    return task_kind("language").metric if isinstance(value, str) else Metric.model_validate(value)


def _check(found: Benchmark) -> None:
    """Whether the columns fit each other, so that nothing later can run over an end."""
    _check_starts("first_run", found.first_run, found.run_count)
    _check_starts("first_epoch", found.first_epoch, len(found.valid))
    lengths = (
        (len(found), ("graphs", "cells")),
        (found.run_count, ("status", "parameters", "settings_of", "message", "label")),
        (len(found.valid), CURVES),
    )
    fits = all(len(getattr(found, name)) == n for n, names in lengths for name in names)
    rows = len(found.first_run) - 1 == len(found) and len(found.first_epoch) - 1 == found.run_count
    matrices = all(m.ndim == 2 and len(m) == len(found) for m in found.features.values())
    matrices = matrices and all(
        values.shape == (found.run_count,) and values.dtype == np.float64
        for values in found.scores.values()
    )
    codes = (found.status < len(STATUSES)).all() and (
        ((found.settings_of >= 0) & (found.settings_of < len(found.settings))).all()
    )
    names = len(set(found.names)) == len(found)
    if not (fits and rows and matrices and codes and names):
        raise BenchError("its columns do not fit each other")


def _check_starts(name: str, starts: NDArray[Any], end: int) -> None:
    good = starts.dtype == np.int64 and starts.ndim == 1 and len(starts) > 0
    if not good or starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
        raise BenchError(f"its column {name!r} points outside")
