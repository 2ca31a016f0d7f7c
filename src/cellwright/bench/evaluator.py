"""The table as an evaluator: ask/tell trials are answered from it, in simulated time.

A search method cannot tell it from real training. For a cell that the table does not have there
are three answers: an error, that of the nearest cell by features, or a surrogate's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from cellwright.base.errors import shown
from cellwright.bench.benchmark import Benchmark, UnknownArchitectureError
from cellwright.bench.columns import Floats
from cellwright.bench.environment import Environment
from cellwright.bench.errors import BenchError
from cellwright.bench.pool import trained
from cellwright.bench.surrogate import Surrogate
from cellwright.cell import Cell
from cellwright.spaces import Pool
from cellwright.trials.outcome import OK, Outcome
from cellwright.trials.trial import Trial

Missing = Callable[[Cell], int]
"""Stands in for a cell that the table does not have: the number of an architecture of the
environment."""

Embed = Callable[[Cell], Floats]
"""The features of a cell, in the same space as those of the table."""

Begin = Callable[[Cell, int], Sequence[float]]
"""Trains a cell for a number of epochs; the validation loss of each."""

VALUES = ("last", "lowest")


class Evaluator:
    """Evaluates trials on a table.

    >>> from cellwright.bench import Architecture, Run, assemble
    >>> from cellwright.trials.trial import Trial
    >>> from cellwright import zoo
    >>> run = Run(valid=[6.0, 5.5], test=[5.9, 5.4], train=[6.1, 5.3], seconds=[10, 11])
    >>> evaluate = Evaluator(assemble([Architecture("gru", zoo["gru"], [run])], title="toy"))
    >>> outcome = evaluate(Trial(number=0, cell=zoo["gru"], fidelity=2, seed=7))
    >>> outcome.value, outcome.status, outcome.cost, outcome.curve
    (5.5, 'ok', 21.0, (6.0, 5.5))

    Args:
        benchmark: the table.
        missing: what stands in for a cell that the table does not have (`nearest`, `predicted`);
            without it such a cell is an error.
        value: what a trial's value is: the validation loss of its `"last"` epoch, as the paper's
            methods take it, or the `"lowest"` of its epochs.
        single_run: whether all trials use the first run of an architecture, as in the paper, whose
            environment has one of each. Otherwise a trial's seed chooses among all runs of the
            cell's graph, and the same seed always the same run.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        *,
        missing: Callable[[Environment], Missing] | None = None,
        value: str = "last",
        single_run: bool = False,
    ) -> None:
        if value not in VALUES:
            raise BenchError(f"a trial's value is one of {', '.join(VALUES)}, not {shown(value)}")
        self.environment = Environment(benchmark)
        """The simulated environment: total time, best architecture so far, reset."""
        self._missing = None if missing is None else missing(self.environment)
        self._value = value
        self._single_run = single_run
        self._models: dict[str, list[tuple[int, int]]] = {}

    def __call__(self, trial: Trial) -> Outcome:
        """Train the trial's cell for its epochs, in simulated time."""
        environment = self.environment
        models = self._models.get(trial.cell.id)
        if models is None:
            models = self._models[trial.cell.id] = self._find(trial.cell)
        place = 0 if self._single_run else trial.seed % len(models)
        architecture, seed = models[place]
        cost = environment.train(architecture, trial.fidelity, seed)
        epochs = min(trial.fidelity, environment.reached(architecture, seed))
        curve = environment.curve(architecture, epochs, seed)
        value = curve[-1] if curve else math.nan
        if self._value == "lowest":
            value = min((loss for loss in curve if math.isfinite(loss)), default=math.nan)
        if epochs == trial.fidelity and math.isfinite(curve[-1]):
            return Outcome(value, OK, cost, curve)
        status = environment.status(architecture, seed)
        # A loss that is not finite at this epoch, of a training that went on all the same.
        return Outcome(value, "diverged" if status == OK else status, cost, curve)

    def reset(self) -> None:
        """Forget all training, for the next repetition of a search."""
        self.environment.reset()

    def _find(self, cell: Cell) -> list[tuple[int, int]]:
        """The models, by architecture and seed, that are trainings of the cell."""
        environment, benchmark = self.environment, self.environment.benchmark
        numbers = [n for n in benchmark.by_graph.get(cell.id, []) if len(benchmark.runs_of(n))]
        if not numbers:
            if self._missing is None:
                what = f"{cell.name!r} ({cell.id})" if cell.name else cell.id
                raise UnknownArchitectureError(
                    f"{benchmark.title!r} has no trained cell {what}; let the nearest cell or a "
                    "surrogate stand in for it"
                )
            numbers = [self._missing(cell)]
        return [(n, seed) for n in numbers for seed in environment.seeds(n)]


def nearest(
    features: Floats, embed: Embed, distance: str = "cosine"
) -> Callable[[Environment], Missing]:
    """For a missing cell, the trained architecture whose features are nearest to its own.

    Args:
        features: of the table, a row for each architecture; those without are never nearest.
        embed: the features of any cell, in the same space.
        distance: `"cosine"` as in the release, or `"euclidean"`.
    """

    def bind(environment: Environment) -> Missing:
        benchmark = environment.benchmark
        numbers = trained(benchmark, features)
        cells = [benchmark.cell(number) for number in numbers]
        pool = Pool(cells, features[numbers], distance)
        return lambda cell: numbers[pool.nearest(_embedded(embed, cell, features.shape[1]))]

    return bind


def predicted(
    surrogate: Surrogate, embed: Embed, begin: Begin | None = None
) -> Callable[[Environment], Missing]:
    """For a missing cell, the run that a surrogate predicts.

    Args:
        surrogate: of `fit_surrogate`.
        embed: the features of any cell, in the space that the surrogate learned from.
        begin: trains a cell for the few epochs that the surrogate wants to see; needed if it was
            fitted with a prefix.
    """
    if surrogate.prefix and begin is None:
        raise BenchError(
            f"this surrogate wants to see {surrogate.prefix} epochs of a cell: say how to train "
            "them with 'begin', or fit it with prefix=0"
        )

    def bind(environment: Environment) -> Missing:
        def stand_in(cell: Cell) -> int:
            losses = begin(cell, surrogate.prefix) if begin and surrogate.prefix else ()
            features = _embedded(embed, cell, surrogate.width)
            return environment.add([surrogate.predict(features, losses)])

        return stand_in

    return bind


def _embedded(embed: Embed, cell: Cell, width: int) -> Floats:
    found = np.asarray(embed(cell), np.float64)
    if found.shape != (width,) or not np.isfinite(found).all():
        raise BenchError(f"the features of a cell must be {width} finite numbers")
    return found
