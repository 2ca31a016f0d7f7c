"""A benchmark as CSV, as a list of cells, or as logs that `import_logs` reads."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cellwright.bench.benchmark import Benchmark
from cellwright.bench.logs import KEYS, RELEASE, TASK
from cellwright.bench.runs import CURVES, STATUSES, Run
from cellwright.bench.summary import of_architectures, of_runs
from cellwright.cell import Cell, CellError
from cellwright.cell.listings import nas_bench_nlp
from cellwright.trials.task_label import TaskLabel

_EARLY = (1980, 1, 1, 0, 0, 0)
"""The time of every member of a zip file, so that equal benchmarks give equal files."""


def architectures_csv(benchmark: Benchmark) -> str:
    """A line for each architecture: what `of_architectures` says of it."""
    figures = of_architectures(benchmark)
    numbers = ("runs", "ok", "parameters", "valid", "spread", "test", "lowest_test", "seconds")
    columns = [getattr(figures, name).tolist() for name in numbers]
    rows = zip(benchmark.names, benchmark.graphs, *columns, strict=True)
    return to_csv(("name", "graph", *numbers), rows)


def runs_csv(benchmark: Benchmark) -> str:
    """A line for each run."""
    figures = of_runs(benchmark)
    numbers = ("best_epoch", "valid", "test", "lowest_test", "final_test", "seconds")
    columns = [getattr(figures, name).tolist() for name in numbers]
    rows = zip(
        [benchmark.names[number] for number in benchmark.architecture_of],
        benchmark.seed.tolist(),
        benchmark.label,
        [STATUSES[code] for code in benchmark.status],
        benchmark.message,
        benchmark.parameters.tolist(),
        (benchmark.first_epoch[1:] - benchmark.first_epoch[:-1]).tolist(),
        *columns,
        strict=True,
    )
    own = ("architecture", "seed", "label", "status", "message", "parameters", "epochs")
    return to_csv((*own, *numbers), rows)


def curves_csv(benchmark: Benchmark) -> str:
    """A line for each epoch of each run."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for number in range(benchmark.run_count):
            name = benchmark.names[benchmark.architecture_of[number]]
            seed = int(benchmark.seed[number])
            start, end = benchmark.first_epoch[number : number + 2]
            columns = [getattr(benchmark, curve)[start:end].tolist() for curve in CURVES]
            for epoch, values in enumerate(zip(*columns, strict=True), 1):
                yield name, seed, epoch, *values

    return to_csv(("architecture", "seed", "epoch", *CURVES), rows())


def cells_json(benchmark: Benchmark) -> str:
    """All cells as one list of cellwright JSON."""
    return "[\n" + ",\n".join(benchmark.cells) + "\n]\n"


def logs_zip(benchmark: Benchmark) -> bytes:
    """A zip file with a log for each run, in the release's form.

    A cell that no recipe can say is written as `cell`, in cellwright JSON; a task that is not the
    release's, with its metric, as `cellwright_task`.
    """
    label = TaskLabel(benchmark.kind, benchmark.metric)
    task = {} if label == RELEASE else {TASK: json.loads(label.to_json())}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(len(benchmark)):
            architecture = benchmark.architecture(number)
            described = _described(architecture.cell)
            for run in architecture.runs:
                log = {**_log(architecture.name, run), **described, **task}
                member = zipfile.ZipInfo(f"log_{number:06d}_{run.seed}.json", _EARLY)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, json.dumps(log))
    return stream.getvalue()


EXPORTS: dict[str, tuple[str, Callable[[Benchmark], str | bytes]]] = {
    "architectures": (".csv", architectures_csv),
    "runs": (".csv", runs_csv),
    "curves": (".csv", curves_csv),
    "cells": (".json", cells_json),
    "logs": (".zip", logs_zip),
}
"""What can be exported: the usual ending of such a file, and who writes it."""


def to_csv(heading: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV. Numbers keep all their digits."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return stream.getvalue()


def _log(name: str, run: Run) -> dict[str, Any]:
    return {
        "name": name,
        **run.settings,
        "recepie_id": run.label,
        "seed": run.seed,
        "num_params": run.parameters,
        **{own: getattr(run, curve).tolist() for curve, own in KEYS.items()},
        "status": run.message or run.status,
    }


def _described(cell: Cell) -> dict[str, Any]:
    try:
        return {"recepie": json.dumps(nas_bench_nlp.lift(cell))}
    except CellError:
        return {"cell": json.loads(cell.to_json(indent=None))}
