"""From what the store has of a training to a run of a benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cellwright.bench.columns import Floats
from cellwright.bench.runs import CURVES, Run
from cellwright.trials.store import TrialRecord
from cellwright.trials.store.trials import FAILED

Curve = Sequence[float | None]


def run_of(
    trial: TrialRecord, curves: Mapping[str, Curve], settings: Mapping[str, Any], label: str
) -> Run:
    """The run that a trial's training was.

    A training that diverges in the middle of an epoch has no losses there, but took time: it gets
    an epoch without losses, so that simulated searches pay for it as the real one did.

    Args:
        trial: as the store has it.
        curves: its losses "train", "valid" and "test" and the "seconds" of each epoch.
        settings: how it was trained.
        label: what to call it.
    """
    train, valid, test, seconds = (_numbers(curves.get(name, ())) for name in CURVES)
    if trial.status is None or trial.state == FAILED:
        status, message = "failed", (trial.error or "unknown").splitlines()[0]
    elif trial.status != "ok":
        status, message = "diverged", trial.status
        if int(trial.measures.get("epochs") or 0) > len(seconds):
            train, valid, test = (np.append(losses, math.nan) for losses in (train, valid, test))
            seconds = np.append(seconds, max(0.0, (trial.cost or 0.0) - math.fsum(seconds)))
    else:  # a recipe's patience may end a training early
        status, message = "ok" if len(seconds) == trial.fidelity else "stopped", "OK"
    return Run(
        valid,
        test,
        train,
        seconds,
        status=status,
        message=message,
        seed=trial.seed,
        parameters=trial.parameters or 0,
        settings=settings,
        label=label,
        scores=_scores(trial.measures.get("figures")),
    )


def _scores(figures: Any) -> dict[str, float]:
    """The figures on the test data that a task keeps beside the loss."""
    if not isinstance(figures, Mapping) or not isinstance(figures.get("test"), Mapping):
        return {}
    return {
        str(name): float(value)
        for name, value in figures["test"].items()
        if isinstance(value, int | float)
    }


def _numbers(values: Curve) -> Floats:
    return np.array([math.nan if value is None else value for value in values], np.float64)
