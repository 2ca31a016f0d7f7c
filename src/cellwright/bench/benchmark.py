"""`Benchmark`: architectures, what their training recorded, and their features, as columns."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import did_you_mean, shown
from cellwright.bench.columns import Floats, Integers, Texts, padded
from cellwright.bench.errors import BenchError
from cellwright.bench.runs import CURVES, STATUSES, Architecture, Run
from cellwright.cell import Cell, CellError
from cellwright.tasks.metric import Metric

_MOST_PARSED = 5000
"""How many cells are kept once they are parsed: searches ask for the same ones again and again."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A table of trained architectures (NAS-Bench-NLP, section 3).

    An architecture is a cell as somebody listed it. Two listings may be the same graph; they stay
    two architectures, as the paper counts them, and `graphs` tells which are one graph. Numbers of
    architectures and runs are positions in the columns; the runs of an architecture lie together,
    and so do the epochs of a run. Cells are parsed when they are asked for.

    Made by `assemble`, `import_logs` or `load`; all columns fit each other.

    Args:
        title: what people call it.
        corpus: the data that the models were trained on.
        kind: the task that they have learned.
        metric: what the losses are shown as.
        names: of the architectures; each is there once.
        graphs: the id of each architecture's cell, equal for equal graphs.
        cells: each architecture's cell as JSON.
        first_run: where the runs of each architecture begin, and the number of runs.
        first_epoch: where the epochs of each run begin, and the number of epochs in all.
        train: the training loss of each epoch of each run; NaN where it was not measured.
        valid: the validation loss of each.
        test: the test loss of each.
        seconds: the wall time of each.
        seed: of each run.
        status: of each run, as its place in `STATUSES`.
        parameters: of each run's model.
        settings_of: which of `settings` each run was trained with.
        message: what each run's training said of its end.
        label: what each run is called where it comes from.
        settings: the distinct settings.
        features: matrices by name, with a row for each architecture; NaN where it has none.
        scores: other figures on the test data by name, of each run; NaN where it has none.
    """

    title: str
    corpus: str
    kind: str
    metric: Metric
    names: tuple[str, ...]
    graphs: tuple[str, ...]
    cells: Texts
    first_run: Integers
    first_epoch: Integers
    train: Floats
    valid: Floats
    test: Floats
    seconds: Floats
    seed: Integers
    status: NDArray[np.uint8]
    parameters: Integers
    settings_of: Integers
    message: Texts
    label: Texts
    settings: tuple[Mapping[str, Any], ...]
    features: Mapping[str, Floats] = field(default_factory=dict)
    scores: Mapping[str, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Benchmark {self.title!r}, {len(self)} architectures, {self.run_count} runs>"

    @property
    def run_count(self) -> int:
        """How many runs all architectures have together."""
        return len(self.seed)

    @cached_property
    def most_epochs(self) -> int:
        """The number of epochs of the longest run."""
        return int(np.diff(self.first_epoch).max(initial=0))

    # -- rows --------------------------------------------------------------------------

    def cell(self, number: int) -> Cell:
        """The cell of an architecture, under the architecture's name."""
        if number not in self._parsed:
            try:
                found = Cell.from_json(self.cells[number])
            except CellError as error:
                name = self.names[number]
                raise BenchError(f"the cell of {name!r} is damaged: {error}") from None
            if len(self._parsed) >= _MOST_PARSED:
                self._parsed.clear()
            self._parsed[number] = found
        return self._parsed[number]

    @cached_property
    def _parsed(self) -> dict[int, Cell]:
        return {}

    def runs_of(self, number: int) -> range:
        """The numbers of an architecture's runs."""
        return range(int(self.first_run[number]), int(self.first_run[number + 1]))

    def run(self, number: int) -> Run:
        """A run, by its number."""
        epochs = slice(self.first_epoch[number], self.first_epoch[number + 1])
        return Run(
            **{name: getattr(self, name)[epochs] for name in CURVES},
            status=STATUSES[self.status[number]],
            message=self.message[number],
            seed=int(self.seed[number]),
            parameters=int(self.parameters[number]),
            settings=self.settings[self.settings_of[number]],
            label=self.label[number],
            scores={
                name: float(values[number])
                for name, values in self.scores.items()
                if not np.isnan(values[number])
            },
        )

    def architecture(self, number: int) -> Architecture:
        """An architecture with its cell and all its runs."""
        runs = tuple(map(self.run, self.runs_of(number)))
        return Architecture(self.names[number], self.cell(number), runs)

    # -- columns -----------------------------------------------------------------------

    @cached_property
    def architecture_of(self) -> Integers:
        """The architecture of each run."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_run))

    def curves(self, name: str) -> Floats:
        """One of `CURVES` as a matrix, runs × epochs, with NaN behind the end of a run."""
        if name not in CURVES:
            raise BenchError(f"unknown curve {shown(name)}; it is one of {', '.join(CURVES)}")
        return padded(getattr(self, name), self.first_epoch, self.most_epochs)

    def has_status(self, *names: str) -> NDArray[np.bool_]:
        """Which runs ended in one of these ways."""
        return np.isin(self.status, [STATUSES.index(name) for name in names])

    def with_features(self, name: str, values: Floats) -> Benchmark:
        """The same benchmark with one more matrix of features."""
        matrix = np.asarray(values, np.float64)
        if matrix.ndim != 2 or len(matrix) != len(self):
            raise BenchError(
                f"features need a row for each of the {len(self)} architectures, "
                f"not an array of shape {matrix.shape}"
            )
        return replace(self, features={**self.features, name: matrix})

    def featured(self, name: str | None = None) -> Floats:
        """A matrix of features by name, or the only one there is."""
        if name is None and len(self.features) == 1:
            return next(iter(self.features.values()))
        if name is None or name not in self.features:
            there = ", ".join(self.features) or "none"
            problem = "say which" if name is None else f"there is no {shown(name)}"
            raise BenchError(f"features of {self.title!r}: {problem}; it has {there}")
        return self.features[name]

    # -- finding -----------------------------------------------------------------------

    def find(self, key: int | str | Cell) -> int:
        """The number of an architecture.

        Args:
            key: its number, its name, the label of one of its runs, the id of its graph, or its
                cell. Where several listings are that one graph, the one that has the cell's name,
                else the first.
        """
        if isinstance(key, Cell):
            found = self.by_graph.get(key.id)
            if found is None:
                what = f"{key.name!r} ({key.id})" if key.name else key.id
                raise UnknownArchitectureError(f"{self.title!r} has no cell {what}")
            named = self.by_name.get(key.name)
            return named if named in found else found[0]
        if isinstance(key, str):
            return self._find_text(key)
        try:
            number = operator.index(key)
        except TypeError:
            raise BenchError(f"{shown(key)} is not a number, a name or a cell") from None
        if not 0 <= number < len(self):
            raise UnknownArchitectureError(
                f"{self.title!r} has no architecture number {number}; it has {len(self)}"
            )
        return number

    def _find_text(self, key: str) -> int:
        if key in self.by_name:
            return self.by_name[key]
        if key in self.by_graph:
            return self.by_graph[key][0]
        for number, label in enumerate(self.label):
            if label == key:
                return int(self.architecture_of[number])
        raise UnknownArchitectureError(
            f"{self.title!r} has no architecture {shown(key)}{did_you_mean(key, self.names)}"
        )

    def __contains__(self, key: object) -> bool:
        return key.id in self.by_graph if isinstance(key, Cell) else key in self.by_name

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The architectures by name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def by_graph(self) -> dict[str, list[int]]:
        """The architectures by graph: listings of one graph together."""
        groups: dict[str, list[int]] = {}
        for number, graph in enumerate(self.graphs):
            groups.setdefault(graph, []).append(number)
        return groups


class UnknownArchitectureError(BenchError, KeyError):
    """The table does not have this architecture."""

    def __str__(self) -> str:
        return str(self.args[0])
