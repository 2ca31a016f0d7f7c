"""The simulated environment of NAS-Bench-NLP, section 5."""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np

from cellwright.base.errors import shown
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.bench.prefixes import accumulated, prefixes, python_array
from cellwright.bench.runs import CURVES, STATUSES, Run
from cellwright.cell import Cell

Key = int | str | Cell


class Metrics(NamedTuple):
    """What is known of a model after an epoch.

    Args:
        epoch: from 1.
        train: the training loss.
        valid: the validation loss.
        test: the test loss.
        seconds: the simulated wall time of the training up to this epoch.
    """

    epoch: int
    train: float
    valid: float
    test: float
    seconds: float


class Best(NamedTuple):
    """The best configuration, by validation, that training has come across."""

    architecture: int
    seed: int
    epoch: int
    valid: float
    test: float


class Environment:
    """Training that answers from a table, and the wall time that it would have taken.

    The paper's four tasks: `train` an architecture for a number of epochs, where training goes on
    from the model's own checkpoint; `metrics` at an epoch up to which it has been trained;
    `seconds`, the total simulated wall time; and `best`, with the test loss of the best
    configuration (architecture and epoch) by validation. Every seed of an architecture is a model
    of its own.

    >>> from cellwright.bench import Architecture, Run, assemble
    >>> from cellwright import zoo
    >>> run = Run(valid=[6.0, 5.5, 5.6], test=[5.9, 5.4, 5.5], train=[6.1, 5.3, 5.2],
    ...           seconds=[10, 11, 12])
    >>> environment = Environment(assemble([Architecture("gru", zoo["gru"], [run])], title="toy"))
    >>> environment.train("gru", 1), environment.train("gru", 3)  # the second goes on from epoch 1
    (10.0, 23.0)
    >>> environment.seconds, environment.metrics("gru", 2).valid
    (33.0, 5.5)
    >>> environment.best.epoch, environment.best.test
    (2, 5.4)

    Args:
        benchmark: the table. It is only read: several environments can use one.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.seconds = 0.0
        """The total simulated wall time of all training since the last reset."""
        # Plain arrays of Python: reading an item of these is several times as fast as of numpy's,
        # and a surrogate can append to them.
        self._first_run = python_array("q", benchmark.first_run)
        self._seeds = python_array("q", benchmark.seed)
        self._status = python_array("B", benchmark.status)
        self._first_epoch = python_array("q", benchmark.first_epoch)
        self._elapsed, self._lowest, self._chosen = prefixes(benchmark)
        self._added: list[Run] = []
        self._reached: dict[int, int] = {}
        self._best_run = -1
        self._best_epoch = 0
        self._best_valid = np.inf

    def __len__(self) -> int:
        return len(self._first_run) - 1

    # -- the paper's four tasks ----------------------------------------------------------

    def train(self, architecture: Key, epochs: int, seed: int | None = None) -> float:
        """Train a model until it has seen `epochs` epochs in all; the seconds that this takes.

        From a checkpoint of fewer epochs only the difference is paid for; a model that has been
        trained so far already costs nothing. A training that ended early (`status`) stops there,
        and costs what it took until then.

        Args:
            architecture: its number in the table, its name, or its cell.
            epochs: how many in all, from 1.
            seed: one of `seeds(architecture)`; the first one unless said.
        """
        run = self._run(architecture, seed)
        start = self._first_epoch[run]
        length = self._first_epoch[run + 1] - start
        if type(epochs) is not int or not 0 < epochs <= length:
            epochs = self._ended(run, epochs, length)
        reached = self._reached.get(run, 0)
        if epochs <= reached:
            self._reached.setdefault(run, 0)  # a run without epochs was tried all the same
            return 0.0
        self._reached[run] = epochs
        last = start + epochs - 1
        cost = self._elapsed[last]
        if reached:
            cost -= self._elapsed[start + reached - 1]
        self.seconds += cost
        if self._lowest[last] < self._best_valid:
            self._best_valid = self._lowest[last]
            self._best_run, self._best_epoch = run, self._chosen[last]
        return cost

    def metrics(self, architecture: Key, epoch: int, seed: int | None = None) -> Metrics:
        """What is known of a model after an epoch up to which it has been trained."""
        run = self._run(architecture, seed)
        if type(epoch) is not int:
            epoch = _whole(epoch)
        if not 0 < epoch <= self._reached.get(run, 0):
            raise BenchError(self._not_trained(run, epoch))
        elapsed = self._elapsed[self._first_epoch[run] + epoch - 1]
        train, valid, test = (self._loss(run, name, epoch) for name in CURVES[:3])
        return Metrics(epoch, train, valid, test, elapsed)

    def curve(self, architecture: Key, epochs: int, seed: int | None = None) -> tuple[float, ...]:
        """The validation losses of a model's first epochs, up to which it has been trained."""
        run = self._run(architecture, seed)
        if not 0 <= epochs <= self._reached.get(run, 0):
            raise BenchError(self._not_trained(run, epochs))
        known, start = self.benchmark.run_count, self._first_epoch[run]
        if run < known:
            return tuple(self.benchmark.valid[start : start + epochs].tolist())
        return tuple(self._added[run - known].valid[:epochs].tolist())

    @property
    def best(self) -> Best | None:
        """The best model and epoch by validation among all that has been trained, if any.

        A loss that is not finite is never best; of equal ones the one that was met first is.
        """
        run, epoch = self._best_run, self._best_epoch
        if run < 0:
            return None
        test = self._loss(run, "test", epoch)
        return Best(self._owner(run), self._seeds[run], epoch, self._best_valid, test)

    # -- around them -----------------------------------------------------------------------

    def reset(self) -> None:
        """Forget all training: no checkpoints, no time spent, no best model."""
        self.seconds = 0.0
        self._reached.clear()
        self._best_run, self._best_epoch, self._best_valid = -1, 0, np.inf

    def seeds(self, architecture: Key) -> tuple[int, ...]:
        """The seeds that the table has of an architecture."""
        number = self._number(architecture)
        return tuple(self._seeds[self._first_run[number] : self._first_run[number + 1]])

    def reached(self, architecture: Key, seed: int | None = None) -> int:
        """Up to which epoch a model has been trained; 0 for not at all."""
        return self._reached.get(self._run(architecture, seed), 0)

    def status(self, architecture: Key, seed: int | None = None) -> str:
        """One of `STATUSES`, as far as training has shown it.

        A training that ends badly is "ok" until it has been trained to its end.
        """
        run = self._run(architecture, seed)
        length = self._first_epoch[run + 1] - self._first_epoch[run]
        shown_end = run in self._reached and self._reached[run] >= length
        return STATUSES[self._status[run]] if shown_end else "ok"

    @property
    def lowest_test(self) -> float:
        """The lowest test loss of the table, L* in the paper: what regret is measured against."""
        finite = self.benchmark.test[np.isfinite(self.benchmark.test)]
        return float(finite.min()) if len(finite) else float("nan")

    def add(self, runs: list[Run]) -> int:
        """Add an architecture that the table does not have, such as one whose runs a surrogate
        predicted; its number. It stays when training is reset.
        """
        for run in runs:
            elapsed, lowest, chosen = accumulated(run.valid[None], run.seconds[None])
            self._elapsed.extend(elapsed[0].tolist())
            self._lowest.extend(lowest[0].tolist())
            self._chosen.extend(chosen[0].tolist())
            self._first_epoch.append(self._first_epoch[-1] + run.epochs)
            self._seeds.append(run.seed)
            self._status.append(STATUSES.index(run.status))
            self._added.append(run)
        self._first_run.append(len(self._seeds))
        return len(self) - 1

    # -- inside ----------------------------------------------------------------------------

    def _number(self, architecture: Key) -> int:
        if not isinstance(architecture, str | Cell) and hasattr(architecture, "__index__"):
            number = operator.index(architecture)
            if 0 <= number < len(self):
                return number
        return self.benchmark.find(architecture)

    def _run(self, architecture: Key, seed: int | None) -> int:
        if type(architecture) is not int or not 0 <= architecture < len(self._first_run) - 1:
            architecture = self._number(architecture)
        first, end = self._first_run[architecture], self._first_run[architecture + 1]
        if seed is None:
            if first < end:
                return first
        else:
            for run in range(first, end):
                if self._seeds[run] == seed:
                    return run
        have = ", ".join(map(str, self._seeds[first:end]))
        raise BenchError(
            f"{self._title(architecture)} has no run with seed {seed}; it has {have}"
            if have
            else f"{self._title(architecture)} has no runs: it was never trained"
        )

    def _ended(self, run: int, epochs: int, length: int) -> int:
        """How far a training goes that the table cannot take to `epochs`."""
        epochs = _whole(epochs)
        if epochs < 1:
            raise BenchError(f"training takes at least 1 epoch, not {epochs}")
        if epochs <= length:
            return epochs
        if STATUSES[self._status[run]] == "ok":
            raise BenchError(
                f"the table has {length} epochs of {self._title(self._owner(run))}, not {epochs}"
            )
        return length

    def _not_trained(self, run: int, epoch: int) -> str:
        reached = self._reached.get(run, 0)
        what = f"{self._title(self._owner(run))} (seed {self._seeds[run]})"
        if epoch < 1:
            return f"epochs count from 1; there is no epoch {epoch}"
        length = self._first_epoch[run + 1] - self._first_epoch[run]
        if run in self._reached and reached >= length:
            return f"{what} ended after epoch {length} ({STATUSES[self._status[run]]}), not {epoch}"
        return f"{what} is trained to epoch {reached}, not {epoch}; train it first"

    def _loss(self, run: int, name: str, epoch: int) -> float:
        known = self.benchmark.run_count
        values: Floats
        if run < known:
            values = getattr(self.benchmark, name)
            return values.item(self._first_epoch[run] + epoch - 1)
        values = getattr(self._added[run - known], name)
        return values.item(epoch - 1)

    def _owner(self, run: int) -> int:
        return int(np.searchsorted(np.frombuffer(self._first_run, np.int64), run, "right")) - 1

    def _title(self, architecture: int) -> str:
        if architecture < len(self.benchmark):
            return repr(self.benchmark.names[architecture])
        return f"the added architecture {architecture}"


def _whole(epochs: object) -> int:
    try:
        return operator.index(epochs)  # type: ignore[arg-type]
    except TypeError:
        raise BenchError(f"epochs are whole numbers, not {shown(epochs)}") from None
