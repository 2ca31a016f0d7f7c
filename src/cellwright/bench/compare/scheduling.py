"""Methods times seeds, in processes; what is finished is kept, and used again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from cellwright.base.files import make_inside, write_whole
from cellwright.base.names import file_stem
from cellwright.base.regular_files import read_regular
from cellwright.bench.compare.entries import Entry
from cellwright.bench.compare.folder import RUNS, mark_folder
from cellwright.bench.compare.preparing import Table
from cellwright.bench.compare.running import Course, differs, pool_for
from cellwright.bench.errors import BenchError
from cellwright.trials.executors import Call, Ended, Executor, Job, LocalProcesses

_VERSION = 1
_WAIT = 1.0
_CHECKED = "same-again"
"""In the folder of a method of the user's own: that its first search came out the same again."""

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

    A method one of whose searches fails is left out of the comparison. Each search of a method of
    the user's own has a process of its own, so that whatever its code does touches nobody else, and
    its first search is run a second time: one that goes otherwise then is left out as well.

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
    jobs: dict[int, _Job] = {}
    courses: dict[str, dict[int, Course]] = {one.label: {} for one in entries}
    places = {one.label: _place(folder, table, one, seconds, idle) for one in entries}
    for seed in seeds:  # all methods of a seed, then the next: slow ones are spread evenly
        for one in entries:
            file = places[one.label] / f"{seed}.json"
            known = _kept(file, len(table.benchmark))
            known = known or _taken_over(file, folder, earlier, len(table.benchmark))
            if known is None:
                jobs[len(jobs)] = _Job(one, seed, file)
            else:
                courses[one.label][seed] = known
    checks = [one for one in entries if one.is_own and not _checked(places[one.label])]
    for one in checks:
        jobs[len(jobs)] = _Job(one, seeds[0], places[one.label] / _CHECKED)
    for path in {job.file.parent for job in jobs.values()}:
        make_inside(path.parent)
        make_inside(path)
    total = len(seeds) * len(entries) + len(checks)
    failed: dict[str, str] = {}
    again: dict[str, Course] = {}
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
        ended = _named(one, ended)
        if ended.kind != "done":
            first = ended.message.splitlines()[0] if ended.message else ended.kind
            failed.setdefault(one.label, f"seed {seed}: {first}")
            return
        course = Course.from_json(ended.value)
        if not course.steps:
            failed.setdefault(one.label, f"seed {seed}: no training ended within the budget")
            return
        if file.name == _CHECKED:
            again[one.label] = course
        else:
            write_whole(file, json.dumps({"version": _VERSION, **ended.value}).encode())
            courses[one.label][seed] = course

    if jobs:
        with LocalProcesses(min(workers, len(jobs)), threads=1) as executor:
            # Those of the user's own first: what is wrong with them is known soon, and processes
            # that serve many searches are not ended in between.
            waiting = sorted(jobs, key=lambda key: not jobs[key].entry.is_own)
            running = 0
            while waiting or running:
                running += _submit(executor, waiting, jobs, failed, call)
                for ended in executor.wait(_WAIT):
                    running -= 1
                    take(ended)
                left = sum(jobs[key].entry.label not in failed for key in waiting)
                done = total - left - running
                watch(done, total)
    for one in checks:
        if one.label not in failed:
            _settle(one, places[one.label], courses[one.label][seeds[0]], again[one.label], failed)
    return _gathered(table, entries, seeds, seconds, courses, failed)


class _Job(NamedTuple):
    entry: Entry
    seed: int
    file: Path
    """Where its course is kept, or of a search that is run a second time, that it was."""


def _named(one: Entry, ended: Ended) -> Ended:
    """How a search ended; where its process died, with the file whose code it ran."""
    if not one.is_own or ended.kind in ("done", "error"):
        return ended
    return replace(ended, message=f"{one.title}: {ended.message}")


def _checked(place: Path) -> bool:
    return (place / _CHECKED).is_file()


def _settle(one: Entry, place: Path, first: Course, second: Course, failed: dict[str, str]) -> None:
    """Compare two searches with the same seed; if they differ, keep none of the method."""
    difference = differs(first, second)
    if difference is None:
        write_whole(place / _CHECKED, b"")
        return
    failed[one.label] = (
        f"{one.title}: two searches with the same seed are not the same ({difference}): all that "
        "it draws has to come from its seed"
    )
    for file in place.glob("*.json"):
        file.unlink(missing_ok=True)


def _submit(
    executor: Executor,
    waiting: list[int],
    jobs: dict[int, _Job],
    failed: dict[str, str],
    call: Callable[[Entry, int], Call],
) -> int:
    """Start as many searches as there is room for; how many that were."""
    started = 0
    while waiting and executor.free > 0:
        key = waiting.pop(0)
        one, seed, _ = jobs[key]
        if one.label not in failed:
            executor.submit(Job(key, call(one, seed), alone=one.is_own))
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
    own = {"sha256": one.sha256} if one.is_own else {}
    decides = {
        "version": _VERSION,
        "table": table.digest,
        "single_run": table.single_run,
        "pool": pool.settings(),
        "method": one.title,
        "settings": dict(one.settings),
        "seconds": seconds,
        "idle": idle,
        **own,
    }
    key = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]
    return folder / RUNS / f"{file_stem(one.title, 'method')}-{key}"


def _taken_over(
    file: Path, folder: Path, earlier: Path | None, architectures: int
) -> Course | None:
    """A course that another folder has, which is then kept in this one too."""
    if earlier is None:
        return None
    there = earlier / file.relative_to(folder)
    known = _kept(there, architectures)
    if known is not None:
        make_inside(file.parent.parent)
        make_inside(file.parent)
        write_whole(file, read_regular(there))
    return known


def _kept(file: Path, architectures: int) -> Course | None:
    """A course that was kept, if it is there, whole, and of a table with so many architectures."""
    try:
        values: dict[str, Any] = json.loads(read_regular(file))
        if values.pop("version") != _VERSION:
            return None
        course = Course.from_json(values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    fits = all(step.architecture < architectures for step in course.steps)
    return course if course.steps and fits else None
