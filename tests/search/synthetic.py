"""Searches without training: an objective over cells, and workers that end in random order."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from cellwright import Cell
from cellwright.search.blackbox.ask_tell import Method, Outcome, Trial
from cellwright.spaces import Pool, Space

Evaluate = Callable[[Trial], Outcome]


def loss(cell: Cell) -> float:
    """Lowest for a chain of relu nodes; a tanh is better than the other two.

    The sigmoid of a highway's gate is in every node, so it shifts all losses alike.
    """
    relus = sum(node.op == "relu" for node in cell.nodes)
    tanhs = sum(node.op == "tanh" for node in cell.nodes)
    return len(cell.nodes) - 4.0 * relus - 1.5 * tanhs - 0.5 * cell.depth


def plain_pool(space: Space, cells: int) -> Pool:
    """Different cells with features that need no package: how often each operation occurs."""
    rng = np.random.default_rng(0)
    found: dict[str, Cell] = {}
    while len(found) < cells:
        cell = space.sample(rng)
        found[cell.id] = cell
    ops = ("tanh", "relu", "sigmoid", "identity")
    features = [
        [*(sum(node.op == op for node in cell.nodes) for op in ops), cell.depth]
        for cell in found.values()
    ]
    return Pool(list(found.values()), features)


def evaluate(trial: Trial) -> Outcome:
    """The objective, a little higher after few epochs."""
    return Outcome(loss(trial.cell) + 1 / trial.fidelity, cost=float(trial.fidelity))


def often_failing(trial: Trial) -> Outcome:
    """The objective, but a third of the trials diverge or fail."""
    if trial.seed % 3 == 0:
        return Outcome(float("nan"), "diverged" if trial.seed % 2 else "failed")
    return evaluate(trial)


def work(
    method: Method,
    trials: int,
    workers: int = 1,
    rng: random.Random | None = None,
    evaluate: Evaluate = evaluate,
) -> list[Trial]:
    """Let `workers` work until so many trials were asked; those that end last stay open.

    With `rng` any open trial may end next, without it the oldest does.
    """
    while len(method.trials) < trials:
        trial = method.ask() if len(method.pending()) < workers else None
        if trial is None:
            waiting = method.pending()
            if not waiting:
                assert method.finished, "nothing is open, so the method must go on"
                break
            done = rng.choice(waiting) if rng else waiting[0]
            method.tell(done, evaluate(done))
    return method.trials


def described(trials: list[Trial]) -> list[Any]:
    """Trials as values that are equal exactly for equal trials."""
    return [(t.number, t.cell.id, t.fidelity, t.seed, dict(t.info)) for t in trials]
