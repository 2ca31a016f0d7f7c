"""Methods times seeds, in processes; what is finished is kept, and used again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.base.files import write_whole
from cellwright.bench.compare.entries import Entry
from cellwright.bench.compare.folder import RUNS, mark_folder
from cellwright.bench.compare.preparing import Table
from cellwright.bench.compare.running import Course, pool_for
from cellwright.bench.errors import BenchError
from cellwright.trials.executors import Call, Ended, Executor, Job, LocalProcesses

_VERSION = 1
_WAIT = 1.0

Watch = Callable[[int, int], None]
"""Is told how many searches are finished, of how many."""


@dataclass(frozen=True)
class Comparison:
    """What became of all searches.

    Args:
        table: what they ran on.
        entries: the methods all of whose searches ended.
        seeds: of each of them.
        seconds: the simulated time that each search had.
        courses: for each label a course for each seed.
        failed: methods that are left out because one of their searches failed, and how.
        left_out: methods that were left out before, and why.
    """

    table: Table
    entries: tuple[Entry, ...]
    seeds: tuple[int, ...]
    seconds: float
    courses: dict[str, list[Course]]
    failed: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def compare(
    table: Table,
    entries: Sequence[Entry],
    seeds: Sequence[int],
    seconds: float,
    folder: Path,
    *,
    idle: int = 200,
    workers: int = 1,
    earlier: Path | None = None,
    watch: Watch = lambda done, total: None,
) -> Comparison:
    """Run every method with every seed, and keep each course in the folder as it ends.

    The same courses come out whatever the number of workers. A search that the folder has, of the
    same method, settings, table and budget, is not run again: so a comparison that was killed
    goes on where it was, and more seeds or methods can be added.

    A method one of whose searches fails is left out of the comparison.

    Args:
        table: of `prepare`.
        entries: the methods.
        seeds: the seeds that each method runs with.
        seconds: the simulated time of each search.
        folder: where courses are kept.
        idle: see `simulate`.
        workers: how many processes.
        earlier: a folder whose courses are taken over.
        watch: see `Watch`.

    Raises:
        BenchError: the folder has something else, or no method could be run.
    """
    mark_folder(folder, table.benchmark)
    jobs: dict[int, tuple[Entry, int, Path]] = {}
    courses: dict[str, dict[int, Course]] = {one.label: {} for one in entries}
    places = {one.label: _place(folder, table, one, seconds, idle) for one in entries}
    for seed in seeds:  # all methods of a seed, then the next: slow ones are spread evenly
        for one in entries:
            file = places[one.label] / f"{seed}.json"
            known = _kept(file) or _taken_over(file, folder, earlier)
            if known is None:
                jobs[len(jobs)] = (one, seed, file)
            else:
                courses[one.label][seed] = known
    for path in {file.parent for _, _, file in jobs.values()}:
        path.mkdir(parents=True, exist_ok=True)
    total = len(seeds) * len(entries)
    failed: dict[str, str] = {}
    done = total - len(jobs)
    watch(done, total)

    def call(one: Entry, seed: int) -> Call:
        arguments = {
            "table": str(table.path.resolve()), "entry": one.to_json(),
            "names": list(table.names), "seed": seed, "seconds": seconds, "idle": idle,
            "single_run": table.single_run,
        }  # fmt: skip
        return Call("cellwright.bench.compare.running:run_one", arguments)

    def take(ended: Ended) -> None:
        one, seed, file = jobs[ended.key]
        if ended.kind != "done":
            first = ended.message.splitlines()[0] if ended.message else ended.kind
            failed.setdefault(one.label, f"seed {seed}: {first}")
            return
        course = Course.from_json(ended.value)
        if not course.steps:
            failed.setdefault(one.label, f"seed {seed}: no training ended within the budget")
            return
        write_whole(file, json.dumps({"version": _VERSION, **ended.value}).encode())
        courses[one.label][seed] = course

    if jobs:
        with LocalProcesses(min(workers, len(jobs)), threads=1) as executor:
            waiting = list(jobs)
            running = 0
            while waiting or running:
                running += _submit(executor, waiting, jobs, failed, call)
                for ended in executor.wait(_WAIT):
                    running -= 1
                    take(ended)
                left = sum(jobs[key][0].label not in failed for key in waiting)
                done = total - left - running
                watch(done, total)
    return _gathered(table, entries, seeds, seconds, courses, failed)


def _submit(
    executor: Executor,
    waiting: list[int],
    jobs: dict[int, tuple[Entry, int, Path]],
    failed: dict[str, str],
    call: Callable[[Entry, int], Call],
) -> int:
    """Start as many searches as there is room for; how many that were."""
    started = 0
    while waiting and executor.free > 0:
        key = waiting.pop(0)
        one, seed, _ = jobs[key]
        if one.label not in failed:
            executor.submit(Job(key, call(one, seed)))
            started += 1
    return started


def _gathered(
    table: Table,
    entries: Sequence[Entry],
    seeds: Sequence[int],
    seconds: float,
    courses: dict[str, dict[int, Course]],
    failed: dict[str, str],
) -> Comparison:
    whole = tuple(one for one in entries if one.label not in failed)
    if not whole:
        label, why = next(iter(failed.items()))
        raise BenchError(f"no method could be run; {label}, {why}")
    found = {one.label: [courses[one.label][seed] for seed in seeds] for one in whole}
    return Comparison(table, whole, tuple(seeds), seconds, found, failed)


def _place(folder: Path, table: Table, one: Entry, seconds: float, idle: int) -> Path:
    """The folder of a method's courses. Other settings, another table or budget: another one."""
    pool = pool_for(table.benchmark, one.features, table.names)
    decides = {
        "version": _VERSION,
        "table": table.digest,
        "single_run": table.single_run,
        "pool": pool.settings(),
        "method": one.method,
        "settings": dict(one.settings),
        "seconds": seconds,
        "idle": idle,
    }
    key = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]
    return folder / RUNS / f"{one.method}-{key}"


def _taken_over(file: Path, folder: Path, earlier: Path | None) -> Course | None:
    """A course that another folder has, which is then kept in this one too."""
    if earlier is None:
        return None
    there = earlier / file.relative_to(folder)
    known = _kept(there)
    if known is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, there.read_bytes())
    return known


def _kept(file: Path) -> Course | None:
    """A course that was kept, if it is there and whole."""
    try:
        values: dict[str, Any] = json.loads(file.read_bytes())
        if values.pop("version") != _VERSION:
            return None
        return Course.from_json(values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
