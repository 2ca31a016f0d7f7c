"""A study as a table: CSV for everybody, Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, func, select

from cellwright.base.endings import PARQUET, EndingError, format_of
from cellwright.base.errors import did_you_mean
from cellwright.base.files import write_whole
from cellwright.trials.store.damage import check_row, damage_named
from cellwright.trials.store.errors import StoreError
from cellwright.trials.store.store import Store
from cellwright.trials.store.studies import Study
from cellwright.trials.store.tables import attempts, cells, curves, trials

Columns = dict[str, type]
Rows = Iterator[tuple[Any, ...]]

_AT_ONCE = 10_000
"""Rows in memory at a time."""

_TRIALS: Columns = {
    "number": int, "cell_id": str, "fidelity": int, "seed": int, "info": str, "state": str,
    "status": str, "value": float, "cost": float, "seconds": float, "parameters": int,
    "peak_memory": int, "measures": str, "attempt": int, "failures": int, "losses": int,
    "asked_at": float, "started_at": float, "ended_at": float, "told": int, "error": str,
}  # fmt: skip
_CURVES: Columns = {"number": int, "name": str, "epoch": int, "value": float}
_CELLS: Columns = {"cell_id": str, "json": str}
_ATTEMPTS: Columns = {
    "trial": int, "number": int, "driver_id": str, "host": str, "started_at": float,
    "ended_at": float, "ending": str, "message": str,
}  # fmt: skip


def export_study(store: Store, study: Study, path: str | Path, what: str = "trials") -> Path:
    """Write a table of a study into a file, whose ending says how: .csv or .parquet.

    Times are seconds since 1970. `info` and `measures` are JSON. A number that is not there, or
    was not finite, is an empty field.

    Args:
        what: "trials", "curves" (a row for each epoch), "cells" or "attempts".

    Raises:
        StoreError: there is no such table or ending, or pyarrow is missing.
        RunError: the file cannot be written.
    """
    path = Path(path)
    if what not in TABLES:
        raise StoreError(
            f"a study has the tables {', '.join(TABLES)}, not {what!r}{did_you_mean(what, TABLES)}"
        )
    columns, query, spread = TABLES[what]
    try:
        writer = _WRITERS[format_of(path, tuple(_WRITERS), "table")](columns)
    except EndingError as error:
        raise StoreError(str(error)) from None

    def write(connection: Connection) -> None:
        result = connection.execution_options(yield_per=_AT_ONCE).execute(query(study))
        rows = (values for row in result for values in spread(_checked(what, row)))
        write_whole(path, writer(rows))

    with damage_named(store, study):
        store.read(write)
    return path


def _checked(what: str, row: Any) -> tuple[Any, ...]:
    if what in _KEPT_IN:
        check_row(_KEPT_IN[what], row, f"trial {row[0]}")
    return tuple(row)


def _csv(columns: Columns) -> Callable[[Rows], Iterator[bytes]]:
    def write(rows: Rows) -> Iterator[bytes]:
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow(columns)
        for row in rows:
            out.writerow(row)
            if text.tell() > 1 << 20:
                yield text.getvalue().encode()
                text.seek(0)
                text.truncate()
        yield text.getvalue().encode()

    return write


def _parquet(columns: Columns) -> Callable[[Rows], Iterator[bytes]]:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise StoreError(
            "Parquet needs the package pyarrow: pip install 'cellwright[parquet]', "
            "or export to a .csv file"
        ) from None
    types = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])

    def write(rows: Rows) -> Iterator[bytes]:
        stream = io.BytesIO()
        with parquet.ParquetWriter(stream, schema) as writer:
            for some in _parts(rows):
                arrays = [
                    pyarrow.array(values, field.type)
                    for values, field in zip(zip(*some, strict=True), schema, strict=True)
                ]
                writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
        yield stream.getvalue()

    return write


_WRITERS = {"csv": _csv, PARQUET: _parquet}


def _parts(rows: Rows) -> Iterator[list[tuple[Any, ...]]]:
    some: list[tuple[Any, ...]] = []
    for row in rows:
        some.append(row)
        if len(some) == _AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _trials(study: Study) -> Select[Any]:
    columns = [getattr(trials.c, name) for name in _TRIALS]
    return select(*columns).where(trials.c.study_id == study.id).order_by(trials.c.number)


def _curves(study: Study) -> Select[Any]:
    return (
        select(trials.c.number, curves.c.name, curves.c.numbers)
        .join_from(trials, curves)
        .where(trials.c.study_id == study.id)
        .order_by(trials.c.number, curves.c.name)
    )


def _cells(study: Study) -> Select[Any]:
    first = func.min(trials.c.number)
    return (
        select(cells.c.id, cells.c.json)
        .join_from(trials, cells)
        .where(trials.c.study_id == study.id)
        .group_by(cells.c.id, cells.c.json)
        .order_by(first)
    )


def _attempts(study: Study) -> Select[Any]:
    own = [getattr(attempts.c, name) for name in list(_ATTEMPTS)[1:]]
    return (
        select(trials.c.number, *own)
        .join_from(trials, attempts)
        .where(trials.c.study_id == study.id)
        .order_by(trials.c.number, attempts.c.number)
    )


def _one(row: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
    return (row,)


def _each_epoch(row: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
    number, name, numbers = row
    return [(number, name, epoch, value) for epoch, value in enumerate(json.loads(numbers), 1)]


_Table = tuple[
    Columns,
    Callable[[Study], Select[Any]],
    Callable[[tuple[Any, ...]], Sequence[tuple[Any, ...]]],
]

_KEPT_IN = {"trials": trials, "curves": curves, "attempts": attempts}

TABLES: dict[str, _Table] = {
    "trials": (_TRIALS, _trials, _one),
    "curves": (_CURVES, _curves, _each_epoch),
    "cells": (_CELLS, _cells, _one),
    "attempts": (_ATTEMPTS, _attempts, _one),
}
"""What can be exported: the columns, the query, and how a row of it becomes rows."""
