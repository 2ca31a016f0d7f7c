"""Which cells a benchmark gets: baselines, a stratified sample of another one, those of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cellwright.base.errors import reason
from cellwright.base.regular_files import read_regular
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.errors import BenchError
from cellwright.bench.summary import of_architectures
from cellwright.cell import Cell
from cellwright.cell.formats import read
from cellwright.cell.zoo import zoo

BASELINES = ("nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru")
"""The cells that NAS-Bench-NLP adds to its sample by hand (section 3)."""


def baselines() -> tuple[Cell, ...]:
    """RNN, LSTM and GRU as NAS-Bench-NLP writes them."""
    return tuple(zoo[name] for name in BASELINES)


def listed(path: Path) -> tuple[Cell, ...] | None:
    """The cells of a file in any of the formats; None if it is a benchmark instead.

    Raises:
        BenchError: there is no such file.
        UserError: it has no cells, or one is malformed.
    """
    try:
        data = read_regular(path)
    except OSError as error:
        raise BenchError(f"{path}: {reason(error)}") from None
    if b"\0" in data[:8]:  # the length of a safetensors header; texts have no zero bytes
        return None
    cells = tuple(read(data.decode("utf-8-sig", "replace")))
    if not cells:
        raise BenchError(f"{path} has no cells")
    return cells


def stratified(
    benchmark: Benchmark, cells: int, *, seed: int = 0, first: tuple[Cell, ...] = ()
) -> tuple[Cell, ...]:
    """Cells of a benchmark that stand for all of it, from the best to the worst.

    NAS-Bench-NLP trained 289 of its architectures on WikiText-2 too, stratified by what they had
    come to on PTB (section 3). Here the architectures are sorted by their final test loss (the mean
    of their runs), cut into as many strata of equal size as cells are wanted, and one is drawn from
    each. Those that never ended well are left out; of listings of one graph, the first is taken.

    Args:
        benchmark: what to choose from.
        cells: how many.
        seed: decides the draws.
        first: cells that are taken in any case if the benchmark has them; they count.

    Raises:
        BenchError: the benchmark does not have so many cells with a final test loss.
    """
    losses = of_architectures(benchmark).final_test
    numbers = [n for n in sorted(_first_listings(benchmark)) if np.isfinite(losses[n])]
    if not 1 <= cells <= len(numbers):
        raise BenchError(
            f"{benchmark.title!r} has {len(numbers):,} different cells with a final test loss, "
            f"so {cells:,} cannot be chosen"
        )
    wanted = {cell.id for cell in first}
    chosen = [n for n in numbers if benchmark.graphs[n] in wanted][:cells]
    rest = [n for n in numbers if n not in chosen]
    rest.sort(key=lambda n: (float(losses[n]), n))
    rng = np.random.default_rng(seed)
    strata = np.array_split(np.array(rest, np.int64), max(1, cells - len(chosen)))
    if len(chosen) < cells:
        chosen += [int(stratum[rng.integers(len(stratum))]) for stratum in strata]
    return tuple(benchmark.cell(number) for number in chosen)


def spread_first(cells: tuple[Cell, ...], count: int, kept: int) -> tuple[Cell, ...]:
    """The cells with `count` of them in front: the first `kept`, and others at equal distances."""
    rest = np.arange(kept, len(cells))
    wanted = min(max(count - kept, 0), len(rest))
    places = (np.arange(wanted) + 0.5) / max(wanted, 1) * len(rest)
    front = {*range(min(kept, count)), *rest[places.astype(int)].tolist()}
    return tuple(cells[n] for n in sorted(range(len(cells)), key=lambda n: (n not in front, n)))


def _first_listings(benchmark: Benchmark) -> list[int]:
    return [numbers[0] for numbers in benchmark.by_graph.values()]
