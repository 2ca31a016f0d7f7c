"""Small tables and logs made by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cellwright.bench import Architecture, Benchmark, Run, assemble
from cellwright.cell.zoo import zoo

NAN, INF = math.nan, math.inf

RECIPE = {
    "f": {"op": "linear", "input": ["x", "h_prev_0"]},
    "h_new_0": {"op": "activation_tanh", "input": ["f"]},
}
OTHER = {
    "f": {"op": "linear", "input": ["x", "h_prev_0"]},
    "h_new_0": {"op": "activation_sigm", "input": ["f"]},
}


def run(
    valid: Sequence[float], seconds: Sequence[float] | None = None, status: str = "ok", **more: Any
) -> Run:
    """A run whose test losses are 0.1 below and whose training losses 0.2 above validation."""
    values = np.array(valid, np.float64)
    times = np.ones(len(values)) if seconds is None else np.array(seconds, np.float64)
    return Run(values, values - 0.1, values + 0.2, times, status=status, **more)


def table(**runs: Sequence[Run]) -> Benchmark:
    """A table of zoo cells; `_` in a name stands for `-`."""
    rows = [Architecture(name, zoo[name.replace("_", "-")], found) for name, found in runs.items()]
    return assemble(rows, title="toy", corpus="hand-made")


def log(recipe: Any = None, losses: Sequence[Any] = (6.0, 5.0), **more: Any) -> dict[str, Any]:
    """A log of the release's form."""
    return {
        "data": "data/ptb",
        "recepie_id": 1000001,
        "nhid": 600,
        "tied": True,
        "epochs": len(losses),
        "recepie": json.dumps(RECIPE if recipe is None else recipe),
        "experiment_id": 999,
        "init_time": "2020-04-28_17-16-54",
        "num_params": 12345,
        "wall_times": [10.0] * len(losses),
        "train_losses": list(losses),
        "val_losses": list(losses),
        "test_losses": list(losses),
        "status": "OK",
        **more,
    }


def same(one: Benchmark, other: Benchmark) -> bool:
    """Whether two benchmarks have equal columns, NaN for NaN."""
    arrays = (
        "first_run", "first_epoch", "train", "valid", "test", "seconds", "seed", "status",
        "parameters", "settings_of",
    )  # fmt: skip
    plain = ("title", "corpus", "metric", "names", "graphs", "settings")
    texts = ("cells", "message", "label")

    def equal(a: Any, b: Any) -> bool:
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")

    return (
        all(equal(getattr(one, name), getattr(other, name)) for name in arrays)
        and all(getattr(one, name) == getattr(other, name) for name in plain)
        and all(list(getattr(one, name)) == list(getattr(other, name)) for name in texts)
        and list(one.features) == list(other.features)
        and all(equal(one.features[name], other.features[name]) for name in one.features)
    )
