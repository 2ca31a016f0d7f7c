"""Which metric a set of sentences is compared by, and what a model's outputs are worth by it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cellwright.base.errors import UserError
from cellwright.tasks.metric import Metric
from cellwright.tasks.sentences import scores

MetricKind = Literal["accuracy", "f1", "accuracy-f1", "macro-f1", "matthews", "pearson", "spearman"]
"""What can be compared: `accuracy-f1` is the mean of both, which GLUE's baselines choose by."""

METRICS: Mapping[MetricKind, Metric] = {
    "accuracy": Metric(name="accuracy", form="percent", unit="", items="examples"),
    "f1": Metric(name="F1", form="percent", unit="", items="examples"),
    "accuracy-f1": Metric(name="accuracy and F1", form="percent", unit="", items="examples"),
    "macro-f1": Metric(name="macro F1", form="percent", unit="", items="examples"),
    "matthews": Metric(name="Matthews", form="complement", unit="", items="examples"),
    "pearson": Metric(name="Pearson", form="complement", unit="", items="examples"),
    "spearman": Metric(name="Spearman", form="complement", unit="", items="examples"),
}
"""What each is shown as. A loss is 1 − value: of a correlation it is between 0 and 2."""

_OTHERS: Mapping[str, MetricKind] = {"cola": "matthews", "ax": "matthews"}
"""Sets whose papers compare by another metric than accuracy, or Pearson for scores."""


def main_metric(data: str, labels: int) -> MetricKind:
    """What a set is compared by: as its papers do it, else accuracy, or Pearson for a score.

    Args:
        data: a name of the registry, or whatever one's own data is called.
        labels: how many there are; 0 for a score.

    >>> main_metric("cola", 2), main_metric("mrpc", 2), main_metric("sts-b", 0)
    ('matthews', 'accuracy', 'pearson')
    """
    usual = _OTHERS.get(data.lower(), "accuracy" if labels else "pearson")
    return usual if usual in kinds_for(labels) else kinds_for(labels)[0]


def kinds_for(labels: int) -> tuple[MetricKind, ...]:
    """The metrics that there are for so many labels, or for a score (0), the usual one first.

    >>> kinds_for(0), kinds_for(3)
    (('pearson', 'spearman'), ('accuracy', 'macro-f1', 'matthews'))
    """
    if not labels:
        return ("pearson", "spearman")
    if labels == 2:
        return ("accuracy", "f1", "accuracy-f1", "macro-f1", "matthews")
    return ("accuracy", "macro-f1", "matthews")


def check_kind(kind: str, labels: int) -> None:
    """Say so if a metric is none for so many labels, or for a score (0).

    Raises:
        UserError: it is not.
    """
    if kind not in kinds_for(labels):
        what = f"{labels} labels" if labels else "scores"
        known = "" if kind in get_args(MetricKind) else "no metric is called so; "
        raise UserError(
            f"metric {kind!r}: {known}for {what} there are {', '.join(kinds_for(labels))}"
        )


def measure(
    kind: MetricKind, targets: ArrayLike, outputs: ArrayLike
) -> tuple[float, dict[str, float]]:
    """What outputs for a whole set are worth: the loss, and the other figures by name.

    The guess for an example is the label with the largest output, the first of equal ones. Where
    something is not finite the loss is infinite, and there are no figures.

    Args:
        kind: what is compared.
        targets: (examples,): numbers of labels, or scores.
        outputs: (examples, labels), or (examples,) for a score, in any scale.

    Raises:
        UserError: the forms do not fit each other or the metric.

    >>> loss, figures = measure("accuracy", [0, 1, 1, 1], [[2, 1], [0, 1], [0, 3], [1, 0]])
    >>> loss, figures["F1"]
    (0.25, 0.8)
    """
    true, said = np.asarray(targets), np.asarray(outputs)
    labels = 0 if said.ndim == 1 else said.shape[-1]
    check_kind(kind, labels)
    if said.ndim > 2:
        raise UserError(f"outputs of the form {said.shape} are neither labels' nor scores")
    if not np.isfinite(said).all():
        return math.inf, {}
    found = _of_labels(true, said) if labels else _of_scores(true, said)
    if kind == "accuracy-f1":
        return 1 - (found["accuracy"] + found["F1"]) / 2, found
    return 1 - found.pop(METRICS[kind].name), found


def _of_labels(true: NDArray[np.generic], outputs: NDArray[np.generic]) -> dict[str, float]:
    guesses, labels = outputs.argmax(1), outputs.shape[1]
    found = {"accuracy": scores.accuracy(true, guesses)}
    if labels == 2:
        found["F1"] = scores.f1(true, guesses)
    found["macro F1"] = scores.macro_f1(true, guesses)
    found["Matthews"] = scores.matthews(true, guesses)
    return found


def _of_scores(true: NDArray[np.generic], outputs: NDArray[np.generic]) -> dict[str, float]:
    return {
        "Pearson": scores.pearson(true, outputs),
        "Spearman": scores.spearman(true, outputs),
    }
