"""From a new cell to its first gradient: what it costs on top of the arithmetic.

    python benchmarks/first_gradient.py

A search meets thousands of cells and trains each of them briefly, so what happens once per cell
counts: checking, planning, making parameters. Each cell here is a fresh object from JSON, of which
nothing is cached. On top of the arithmetic is the time of `Recurrent(...)` and of the first
forward and backward pass, less the best time of a later pass.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence

import torch
from contenders import NAS_BENCH_NLP_24, Shape, parse_shape
from rich.console import Console
from rich.table import Table

import cellwright as cw
from cellwright.cell.listings import EnasListing, enas, nas_bench_nlp

LATER = 5  # passes after the first, of which the best is the arithmetic


def random_enas(rng: random.Random, nodes: int = 12) -> cw.Cell:
    """An ENAS cell as large as the published one."""
    later = tuple((rng.randrange(i), rng.choice(enas.OPERATIONS)) for i in range(1, nodes))
    return enas.lower(EnasListing(rng.choice(enas.OPERATIONS), later))


CELLS: dict[str, Callable[[random.Random], cw.Cell]] = {
    "lstm": lambda rng: cw.zoo["lstm"],
    "darts-v1": lambda rng: cw.zoo["darts-v1"],
    "nas-bench-nlp-24": lambda rng: nas_bench_nlp.lower(NAS_BENCH_NLP_24),
    "random enas": random_enas,
}


def first_and_later(cell: cw.Cell, shape: Shape) -> tuple[float, float, float]:
    """Seconds to make the module, of the first pass, and of the best later one."""
    x = torch.randn(*shape)
    gradient = torch.ones(*shape)
    start = time.perf_counter()
    rnn = cw.Recurrent(cell, shape.hidden, shape.hidden, backend="native")
    made = time.perf_counter() - start
    passes = []
    for _ in range(1 + LATER):
        rnn.zero_grad(set_to_none=True)
        start = time.perf_counter()
        rnn(x)[0].backward(gradient)
        passes.append(time.perf_counter() - start)
    return made, passes[0], min(passes[1:])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", type=parse_shape, default=Shape(35, 20, 200), help="T,B,H")
    parser.add_argument("--fresh", type=int, default=20, help="how many fresh cells of each kind")
    parser.add_argument("--threads", type=int, help="torch's default unless said")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    rng = random.Random(0)
    first_and_later(cw.zoo["rnn"], options.shape)  # loads the core, starts its threads
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in CELLS}
    for _ in range(options.fresh):  # kinds take turns, so that noise hits all alike
        for name, make in CELLS.items():
            cell = cw.Cell.from_json(make(rng).to_json())
            found[name].append(first_and_later(cell, options.shape))
    table = Table(header_style="bold", box=None, pad_edge=False)
    table.add_column("cell")
    for column in ("on top, best", "on top, median", "Recurrent(...)", "first pass", "later pass"):
        table.add_column(column, justify="right")
    for name, times in found.items():
        on_top = [made + first - later for made, first, later in times]
        columns = [min(on_top), statistics.median(on_top)]
        columns += [statistics.median(column) for column in zip(*times, strict=True)]
        table.add_row(name, *(f"{1000 * seconds:.2f}" for seconds in columns))
    Console(width=100).print(table)
    print(
        f"\nms at {options.shape}, {options.fresh} fresh cells of each kind; "
        "the last three columns are medians. At most 10 on top wanted."
    )


if __name__ == "__main__":
    main()
