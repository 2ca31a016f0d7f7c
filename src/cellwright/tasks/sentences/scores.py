"""What guesses on a whole set are worth: accuracy, F1, Matthews, Pearson, Spearman.

All are computed in float64 on the whole set at once: a mean over batches would be something else.
Each is a number for any guesses: 0 where it is not defined, as for guesses that are all the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cellwright.base.errors import UserError
from cellwright.tasks import correlation

Labels = NDArray[np.int64]


def accuracy(targets: ArrayLike, guesses: ArrayLike) -> float:
    """The share of examples whose label was guessed.

    >>> accuracy([0, 1, 2, 1], [0, 1, 1, 1])
    0.75
    """
    true, guessed = _labels(targets, guesses)
    return float((true == guessed).mean())


def f1(targets: ArrayLike, guesses: ArrayLike, positive: int = 1) -> float:
    """The F1 of one label, the second of two unless said; 0 if it was never rightly guessed.

    >>> round(f1([0, 1, 1, 1], [1, 1, 0, 0]), 4)
    0.4
    """
    counts = _count(*_labels(targets, guesses))
    return counts.f1s.get(positive, 0.0)


def macro_f1(targets: ArrayLike, guesses: ArrayLike) -> float:
    """The mean of the F1 of all labels that are true or guessed anywhere.

    >>> round(macro_f1([0, 1, 2, 2], [0, 2, 2, 2]), 4)
    0.6
    """
    found = _count(*_labels(targets, guesses)).f1s
    return math.fsum(found.values()) / len(found)


def micro_f1(targets: ArrayLike, guesses: ArrayLike) -> float:
    """The F1 of all labels counted together, which is accuracy: each example has one label, so
    that what is missed for one label is guessed too much for another.

    >>> micro_f1([0, 1, 2, 1], [0, 1, 1, 1])
    0.75
    """
    return accuracy(targets, guesses)


def matthews(targets: ArrayLike, guesses: ArrayLike) -> float:
    """Matthews' correlation of two labels, or Gorodkin's R_K of more; 0 where all targets or all
    guesses are the same.

    >>> matthews([0, 1, 1, 0], [0, 1, 0, 0]) == 1 / math.sqrt(3)
    True
    """
    counts = _count(*_labels(targets, guesses))
    right, many = sum(counts.right), sum(counts.true)
    both = zip(counts.true, counts.guessed, strict=True)
    covariance = right * many - sum(true * guessed for true, guessed in both)
    spreads = [many**2 - sum(n**2 for n in side) for side in (counts.true, counts.guessed)]
    return covariance / math.sqrt(spreads[0] * spreads[1]) if all(spreads) else 0.0


def pearson(targets: ArrayLike, outputs: ArrayLike) -> float:
    """Pearson's correlation; 0 where one side does not vary.

    >>> pearson([1, 2, 3], [0.1, 0.2, 0.3]), pearson([1, 2, 3], [0.5, 0.5, 0.5])
    (1.0, 0.0)
    """
    return _or_zero(correlation.pearson(*_scores(targets, outputs)))


def spearman(targets: ArrayLike, outputs: ArrayLike) -> float:
    """Spearman's correlation, that of ranks, where equal values share the mean of their ranks; 0
    where one side does not vary.

    >>> spearman([1, 2, 3], [0.1, 0.2, 7.0])
    1.0
    """
    return _or_zero(correlation.spearman(*_scores(targets, outputs)))


class _Counts(NamedTuple):
    """How often each label was rightly guessed, is true, and was guessed; only labels that are one
    of these."""

    labels: list[int]
    right: list[int]
    true: list[int]
    guessed: list[int]

    @property
    def f1s(self) -> dict[int, float]:
        """The F1 of each label."""
        return {
            label: 2 * right / (true + guessed)
            for label, right, true, guessed in zip(*self, strict=True)
        }


def _count(true: Labels, guessed: Labels) -> _Counts:
    labels, which = np.unique(np.concatenate([true, guessed]), return_inverse=True)
    of_true, of_guessed = np.split(which.reshape(-1), 2)
    right = of_true[of_true == of_guessed]
    columns = [np.bincount(x, minlength=len(labels)).tolist() for x in (right, of_true, of_guessed)]
    return _Counts(labels.tolist(), *columns)


def _labels(targets: ArrayLike, guesses: ArrayLike) -> tuple[Labels, Labels]:
    true, guessed = np.asarray(targets), np.asarray(guesses)
    _check(true, guessed)
    whole = true.astype(np.int64), guessed.astype(np.int64)
    if (whole[0] != true).any() or (whole[1] != guessed).any():
        raise UserError("labels should be whole numbers")
    return whole


def _scores(
    targets: ArrayLike, outputs: ArrayLike
) -> tuple[correlation.Numbers, correlation.Numbers]:
    true, said = np.asarray(targets, np.float64), np.asarray(outputs, np.float64)
    _check(true, said)
    if not (np.isfinite(true).all() and np.isfinite(said).all()):
        raise UserError("scores should be finite numbers")
    return true, said


def _check(true: NDArray[np.generic], said: NDArray[np.generic]) -> None:
    if true.ndim != 1 or true.shape != said.shape:
        raise UserError(
            f"there are targets of the form {true.shape} and guesses of {said.shape}; "
            "each example has one of both"
        )
    if not len(true):
        raise UserError("there are no examples to measure")


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0
