"""What came out of encoders: the table of NAS-Bench-NLP (its Table 3), and a row for each run.

All values are of the test data, the mean over a training's seeds: shares as shares, and both
averages as percentages, as the paper prints them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.compare.encoders.correlation import Correlation, correlation
from cellwright.compare.encoders.encoder import Encoder
from cellwright.compare.suites.figures import SuiteFigures, average
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.sentences.glue_score import NAS_BENCH_NLP

FORMAT = "cellwright-encoders/1"

AVERAGE, FLAT = "average", "flat mean"
"""The mean over tasks, each of which counts once, as GLUE has it; and that over metrics, each of
which counts once, as NAS-Bench-NLP has it."""

LEAST_RUNS = 3
"""A correlation of fewer says nothing: two points are always on a line."""

Values = Mapping[str, Mapping[str, float]]
"""By task and metric."""


class Statistics(NamedTuple):
    """Of values over runs; `std` is the sample standard deviation, NaN of a single run."""

    mean: float
    std: float
    min: float
    median: float
    max: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Statistics | None:
        """None if no value is finite; others are left out.

        >>> Statistics.of([1.0, 2.0, 6.0, float("nan")])
        Statistics(mean=3.0, std=2.6457513110645907, min=1.0, median=2.0, max=6.0)
        """
        known = [value for value in values if math.isfinite(value)]
        if not known:
            return None
        std = statistics.stdev(known) if len(known) > 1 else math.nan
        mean, median = statistics.fmean(known), statistics.median(known)
        return cls(mean, std, min(known), median, max(known))


class Measure(NamedTuple):
    """A row of the table: a metric of a task, or an average, which has no task."""

    task: str
    name: str

    @property
    def is_average(self) -> bool:
        """Whether it is over all tasks."""
        return not self.task

    def __str__(self) -> str:
        return f"{self.task} {self.name}" if self.task else self.name

    def shown(self, value: float) -> str:
        """A value as the paper prints it."""
        return f"{value:.1f}" if self.is_average else f"{value:.3f}"


def flat_mean(values: Values) -> float:
    """The mean over all metrics of all tasks.

    >>> flat_mean({"cola": {"Matthews": 0.1}, "mrpc": {"accuracy": 0.6, "F1": 0.8}})
    0.5
    """
    return statistics.fmean(value for each in values.values() for value in each.values())


@dataclass(frozen=True)
class EncoderFigures:
    """All of it.

    Args:
        suite: the comparisons on all tasks.
        encoders: the runs.
        baselines: the labels of the baselines.
    """

    suite: SuiteFigures
    encoders: tuple[Encoder, ...]
    baselines: tuple[str, ...]

    @property
    def measures(self) -> list[Measure]:
        """The metrics in the paper's order, those that it does not have behind, and both averages
        at last."""
        there = [Measure(one.task.label, name) for one in self.suite.tasks for name in one.names]
        known = {place: number for number, place in enumerate(NAS_BENCH_NLP)}
        return [
            *sorted(there, key=lambda one: known.get((one.task, one.name), len(known))),
            Measure("", AVERAGE),
            Measure("", FLAT),
        ]

    @cached_property
    def _values(self) -> dict[str, Values]:
        return {label: self._of(label) for label in self.labels}

    @property
    def labels(self) -> list[str]:
        """Of all encoders and baselines."""
        return [*(one.label for one in self.encoders), *self.baselines]

    def value(self, label: str, measure: Measure) -> float:
        """What an encoder or a baseline has; NaN where it has nothing."""
        values = self._values[label]
        if not measure.is_average:
            return values[measure.task][measure.name]
        if measure.name == FLAT:
            return 100 * flat_mean(values)
        return 100 * average({task: tuple(each.values()) for task, each in values.items()})

    def statistics(self, measure: Measure) -> Statistics | None:
        """Over all encoders, without the baselines."""
        return Statistics.of([self.value(one.label, measure) for one in self.encoders])

    def correlations(self, measure: Measure) -> dict[str, Correlation]:
        """Spearman's correlation of perplexity and a measure, for each text of enough encoders;
        below 0 if better language models are better encoders."""
        found = {}
        for corpus, some in self._by_text.items():
            values = [self.value(one.label, measure) for one in some]
            pairs = [
                (one.valid, value)
                for one, value in zip(some, values, strict=True)
                if math.isfinite(one.valid) and math.isfinite(value)
            ]
            if len(pairs) >= LEAST_RUNS:
                found[corpus] = correlation(*zip(*pairs, strict=True))
        return found

    @property
    def _by_text(self) -> dict[str, list[Encoder]]:
        """Perplexities of different texts do not compare."""
        texts: dict[str, list[Encoder]] = {}
        names: dict[str, str] = {}
        for one in self.encoders:
            name = names.setdefault(one.fingerprint, one.corpus)
            if list(names.values()).count(name) > 1:
                name = names[one.fingerprint] = f"{name} ({one.fingerprint[:8]})"
            texts.setdefault(name, []).append(one)
        return texts

    def _of(self, label: str) -> Values:
        found = {}
        for one in self.suite.tasks:
            spreads = {name: one.figure(label, "test", name) for name in one.names}
            found[one.task.label] = {
                name: math.nan if spread is None else spread.mean / 100
                for name, spread in spreads.items()
            }
        return found


def write_encoder_figures(found: EncoderFigures) -> None:
    """Write `results.json` into the folder."""
    text = dumps(as_json(found), indent=2).encode("utf-8", "backslashreplace")
    write_whole(found.suite.folder / "results.json", text + b"\n")


def as_json(found: EncoderFigures) -> dict[str, Any]:
    """All figures as JSON values; those of every training are in the comparisons' results."""
    return {
        "format": FORMAT,
        "suite": found.suite.suite.name,
        "tasks": [
            {"label": one.task.label, "recipe": one.plan.recipe.name, "seeds": len(one.plan.seeds)}
            for one in found.suite.tasks
        ],
        "missing": dict(found.suite.missing),
        "measures": [_measure(found, measure) for measure in found.measures],
        "encoders": [_encoder(found, one) for one in found.encoders],
        "baselines": [
            {"label": label, "values": _values(found, label)} for label in found.baselines
        ],
    }


def _measure(found: EncoderFigures, measure: Measure) -> dict[str, Any]:
    over = found.statistics(measure)
    return {
        "task": measure.task or None,
        "name": measure.name,
        "over_runs": None if over is None else over._asdict(),
        "spearman_with_perplexity": {
            text: one._asdict() for text, one in found.correlations(measure).items()
        },
    }


def _encoder(found: EncoderFigures, one: Encoder) -> dict[str, Any]:
    return {
        "label": one.label,
        "run": one.path,
        "cell": one.cell.name or one.cell.id,
        "text": one.corpus,
        "width": one.width,
        "words": one.words,
        "epoch": one.epoch,
        "perplexity": PERPLEXITY.value(one.valid),
        "perplexity_test": PERPLEXITY.value(one.test),
        "values": _values(found, one.label),
    }


def _values(found: EncoderFigures, label: str) -> dict[str, float]:
    return {str(measure): found.value(label, measure) for measure in found.measures}
