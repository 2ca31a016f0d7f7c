"""The figures of each run and each architecture: best epoch, losses, time, parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats, Integers, blocks


@dataclass(frozen=True)
class RunFigures:
    """A value for each run; NaN where there is none.

    Args:
        best_epoch: the first epoch with the lowest finite validation loss; 0 where none is.
        valid: the validation loss there.
        test: the test loss there.
        lowest_test: the lowest finite test loss of all epochs, which the paper's figures show.
        final_test: the test loss after the last epoch.
        seconds: the wall time of all epochs.
    """

    best_epoch: Integers
    valid: Floats
    test: Floats
    lowest_test: Floats
    final_test: Floats
    seconds: Floats


@dataclass(frozen=True)
class ArchitectureFigures:
    """A value for each architecture: means over its runs that ended well; NaN where none did.

    Args:
        valid: as in `RunFigures`.
        test: as in `RunFigures`.
        lowest_test: as in `RunFigures`.
        final_test: as in `RunFigures`.
        seconds: as in `RunFigures`.
        parameters: trainable numbers, of the first run; 0 where that is not known.
        runs: how many there are.
        ok: how many of them ended well.
        spread: the standard deviation of `valid` over the runs; NaN for fewer than two.
    """

    valid: Floats
    test: Floats
    lowest_test: Floats
    final_test: Floats
    seconds: Floats
    parameters: Integers
    runs: Integers
    ok: Integers
    spread: Floats


def of_runs(benchmark: Benchmark) -> RunFigures:
    """The figures of every run of a benchmark."""
    count = benchmark.run_count
    best = np.zeros(count, np.int64)
    found = {name: np.full(count, np.nan) for name in ("valid", "test", "lowest", "final")}
    seconds = np.zeros(count)
    starts = benchmark.first_epoch
    for (rows, valid), (_, test), (_, time) in zip(
        blocks(benchmark.valid, starts),
        blocks(benchmark.test, starts),
        blocks(benchmark.seconds, starts),
        strict=True,
    ):
        seconds[rows] = time.sum(axis=1)
        if not valid.shape[1]:
            continue
        finite = np.where(np.isfinite(valid), valid, np.inf)
        place = finite.argmin(axis=1)
        good = np.isfinite(finite).any(axis=1)
        each = np.arange(len(rows))
        best[rows] = np.where(good, place + 1, 0)
        found["valid"][rows] = np.where(good, finite[each, place], np.nan)
        found["test"][rows] = np.where(good, test[each, place], np.nan)
        lowest = np.where(np.isfinite(test), test, np.inf).min(axis=1)
        found["lowest"][rows] = np.where(np.isfinite(lowest), lowest, np.nan)
        found["final"][rows] = test[:, -1]
    return RunFigures(best, found["valid"], found["test"], found["lowest"], found["final"], seconds)


def of_architectures(benchmark: Benchmark) -> ArchitectureFigures:
    """The figures of every architecture of a benchmark."""
    runs = of_runs(benchmark)
    good = benchmark.has_status("ok")
    owner, size = benchmark.architecture_of, len(benchmark)
    ok = np.bincount(owner[good], minlength=size)

    def mean(values: Floats) -> Floats:
        sums = np.bincount(owner[good], values[good], minlength=size)
        found = np.full(size, np.nan)
        np.divide(sums, ok, out=found, where=ok > 0)
        return found

    valid = mean(runs.valid)
    squares = mean((runs.valid - valid[owner]) ** 2)
    spread = np.sqrt(np.divide(squares * ok, ok - 1, out=np.full(size, np.nan), where=ok > 1))
    first = benchmark.first_run[:-1]
    trained = np.diff(benchmark.first_run) > 0
    parameters = np.zeros(size, np.int64)
    parameters[trained] = benchmark.parameters[first[trained]]
    return ArchitectureFigures(
        valid=valid,
        test=mean(runs.test),
        lowest_test=mean(runs.lowest_test),
        final_test=mean(runs.final_test),
        seconds=mean(runs.seconds),
        parameters=parameters,
        runs=np.diff(benchmark.first_run),
        ok=ok,
        spread=spread,
    )
