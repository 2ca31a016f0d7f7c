"""Made-up benchmarks of any size: for trying the commands, for tests, and for measuring speed."""

from __future__ import annotations

import numpy as np

from cellwright.bench.assembling import assemble
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.errors import BenchError
from cellwright.bench.runs import Architecture, Run
from cellwright.cell import Cell
from cellwright.cell.zoo import zoo

_START, _BEST, _WORST = 7.0, 4.4, 6.6
_EXPLODING = 0.15


def synthetic(architectures: int, *, epochs: int = 50, runs: int = 1, seed: int = 0) -> Benchmark:
    """A benchmark of real cells with losses and times that nobody has measured.

    The cells are the three baselines and draws of the paper's generator. Losses fall from that of
    a model which has learned nothing towards a value that depends on the graph (gates help, as in
    the paper) and on chance; some runs explode. It has the shape of a real table, and says nothing
    about cells.

    Args:
        architectures: how many.
        epochs: of each run that does not explode.
        runs: of each architecture.
        seed: decides everything.
    """
    from cellwright.spaces import NasBenchNlp

    if min(architectures, epochs, runs) < 1:
        raise BenchError("a synthetic benchmark has at least 1 architecture, 1 epoch and 1 run")
    rng = np.random.default_rng(seed)
    space = NasBenchNlp()
    cells: dict[str, Cell] = {}
    for name in ("nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru")[:architectures]:
        cells[zoo[name].id] = zoo[name]
    while len(cells) < architectures:
        cell = space.sample(rng)
        cells.setdefault(cell.id, cell.renamed(f"synthetic-{len(cells)}"))
    rows = [
        Architecture(cell.name, cell, [_run(cell, epochs, number, rng) for number in range(runs)])
        for cell in cells.values()
    ]
    return assemble(rows, title="synthetic", corpus="none")


def _run(cell: Cell, epochs: int, seed: int, rng: np.random.Generator) -> Run:
    linears = sum(node.op == "linear" for node in cell.nodes)
    gates = sum(node.op in ("blend", "mul", "sigmoid") for node in cell.nodes)
    floor = _BEST + (_WORST - _BEST) / (1 + 0.5 * gates) + abs(rng.normal(0, 0.2))
    decay = np.exp(-np.arange(1, epochs + 1) / rng.uniform(3, 12))
    valid = floor + (_START - floor) * decay + rng.normal(0, 0.01, epochs)
    test = valid - 0.05 + rng.normal(0, 0.01, epochs)
    train = valid - 0.8 * (1 - decay)
    seconds = (20 + 15 * linears) * rng.uniform(0.97, 1.03, epochs)
    curves = np.stack([valid, test, train, seconds])
    status, message = "ok", "OK"
    if rng.random() < _EXPLODING * (1 if gates else 2):
        curves = curves[:, : int(rng.integers(1, epochs + 1))]
        curves[:3, -1] = np.nan
        status, message = "diverged", "loss is nan!"
    sizes = ((400, 600), (600, 600), (600, 400))
    parameters = 10_000 * 401 + sum(cell.parameters(*size) for size in sizes)
    valid, test, train, seconds = curves
    return Run(
        valid,
        test,
        train,
        seconds,
        status=status,
        message=message,
        seed=seed,
        parameters=parameters,
        settings={"made_up": True, "epochs": epochs},
        label=cell.name if seed == 0 else f"{cell.name}/{seed}",
    )
