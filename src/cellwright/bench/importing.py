"""From training logs to a benchmark: repeated runs together, bad logs told by name."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cellwright.base.errors import UserError
from cellwright.bench.assembling import assemble
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.documents import Document, documents
from cellwright.bench.errors import BenchError
from cellwright.bench.logs import RELEASE, Logged, read_log
from cellwright.bench.runs import Architecture, Run
from cellwright.cell import Cell
from cellwright.trials.task_label import TaskLabel

Watch = Callable[[int], None]


@dataclass(frozen=True)
class Remark:
    """A log that was left out, or that is odd, and why."""

    label: str
    reason: str


@dataclass(frozen=True)
class Imported:
    """What an import found.

    Args:
        benchmark: the architectures with their runs.
        logs: how many logs and recipes were read well.
        skipped: those that were left out.
        remarks: those that were taken, but not as they stand.
    """

    benchmark: Benchmark
    logs: int
    skipped: tuple[Remark, ...]
    remarks: tuple[Remark, ...]


def import_logs(
    paths: Sequence[str | Path],
    *,
    title: str | None = None,
    corpus: str | None = None,
    strict: bool = False,
    watch: Watch | None = None,
) -> Imported:
    """A benchmark from logs as NAS-Bench-NLP's release has them.

    Logs with the same listing (the same nodes under the same names, in any order) are runs of one
    architecture with different seeds, as the release repeats an architecture under several
    `recepie_id`s. Recipes and cells without a training become architectures without runs.

    Args:
        paths: JSON files of logs, recipes, or lists of them; folders and zip files of such files.
        title: what to call the benchmark; the corpus, or the first path, unless said.
        corpus: take only logs of this corpus. Logs of several are refused otherwise, since
            trainings on two corpora are not two seeds.
        strict: stop at the first bad log. Otherwise it is left out and told in the result.
        watch: called with the number of logs that have been read.

    Raises:
        BenchError: there is no good log, or logs of two corpora or tasks, or a bad one with
            `strict`.
    """
    kept, skipped, remarks = _read(documents(paths), strict, corpus, watch)
    if not kept:
        first = f"; {skipped[0].label}: {skipped[0].reason}" if skipped else ""
        raise BenchError(f"no log could be read from {', '.join(map(str, paths))}{first}")
    found = corpus if corpus is not None else _one_corpus(log for _, log in kept)
    task = _one_task(log for _, log in kept)
    architectures, copies = _grouped(kept)
    if copies and strict:
        raise BenchError(f"{copies[0].label}: {copies[0].reason}")
    called = title or found or Path(paths[0]).stem
    return Imported(
        assemble(architectures, title=called, corpus=found, kind=task.kind, metric=task.metric),
        len(kept) - len(copies),
        (*skipped, *copies),
        tuple(remarks),
    )


def _read(
    found: Iterable[Document], strict: bool, corpus: str | None, watch: Watch | None
) -> tuple[list[tuple[str, Logged]], list[Remark], list[Remark]]:
    kept: list[tuple[str, Logged]] = []
    skipped: list[Remark] = []
    remarks: list[Remark] = []
    for number, document in enumerate(found, 1):
        try:
            if document.error is not None:
                raise BenchError(document.error)
            log = read_log(document.value)
        except (UserError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            if strict:
                raise BenchError(f"{document.label}: {reason}") from None
            skipped.append(Remark(document.label, reason.splitlines()[0]))
            continue
        if corpus is not None and log.run is not None and log.corpus != corpus:
            skipped.append(Remark(document.label, f"is of the corpus {log.corpus!r}"))
            continue
        kept.append((document.label, log))
        if log.remark:
            remarks.append(Remark(document.label, log.remark))
        if watch is not None:
            watch(number)
    return kept, skipped, remarks


def _one_corpus(logs: Iterable[Logged]) -> str:
    counts = Counter(log.corpus for log in logs if log.run is not None)
    if len(counts) > 1:
        listed = ", ".join(f"{name or 'none'} ({n})" for name, n in counts.most_common())
        raise BenchError(f"the logs are of several corpora: {listed}; choose one with --corpus")
    return next(iter(counts), "")


def _one_task(logs: Iterable[Logged]) -> TaskLabel:
    found = list(dict.fromkeys(log.task for log in logs if log.run is not None))
    if len(found) > 1:
        listed = ", ".join(f"{task.kind} ({task.metric.name})" for task in found)
        raise BenchError(f"the logs are of several tasks: {listed}; a benchmark is of one")
    return next(iter(found), RELEASE)


@dataclass
class _Group:
    cell: Cell
    name: str = ""
    runs: list[tuple[int | None, Run]] = field(default_factory=list)
    stamps: dict[bytes, str] = field(default_factory=dict)


def _grouped(
    kept: Iterable[tuple[str, Logged]],
) -> tuple[list[Architecture], list[Remark]]:
    """The logs by listing, in the order in which the listings were met; and repeated copies."""
    groups: dict[object, _Group] = {}
    copies: list[Remark] = []
    for label, log in kept:
        cell = log.cell
        listing = (frozenset(cell.nodes), cell.states, cell.output)
        group = groups.setdefault(listing, _Group(cell))
        group.name = group.name or log.name
        if log.run is None:
            continue
        if log.stamp in group.stamps:
            copies.append(Remark(label, f"is a copy of {group.stamps[log.stamp]}"))
            continue
        group.stamps[log.stamp] = label
        group.runs.append((log.seed, log.run))
    names: set[str] = set()
    rows = []
    for group in groups.values():
        name = _free(group.name or group.cell.id, names)
        names.add(name)
        rows.append(Architecture(name, group.cell, _seeded(group.runs)))
    return rows, copies


def _seeded(runs: Sequence[tuple[int | None, Run]]) -> list[Run]:
    """The runs with the seeds that they state; those without take the next free numbers."""
    stated = {seed for seed, _ in runs if seed is not None}
    free = (number for number in itertools.count() if number not in stated)
    taken: set[int] = set()
    seeded = []
    for seed, run in runs:
        own = seed if seed is not None and seed not in taken else next(free)
        taken.add(own)
        seeded.append(replace(run, seed=own))
    return seeded


def _free(wish: str, taken: set[str]) -> str:
    if wish not in taken:
        return wish
    return next(name for n in itertools.count(2) if (name := f"{wish}-{n}") not in taken)
