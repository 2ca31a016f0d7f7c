"""One training log of the release: checked, and turned into a run.

A log is a JSON object with the recipe under `recepie` (the release's spelling), four lists with an
entry for each epoch, and every setting beside them. Where a log says `cell` instead of `recepie`,
it has a cell of any space, as cellwright JSON. `cellwright_task` says what was learned, where it is
another task than the release's.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from cellwright.base.errors import shown
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.bench.runs import STATUSES, Run
from cellwright.cell import Cell
from cellwright.cell.formats import cellwright_json
from cellwright.cell.listings import nas_bench_nlp
from cellwright.tasks.registry import task_kind
from cellwright.trials.task_label import TaskLabel

MOST_EPOCHS = 100_000

KEYS = {
    "seconds": "wall_times",
    "train": "train_losses",
    "valid": "val_losses",
    "test": "test_losses",
}
"""What the release calls the curves."""

TASK = "cellwright_task"
"""Under which a log says its task."""

RELEASE = TaskLabel("language", task_kind("language").metric)
"""What the models of the release have learned."""

_CELL_KEYS = ("recepie", "cell", "recipe")
"""Where a log may have its architecture. Runs of `bench build` have a setting called `recipe`, so
that is looked at last."""

_NOT_SETTINGS = frozenset(
    ("recepie", "cell", *KEYS.values(), TASK, "name", "recepie_id", "recepies_list_path",
     "experiment_id", "init_time", "num_params", "status", "seed")
)  # fmt: skip
_STAMPS = ("experiment_id", "init_time", "seed")
_EXPLODED = re.compile(r"\bnan\b|\binf|math range error|overflow|explo|diverge")


@dataclass(frozen=True)
class Logged:
    """What one log says.

    Args:
        cell: its architecture.
        name: a name for the architecture, if the log has one.
        run: what was recorded; None for a recipe without a training.
        corpus: the last part of the log's `data`.
        seed: if the log has one.
        stamp: equal for two copies of one log.
        remark: what is odd about the log.
        task: what was learned.
    """

    cell: Cell
    name: str = ""
    run: Run | None = None
    corpus: str = ""
    seed: int | None = None
    stamp: bytes = b""
    remark: str = ""
    task: TaskLabel = RELEASE


def read_log(value: Any) -> Logged:
    """A log, a recipe or a cell, from JSON values.

    Raises:
        UserError: what is wrong with it.
    """
    if not isinstance(value, Mapping):
        raise BenchError(f"a log is a JSON object, not {shown(value)}")
    if value.get("format") is not None and "nodes" in value:
        cell = cellwright_json.from_dict(value)
        return Logged(cell, cell.name)
    for key in _CELL_KEYS:
        if key in value and not (isinstance(value[key], Mapping) and "op" in value[key]):
            return _log(value, key)
    if any(key in value for key in KEYS.values()):
        raise BenchError("the log has no 'recepie': whose training was it?")
    return Logged(nas_bench_nlp.lower(value))


def _log(log: Mapping[str, Any], key: str) -> Logged:
    described = log[key]
    if isinstance(described, str):
        described = cellwright_json.load(described)
    cell = cellwright_json.from_dict(described) if key == "cell" else nas_bench_nlp.lower(described)
    number = _scalar(log, "recepie_id")
    name = _scalar(log, "name") or cell.name or (number and f"nbnlp-{number}")
    curves = {name: _numbers(log, own) for name, own in KEYS.items()}
    if all(own not in log for own in KEYS.values()):
        return Logged(cell, name)
    epochs, remark = _epochs(curves)
    fitted: dict[str, Any] = {name: _fitted(values, epochs) for name, values in curves.items()}
    message = _scalar(log, "status")
    no_settings = _NOT_SETTINGS | {key}
    settings = {k: v for k, v in log.items() if k not in no_settings and _is_setting(v)}
    planned = settings.get("epochs")
    run = Run(
        **fitted,
        status=_status(message, fitted["valid"], planned if isinstance(planned, int) else 0),
        message=message,
        parameters=_count(log, "num_params"),
        settings=settings,
        label=number,
    )
    stamp = hashlib.sha256(repr([number, *map(partial(_scalar, log), _STAMPS)]).encode())
    for values in fitted.values():
        stamp.update(values)
    corpus = settings.get("data")
    return Logged(
        cell,
        name,
        run,
        PurePosixPath(corpus.replace("\\", "/")).name if isinstance(corpus, str) else "",
        _count(log, "seed") if "seed" in log else None,
        stamp.digest(),
        remark,
        _task(log),
    )


def _task(log: Mapping[str, Any]) -> TaskLabel:
    if TASK not in log:
        return RELEASE
    label = TaskLabel.from_json(json.dumps(log[TASK]))
    if label is None:
        raise BenchError(f"{TASK!r} must have a kind and a metric, not {shown(log[TASK])}")
    return label


def _numbers(log: Mapping[str, Any], key: str) -> Floats:
    values = log.get(key, [])
    if not isinstance(values, list):
        raise BenchError(f"{key!r} must be a list of numbers, not {shown(values)}")
    if len(values) > MOST_EPOCHS:
        raise BenchError(f"{key!r} has {len(values):,} epochs; at most {MOST_EPOCHS:,} are read")
    for number, value in enumerate(values, 1):
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not good:
            raise BenchError(f"{key!r}: epoch {number} is {shown(value)}, not a number")
    try:
        found = np.array([math.nan if v is None else float(v) for v in values], np.float64)
    except OverflowError:
        raise BenchError(f"{key!r} has a number that is too large") from None
    if key == KEYS["seconds"] and not (np.isfinite(found) & (found >= 0)).all():
        raise BenchError(f"{key!r}: the wall time of an epoch must be finite and not negative")
    return found


def _epochs(curves: Mapping[str, Floats]) -> tuple[int, str]:
    """How many epochs count, and a remark where the lists do not agree.

    An epoch needs its cost and its validation; losses of the other two parts may be missing.
    """
    epochs = min(len(curves["seconds"]), len(curves["valid"]))
    lengths = {KEYS[name]: len(values) for name, values in curves.items()}
    if len(set(lengths.values())) <= 1:
        return epochs, ""
    listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
    return epochs, f"its lists differ in length ({listed}); the first {epochs} epochs are kept"


def _fitted(values: Floats, epochs: int) -> Floats:
    fitted = np.full(epochs, np.nan)
    fitted[: len(values)] = values[:epochs]
    return fitted


def _status(message: str, valid: Floats, planned: int) -> str:
    """How a training ended, from what it said and what it recorded."""
    said = message.lower()
    if not np.isfinite(valid).all() or said == "diverged" or _EXPLODED.search(said):
        return "diverged"
    if said in STATUSES[1:]:
        return said
    if said in ("", "ok"):
        return "ok" if len(valid) >= max(planned, 1) else "stopped"
    return "stopped" if "keyboardinterrupt" in said else "failed"


def _scalar(log: Mapping[str, Any], key: str) -> str:
    value = log.get(key)
    known = isinstance(value, str | int) and not isinstance(value, bool)
    return _short(value) if known else ""


def _short(value: object) -> str:
    try:
        return str(value)[:300]
    except ValueError:  # an integer of thousands of digits
        return ""


def _count(log: Mapping[str, Any], key: str) -> int:
    value = log.get(key, 0)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise BenchError(f"{key!r} must be a whole number from 0, not {shown(value)}")
    return value


def _is_setting(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= 1000
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 2**63
    return (
        value is None
        or isinstance(value, bool)
        or (isinstance(value, float) and math.isfinite(value))
    )
