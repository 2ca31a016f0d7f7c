"""What a comparison needs of a table: features, a budget, epochs, and test losses to measure by."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from cellwright.base.errors import UserError
from cellwright.base.files import write_whole
from cellwright.base.optional import MissingPackageError
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.compare.entries import Entry, check_labels, entry, paper_entries
from cellwright.bench.compare.folder import TABLE, check_folder, fingerprint, mark_folder
from cellwright.bench.compare.running import pool_for
from cellwright.bench.environment import Environment
from cellwright.bench.errors import BenchError
from cellwright.bench.file import load, to_bytes
from cellwright.bench.pool import embedding
from cellwright.bench.prefixes import prefixes
from cellwright.search.blackbox.methods import check_settings, method_kind
from cellwright.search.blackbox.own.guard import OwnMethodError

PAPER_HOURS = 1000.0
"""The simulated time of a search in the paper."""

SHARE = 0.25
"""A budget may be at most so much of what training all cells takes, unless one is given: with
more, every method that never trains a cell twice is right in the end."""


@dataclass(frozen=True)
class Table:
    """A benchmark that is ready for a comparison.

    Args:
        path: its file, with all features.
        benchmark: the same, loaded.
        names: of the features that some method uses.
        single_run: whether every cell has its first run only, as in the paper.
    """

    path: Path
    benchmark: Benchmark
    names: tuple[str, ...]
    single_run: bool = True

    @cached_property
    def digest(self) -> str:
        """A hash of all that decides how a search goes, but for the features."""
        return fingerprint(self.benchmark)

    @cached_property
    def cells(self) -> int:
        """How many cells the methods choose among."""
        return len(pool_for(self.benchmark, None, self.names).cells)

    @cached_property
    def lowest_test(self) -> float:
        """L*, the lowest test loss of the table."""
        return Environment(self.benchmark).lowest_test

    @cached_property
    def everything(self) -> tuple[float, float]:
        """What training all cells takes in seconds, and the regret that is left then."""
        environment = Environment(self.benchmark)
        for cell in pool_for(self.benchmark, None, self.names).cells:
            for number in self.benchmark.by_graph[cell.id]:
                for run in self.benchmark.runs_of(number):
                    length = int(np.diff(self.benchmark.first_epoch[run : run + 2])[0])
                    environment.train(number, max(1, length), int(self.benchmark.seed[run]))
                    if self.single_run:
                        break
                if self.single_run and len(self.benchmark.runs_of(number)):
                    break
        best = environment.best
        left = float("nan") if best is None else best.test - environment.lowest_test
        return environment.seconds, left

    @property
    def default_hours(self) -> float:
        """The paper's budget, or a share of the table where that is less, in two digits."""
        return min(PAPER_HOURS, float(f"{SHARE * self.everything[0] / 3600:.2g}"))


def full_epochs(benchmark: Benchmark) -> int:
    """How many epochs every training has that ended well."""
    lengths = np.diff(benchmark.first_epoch)[benchmark.has_status("ok")]
    if not len(lengths):
        raise BenchError(f"{benchmark.title!r} has no training that ended well")
    return int(lengths.min())


def check_tests(benchmark: Benchmark) -> None:
    """Refuse a table in which a model that can be the best by validation has no test loss."""
    _, lowest, chosen = prefixes(benchmark)
    epochs = np.frombuffer(chosen, np.intc)
    starts = np.repeat(benchmark.first_epoch[:-1], np.diff(benchmark.first_epoch))
    known = np.isfinite(np.frombuffer(lowest, np.float64))
    if not known.any():
        raise BenchError(f"{benchmark.title!r} has no validation loss to choose by")
    places = (starts + epochs - 1)[known]
    bad = places[~np.isfinite(benchmark.test[places])]
    if len(bad):
        run = int(np.searchsorted(benchmark.first_epoch, bad[0], side="right")) - 1
        name = benchmark.names[int(benchmark.architecture_of[run])]
        epoch = int(bad[0] - benchmark.first_epoch[run]) + 1
        raise BenchError(
            f"{benchmark.title!r} has no test loss of {name!r} at epoch {epoch}, its best by "
            "validation: without it there is no regret"
        )


def prepare(
    file: Path,
    wanted: Sequence[str | type | Entry] | None,
    folder: Path,
    *,
    single_run: bool = True,
) -> tuple[Table, list[Entry], dict[str, str]]:
    """A table with the features that the methods need, the methods, and those that are left out.

    graph2vec features that the file does not have are made, and kept in the folder.

    Args:
        file: the benchmark.
        wanted: methods as `entry` reads them; None for all of the paper whose packages are
            installed. The others are left out, each with the reason.
        folder: of the comparison.
        single_run: see `Table`.

    Raises:
        MissingPackageError: a method that was asked for needs a package.
        UserError: there is no such method, or its settings are wrong.
    """
    benchmark = load(file)
    check_tests(benchmark)
    epochs = full_epochs(benchmark)
    entries = [entry(text, epochs) for text in (wanted or paper_entries(epochs))]
    check_labels(entries)
    check_folder(folder, benchmark)
    left_out: dict[str, str] = {}
    try:
        path, benchmark = _with_features(file, benchmark, _names(entries), folder)
    except MissingPackageError as error:
        if wanted:
            raise
        there = (None, *benchmark.features)
        left_out = {one.label: str(error) for one in entries if one.features not in there}
        path = file
    entries = [one for one in entries if one.label not in left_out]
    table = Table(path, benchmark, _names(entries), single_run)
    for one in entries:
        try:
            _check(one, table)
        except MissingPackageError as error:
            if wanted:
                raise
            left_out[one.label] = str(error)
        except UserError as error:
            raise BenchError(f"{one.label}: {error}") from None
    entries = [one for one in entries if one.label not in left_out]
    return replace(table, names=_names(entries)), entries, left_out


def _check(one: Entry, table: Table) -> None:
    """Make a method once, to see that it can be. Of one of the user's own, whose searches have
    processes of their own, see that it has the settings; what else is wrong with it is told then,
    and leaves the others alone."""
    if one.is_own:
        with contextlib.suppress(OwnMethodError):
            check_settings(method_kind(one.method), one.settings)
    else:
        one.make(pool_for(table.benchmark, one.features, table.names), 0)


def _names(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The features that methods use."""
    return tuple(sorted({one.features for one in entries if one.features is not None}))


def _with_features(
    file: Path, benchmark: Benchmark, names: Sequence[str], folder: Path
) -> tuple[Path, Benchmark]:
    """A file with the benchmark and all of these features."""
    missing = [name for name in names if name not in benchmark.features]
    if not missing:
        return file, benchmark
    path = folder / TABLE
    with contextlib.suppress(UserError):  # there is none, or none that can be read
        kept = load(path)
        has_all = all(name in kept.features for name in names)
        if has_all and fingerprint(kept) == fingerprint(benchmark):
            return path, kept
    for name in missing:
        match = re.fullmatch(r"graph2vec-([1-9]\d{0,3})", name)
        found = embedding(benchmark, int(match[1])).features if match else benchmark.featured(name)
        benchmark = benchmark.with_features(name, found)
    mark_folder(folder, benchmark)
    write_whole(path, to_bytes(benchmark))
    return path, benchmark
