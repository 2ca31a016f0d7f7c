"""Cheap evaluators for studies: the same outcome for the same trial, wherever and whenever."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any


def evaluate(trial: dict[str, Any], seconds: float = 0.0) -> dict[str, Any]:
    """An outcome that depends on the trial alone; sleeps for up to twice `seconds` before."""
    if seconds:
        time.sleep(seconds * 2 * (trial["seed"] % 1000) / 1000)
    nodes = trial["cell"].count('"op"')
    relus = trial["cell"].count('"relu"')
    first = nodes - 4.0 * relus + (trial["seed"] % 97) / 100
    curve = [first + 1 / epoch for epoch in range(1, min(trial["fidelity"], 5) + 1)]
    if trial["seed"] % 11 == 0:
        return {"value": None, "status": "diverged", "cost": 1.0, "curve": curve[:1]}
    return {
        "value": curve[-1],
        "status": "ok",
        "cost": float(trial["fidelity"]),
        "curve": curve,
        "parameters": nodes,
        "test": first,
    }


def half_the_epochs(trial: dict[str, Any]) -> dict[str, Any]:
    """As `evaluate`, and says that the other half was taken over from another trial."""
    return {**evaluate(trial), "epochs": trial["fidelity"] // 2}


def often_crashing(trial: dict[str, Any], folder: str, kinds: list[str]) -> dict[str, Any]:
    """As `evaluate`, but the first attempt at every third trial comes to nothing."""
    marker = Path(folder) / str(trial["number"])
    if trial["number"] % 3 == 0 and not marker.exists():
        marker.touch()
        kind = kinds[trial["number"] // 3 % len(kinds)]
        if kind == "exit":
            os._exit(3)
        if kind == "hang":
            threading.Event().wait()
        raise RuntimeError("this time it did not work")
    return evaluate(trial)


def broken(trial: dict[str, Any]) -> dict[str, Any]:
    """Never works."""
    raise RuntimeError(f"trial {trial['number']} is broken")


def gone(trial: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Fails, whatever else it is given."""
    raise RuntimeError("the data is gone")


def gone_at_random(trial: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Fails in the random search beside a study, and nowhere else."""
    if arguments["checkpoints"].endswith("-random"):
        raise RuntimeError("the data is gone")
    return {**evaluate(trial), "value": 1.0, "status": "ok"}


def gone_at_first(trial: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Fails for the first trial, and nowhere else."""
    if trial["number"] == 0:
        raise RuntimeError("the data is gone")
    curves = {name: [1.0] * trial["fidelity"] for name in ("train", "test", "seconds")}
    curve = [1.0] * trial["fidelity"]
    return {"value": 1.0, "status": "ok", "cost": 1.0, "curve": curve, "curves": curves}


def exploding(trial: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Diverges always."""
    return {"value": None, "status": "exploded", "cost": 1.0, "curve": [], "epochs": 1}


def sometimes_broken(trial: dict[str, Any]) -> dict[str, Any]:
    """Never works for every fourth trial."""
    if trial["number"] % 4 == 0:
        raise RuntimeError(f"trial {trial['number']} is broken")
    return evaluate(trial)


def nonsense(trial: dict[str, Any]) -> Any:
    """Not an outcome."""
    return [trial["number"]]


def burn(trial: dict[str, Any], steps: int) -> dict[str, Any]:
    """As `evaluate`, after so many steps of pure arithmetic in one thread."""
    x = 0.5
    for _ in range(steps):
        x = 3.7 * x * (1 - x)
    return {**evaluate(trial), "x": x}
