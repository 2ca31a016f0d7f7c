"""A one-shot search: its epochs, θ after each of them, and the candidates that were trained."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cellwright.base.errors import FileError, UserError, refused
from cellwright.base.locks import is_held
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import first_problem
from cellwright.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.report.search_pictures import choices_of
from cellwright.runs.earlier import info_of_today
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import recipe_from_json
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.cells import listed_cell
from cellwright.search.one_shot.epochs import most_epochs
from cellwright.search.one_shot.figures import Selection, read_figures
from cellwright.search.one_shot.recipes import SearchRecipe
from cellwright.studio.metrics_tail import MetricsTail, position
from cellwright.studio.rows import (
    Document,
    Row,
    figures,
    flat,
    metric_words,
    spoken,
    time_left,
    training_values,
    values_of,
)
from cellwright.tasks.metric import Metric

MOST_FRAMES = 150
"""Epochs of θ that the page gets: of a longer search, evenly spread ones."""

_SEEDS = re.compile(r"seed-(\d+)")


@dataclass(frozen=True)
class Search:
    """`search.json`, as far as the page needs it. (The search's own reader brings torch along.)"""

    path: Path
    status: str
    metric: Metric
    data: str
    description: str
    created: float
    seeds: tuple[int, ...]
    recipe: SearchRecipe
    versions: Mapping[str, str]

    @property
    def state(self) -> str:
        """What has become of it."""
        if self.status == "running":
            return "running" if is_held(self.path) else "killed"
        return self.status

    @property
    def most_epochs(self) -> int | None:
        """Of each seed."""
        return most_epochs(self.recipe.search)

    def seed_folders(self) -> list[tuple[int, Path]]:
        """The seeds that were begun, with their folders."""
        try:
            names = [(_SEEDS.fullmatch(path.name), path) for path in self.path.iterdir()]
        except OSError:
            return []
        return sorted((int(match[1]), path) for match, path in names if match is not None)


def read_search(path: Path) -> Search:
    """What a search is.

    Raises:
        RunError: its file is damaged.
    """
    from cellwright.runs.info import DataInfo

    file = path / "search.json"
    try:
        values = json.loads(read_regular(file))
        if values.get("format") == "cellwright-searches/1":
            values = info_of_today(values)
        data = DataInfo.model_validate(values["data"])
        from datetime import datetime

        return Search(
            path,
            str(values["status"]),
            Metric.model_validate(values["metric"]),
            data.name,
            data.description,
            datetime.fromisoformat(values["created"]).timestamp(),
            tuple(int(seed) for seed in values.get("seeds") or [values["seed"]]),
            recipe_from_json(SearchRecipe, values["recipe"]),
            {str(k): str(v) for k, v in values.get("versions", {}).items()},
        )
    except OSError as error:
        raise refused("read", file, error) from None
    except ValidationError as error:
        raise RunError(f"{file} is damaged: {first_problem(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunError(f"{file} is damaged, or of another version: {error}") from None


def search_row(search: Search, tails: Sequence[MetricsTail], candidates: Sequence[Row]) -> Row:
    """How a search stands: its seeds, then the trainings of its candidates."""
    each = search.most_epochs
    total = None if each is None else each * len(search.seeds)
    done = sum(len(tail.epochs) for tail in tails)
    reached, seconds = 0.0, 0.0
    for tail in tails:
        step = tail.last_step
        at = position(step) if step is not None else None
        reached += max(float(len(tail.epochs)), at or 0.0)
        last = step or (tail.epochs[-1] if tail.epochs else {})
        seconds += _number(last.get("seconds")) or 0.0
    tried = [row for row in candidates if row.get("value") is not None]
    state, best = search.state, _best(search.metric, tried)
    loss = next((_number(t.epochs[-1].get("valid")) for t in reversed(tails) if t.epochs), None)
    shown = best or figures(search.metric, loss)
    part = None if not total else min(1.0, reached / total)
    is_choosing = state == "running" and bool(candidates)
    return {
        "state": state,
        "cell": None,
        "data": search.data,
        "method": f"{search.recipe.search.kind}, {search.recipe.name}",
        "metric": metric_words(search.metric),
        **shown,
        "done": done,
        "total": total,
        "unit": "epochs",
        "part": 1.0 if state == "finished" or is_choosing else part,
        "left": time_left(seconds, part) if state == "running" and not is_choosing else None,
        "seconds": seconds + sum(_number(row.get("seconds")) or 0.0 for row in candidates),
        "created": search.created,
        "note": f"choosing among {len(candidates):,} candidates" if is_choosing else
                ("of the supernet" if best is None and shown["value"] is not None else ""),
    }  # fmt: skip


def _best(metric: Metric, tried: Sequence[Row]) -> Document | None:
    if not tried:
        return None
    pick = max if metric.higher_is_better else min
    row = pick(tried, key=lambda row: float(row["value"]))
    return {"value": row["value"], "shown": row["shown"]}


def search_detail(
    search: Search, tails: Mapping[int, MetricsTail], rows: Sequence[Row]
) -> Document:
    """All that the page shows of a search."""
    settings = search.recipe.model_dump(mode="json", exclude={"name", "description"})
    chosen = _selection(search)
    return {
        "facts": [
            ["search", f"{search.recipe.name}: {search.recipe.description}".rstrip(": ")],
            ["data", search.description],
            ["seeds", ", ".join(map(str, search.seeds))],
            ["versions", ", ".join(f"{name} {what}" for name, what in search.versions.items())],
        ],
        "settings": {name: spoken(value) for name, value in flat(settings).items()},
        "seeds": [_seed(search, seed, tail) for seed, tail in tails.items()],
        "candidates": _candidates(chosen, rows),
        "has_found": (search.path / "found.json").is_file(),
        "files": [
            name for name in ("found.json", "selection.json", "recipe.toml")
            if (search.path / name).is_file()
        ],
        "next": [f"cellwright search --resume {search.path}"]
        if search.state in ("killed", "stopped") else [],
    }  # fmt: skip


def _seed(search: Search, seed: int, tail: MetricsTail) -> Document:
    epochs, metric = tail.epochs, search.metric

    def column(name: str) -> list[float | None]:
        return [_number(record.get(name)) for record in epochs]

    watched: dict[str, list[float | None]] = {}
    for name in _watched_names(epochs):
        watched[name] = [_watched(record, name) for record in epochs]
    return {
        "seed": seed,
        "epoch": [record.get("epoch") for record in epochs],
        "train": training_values(metric, column("train")),
        "architecture": training_values(metric, column("architecture")),
        "valid": values_of(metric, column("valid")),
        "seconds": column("seconds"),
        "group": [record.get("group") for record in epochs],
        "round": [record.get("round") for record in epochs],
        "watched": watched,
        "choices": _choices(epochs),
        "theta": _theta(search.recipe.search, epochs),
    }


def _watched_names(epochs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a search watches beside its losses: entropies and deviations, or those of a policy."""
    if not epochs:
        return []
    last = epochs[-1]
    if isinstance(last.get("watched"), dict):
        names = list(last["watched"])
        return [n for n in names if n not in ("entropy", "mad") or len(names) <= 2]
    return [name for name in ("reward", "entropy") if last.get(name) is not None]


def _watched(record: Mapping[str, Any], name: str) -> float | None:
    values = record.get("watched")
    return _number((values if isinstance(values, dict) else record).get(name))


def _choices(epochs: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What each node of the cell was, after each epoch."""
    found = []
    for record in epochs:
        try:
            found.append(choices_of(record["listing"]))
        except (KeyError, TypeError, AttributeError, ValueError):
            found.append({})
    return found


def _theta(settings: Any, epochs: Sequence[Mapping[str, Any]]) -> Document | None:
    """The edge weights after some epochs, with what each number stands for."""
    if not isinstance(settings, DifferentiableSettings) or not epochs:
        return None
    edges = settings.whole_supernet().edges
    names = [name for name in edges if name in (epochs[-1].get("theta") or {})]
    if not names:
        return None
    every = -(-len(epochs) // MOST_FRAMES)
    places = sorted({*range(0, len(epochs), every), len(epochs) - 1})
    frames = []
    for place in places:
        theta = epochs[place].get("theta") or {}
        frames.append([_weights(theta.get(name), len(edges[name])) for name in names])
    return {
        "edges": [
            {
                "part": edges[name][0].part,
                "target": edges[name][0].target,
                "source": edges[name][0].source,
                "ops": [edge.op for edge in edges[name]],
            }
            for name in names
        ],
        "softmax": settings.softmax,
        "places": places,
        "frames": frames,
    }


def _weights(values: Any, size: int) -> list[float]:
    if not isinstance(values, list) or len(values) != size:
        return [0.0] * size
    return [round(_number(value) or 0.0, 4) for value in values]


def _selection(search: Search) -> Selection | None:
    path = search.path / "selection.json"
    try:
        return read_figures(path, Selection) if path.is_file() else None
    except (FileError, RunError):
        return None


def _candidates(chosen: Selection | None, rows: Sequence[Row]) -> list[Document]:
    """The cells that were trained to choose among them, with where each came from."""
    known = {}
    if chosen is not None:
        for place, one in enumerate(chosen["candidates"]):
            number = one.get("number", 1)
            name = f"retrained-{one['seed']}" + (f"-{number}" if number > 1 else "")
            known[name] = (one.get("origin", ""), place == 0)  # the chosen one is first
    return [
        {"id": row["id"], "origin": known.get(row["name"], ("", False))[0],
         "chosen": known.get(row["name"], ("", False))[1]}
        for row in rows
    ]  # fmt: skip


def epoch_cell(tail: MetricsTail, place: int) -> Cell:
    """The cell that a search would have chosen after an epoch.

    Raises:
        UserError: there is no such epoch, or its record is damaged.
    """
    try:
        record = tail.epochs[place]
        return listed_cell(record["listing"], f"epoch {record['epoch']}")
    except (LookupError, TypeError, ValueError, CellError):
        raise UserError(f"{tail.path} has no epoch at place {place} with a cell") from None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None
