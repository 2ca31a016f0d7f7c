"""What training up to each epoch has taken and found, for all runs of a table at once."""

from __future__ import annotations

from array import array
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats, Integers, blocks

_Number = TypeVar("_Number", int, float)


def python_array(kind: str, values: NDArray[np.generic]) -> array[_Number]:
    """A numpy array as an array of Python. It must have the element type that `kind` says."""
    result: array[_Number] = array(kind)
    result.frombytes(np.ascontiguousarray(values).view(np.uint8).data)
    return result


def prefixes(benchmark: Benchmark) -> tuple[array[float], array[float], array[int]]:
    """For each epoch of each run: the time of training up to it, the lowest validation loss that
    this has found, and the epoch of that."""
    size, starts = len(benchmark.valid), benchmark.first_epoch
    columns: tuple[array[float], array[float], array[int]] = (
        array("d", bytes(8 * size)),
        array("d", bytes(8 * size)),
        array("i", bytes(4 * size)),
    )
    # Written in place, and piece by piece: tables are large, and their environments many.
    elapsed, lowest = (np.frombuffer(column, np.float64) for column in columns[:2])
    chosen = np.frombuffer(columns[2], np.intc)
    for (rows, valid), (_, seconds) in zip(
        blocks(benchmark.valid, starts), blocks(benchmark.seconds, starts), strict=True
    ):
        places = starts[rows, None] + np.arange(valid.shape[1])
        elapsed[places], lowest[places], chosen[places] = accumulated(valid, seconds)
    return columns


def accumulated(valid: Floats, seconds: Floats) -> tuple[Floats, Floats, Integers]:
    """Row by row: the time so far, the lowest finite loss so far, and its epoch (0 for none)."""
    finite = np.where(np.isfinite(valid), valid, np.inf)
    lowest = np.minimum.accumulate(finite, axis=1)
    before = np.pad(lowest, ((0, 0), (1, 0)), constant_values=np.inf)[:, :-1]
    epochs = np.arange(1, valid.shape[1] + 1)
    chosen = np.maximum.accumulate(np.where(finite < before, epochs, 0), axis=1)
    return np.cumsum(seconds, axis=1), lowest, chosen
