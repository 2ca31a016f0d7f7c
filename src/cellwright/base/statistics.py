"""What a few seeds can say: means, their spread, and whether two means differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip

Finding = Literal[
    "lower", "higher", "seems lower", "seems higher", "not distinguishable", "unknown"
]
"""How a first mean stands to a second.

"lower" and "higher" if the 95 % interval of the difference does not hold 0; "seems …" if it does,
but every value of the one is beyond every value of the other; "unknown" if there are no two values
on each side, so that there is no spread to measure a difference by.
"""


@dataclass(frozen=True)
class Spread:
    """Values of several seeds; those of seeds that gave none are left out.

    >>> Spread.of([101.0, 103.0, 102.0])
    Spread(values=(101.0, 103.0, 102.0), mean=102.0, deviation=1.0)
    """

    values: tuple[float, ...]
    mean: float
    deviation: float | None
    """The sample standard deviation; None for a single value."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        """None if no value is finite."""
        finite = tuple(value for value in values if math.isfinite(value))
        if not finite:
            return None
        deviation = statistics.stdev(finite) if len(finite) > 1 else None
        return cls(finite, statistics.fmean(finite), deviation)


@dataclass(frozen=True)
class Difference:
    """How a first mean differs from a second: by `value`, and by `margin` more or less.

    The margin is half of Welch's 95 % interval, which does not take the two to vary alike. With
    two or three seeds it is wide, as it has to be.
    """

    value: float
    margin: float | None
    finding: Finding


def difference(first: Spread, second: Spread) -> Difference:
    """The difference of two means, and what can be said of it.

    >>> difference(Spread.of([100.0, 101.0]), Spread.of([120.0, 121.0])).finding
    'lower'
    >>> difference(Spread.of([100.0, 104.0]), Spread.of([102.0, 106.0])).finding
    'not distinguishable'
    """
    value = first.mean - second.mean
    if first.deviation is None or second.deviation is None:
        return Difference(value, None, "unknown")
    shares = [s.deviation**2 / len(s.values) for s in (first, second) if s.deviation is not None]
    error = math.sqrt(sum(shares))
    margin = _t95(_freedom(shares, (first, second))) * error if error > 0 else 0.0
    word: Literal["lower", "higher"] = "lower" if value < 0 else "higher"
    if abs(value) > margin:
        return Difference(value, margin, word)
    apart = (
        max(first.values) < min(second.values)
        if value < 0
        else min(first.values) > max(second.values)
    )
    if apart:
        return Difference(value, margin, "seems lower" if word == "lower" else "seems higher")
    return Difference(value, margin, "not distinguishable")


def _freedom(shares: Sequence[float], spreads: Sequence[Spread]) -> float:
    """Welch and Satterthwaite's degrees of freedom."""
    below = sum(
        share**2 / (len(spread.values) - 1) for share, spread in zip(shares, spreads, strict=True)
    )
    return sum(shares) ** 2 / below


def _t95(freedom: float) -> float:
    """Of fractions the next lower number, which gives a wider interval."""
    return _T95[min(max(int(freedom), 1), len(_T95)) - 1]
