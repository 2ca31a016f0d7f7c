"""How well a surrogate knows architectures that it has not seen, by how much it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.surrogate import SurrogateError, cross_validate

_SHARES = (0.0, 0.02, 0.04, 0.1, 0.2, 0.5)


@dataclass(frozen=True, eq=False)
class Surrogates(Finding):
    """The errors, by how many epochs the surrogate sees; `loss_name` is what it predicts."""

    loss_name: str
    errors: Mapping[int, SurrogateError]


def surrogates(
    benchmark: Benchmark,
    features: Floats,
    *,
    prefixes: Sequence[int] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Surrogates:
    """The cross-validated error of surrogates that see more and more epochs of the curve.

    Args:
        benchmark: the table.
        features: a row for each architecture; rows with NaN are left out.
        prefixes: the numbers of epochs; by default up to half of the table's.
        folds: of the cross-validation. Equal graphs are in one fold.
        seed: decides the folds.
    """
    last = benchmark.most_epochs
    shown = prefixes or sorted({min(round(share * last), max(last - 1, 0)) for share in _SHARES})
    found = {
        prefix: cross_validate(benchmark, features, prefix=prefix, folds=folds, seed=seed)
        for prefix in shown
    }
    numbers = {"runs": float(next(iter(found.values())).runs)}
    for prefix, error in found.items():
        numbers[f"R2 after {prefix} of {last} epochs"] = error.r2
        numbers[f"error after {prefix} of {last} epochs"] = error.error
    title = f"Error of a surrogate, by {folds}-fold cross-validation"
    rows = tuple((prefix, *error) for prefix, error in found.items())
    names = ("prefix", *SurrogateError._fields)
    of = benchmark.metric.loss_name
    return Surrogates("surrogates", title, numbers, names, rows, of, found)
