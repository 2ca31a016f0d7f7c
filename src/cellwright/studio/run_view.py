"""A training: its row, and its curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from cellwright.base.errors import FileError
from cellwright.base.validation import first_problem
from cellwright.runs.curves import epoch_record
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.studio.metrics_tail import MetricsTail, position
from cellwright.studio.rows import (
    Document,
    Row,
    cost_facts,
    figures,
    flat,
    metric_words,
    spoken,
    time_left,
    training_values,
    values_of,
)
from cellwright.training.results import EpochRecord, best_of


def curve(tail: MetricsTail) -> tuple[EpochRecord, ...]:
    """The epochs that have ended.

    Raises:
        RunError: the metrics are damaged.
    """
    if tail.damaged is not None:
        raise RunError(tail.damaged)
    try:
        return tuple(epoch_record(record) for record in tail.epochs)
    except ValidationError as error:
        raise RunError(f"{tail.path} is damaged: an epoch's {first_problem(error)}") from None
    except TypeError:
        raise RunError(f"{tail.path} is damaged: an epoch lacks a value") from None


def run_row(run: RunFolder, tail: MetricsTail) -> Row:
    """How a training stands."""
    info, epochs = run.info, curve(tail)
    best, total = best_of(epochs), info.recipe.training.epochs
    step = tail.last_step
    reached = position(step) if step is not None else None
    done = max(float(len(epochs)), reached or 0.0)
    seconds = epochs[-1].seconds if epochs else None
    if step is not None and isinstance(step.get("seconds"), int | float):
        seconds = max(seconds or 0.0, float(step["seconds"]))
    part = min(1.0, done / total)
    state = run.state
    return {
        "state": state,
        "cell": info.cell.name or info.cell.id,
        "cell_id": info.cell.id,
        "data": info.data.name,
        "method": info.recipe.name,
        "metric": metric_words(info.metric),
        **figures(info.metric, None if best is None else best.valid),
        "done": len(epochs),
        "total": total,
        "unit": "epochs",
        "part": 1.0 if state == "finished" else part,
        "left": time_left(seconds, part) if state == "running" else None,
        "seconds": seconds,
        "created": info.created.timestamp(),
    }


def run_detail(run: RunFolder, tail: MetricsTail) -> Document:
    """All that the page shows of a training."""
    info, epochs, metric = run.info, curve(tail), run.info.metric
    problem = None
    try:
        result = run.result()
    except FileError as error:
        result, problem = None, str(error)
    best = best_of(epochs)
    facts = [
        ["cell", info.cell.name or "without a name"],
        ["its id", info.cell.id],
        ["data", info.data.description],
        ["recipe", f"{info.recipe.name}: {info.recipe.description}".rstrip(": ")],
        ["seed", f"{info.seed}, threads {info.threads}, backend {info.backend}"],
        ["begun", f"{info.created:%Y-%m-%d %H:%M:%S}"],
        ["versions", ", ".join(f"{name} {what}" for name, what in info.versions.items())],
    ]
    if best is not None:
        shown = f"valid {metric.shown(best.valid)}, test {metric.shown(best.test)}"
        facts.append([metric.name, f"{shown} (epoch {best.epoch:,})"])
    if result is not None:
        facts.append(["parameters", f"{result.parameters:,}"])
        if result.status != "ok":
            facts.append(["ended", f"{result.status} in epoch {len(epochs) + 1}"])
    seconds = epochs[-1].seconds if epochs else None
    facts += cost_facts(seconds, max((each.peak_memory for each in epochs), default=None))
    if problem is not None:
        facts.append(["damaged", problem])
    recipe = info.recipe.model_dump(mode="json", exclude={"name", "description"})
    return {
        "facts": facts,
        "settings": {name: spoken(value) for name, value in flat(recipe).items()},
        "curves": run_curves(epochs, tail, metric),
        "files": _files(run),
        "next": _next(run, bool(epochs)),
    }


def run_curves(epochs: Sequence[EpochRecord], tail: MetricsTail, metric: Any) -> Document:
    """Columns: what was measured after each epoch, and the losses of some steps."""
    steps = [(position(step), step.get("loss")) for step in tail.steps()]
    known = [(at, loss) for at, loss in steps if at is not None and isinstance(loss, int | float)]
    return {
        "epoch": [each.epoch for each in epochs],
        "train": training_values(metric, [each.train for each in epochs]),
        "valid": values_of(metric, [each.valid for each in epochs]),
        "test": values_of(metric, [each.test for each in epochs]),
        "rate": [each.learning_rate if math.isfinite(each.learning_rate) else None
                 for each in epochs],
        "seconds": [each.seconds for each in epochs],
        "step": [at for at, _ in known],
        "step_train": training_values(metric, [loss for _, loss in known]),
    }  # fmt: skip


def _files(run: RunFolder) -> list[str]:
    """What somebody may want to take away, by name."""
    wanted = ("cell.json", "recipe.toml", "metrics.jsonl", "result.json")
    return [name for name in wanted if (run.path / name).is_file()]


def _next(run: RunFolder, measured: bool) -> list[str]:
    """Commands that go on from here."""
    path = run.path
    lines = []
    if run.state in ("stopped", "killed"):
        lines.append(f"cellwright train --resume {path}")
    if measured:
        lines += [f"cellwright evaluate {path}", f"cellwright runs plot {path}"]
    return lines
