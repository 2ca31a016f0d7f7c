"""A one-shot search: how it stands, its seeds, and the candidates that were trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.base.errors import FileError
from cellwright.runs.errors import RunError
from cellwright.search.one_shot.figures import Selection, read_figures
from cellwright.studio.metrics_tail import MetricsTail, position
from cellwright.studio.rows import (
    Document,
    Row,
    as_number,
    figures,
    flat,
    metric_words,
    spoken,
    time_left,
)
from cellwright.studio.search_epochs import seed_document
from cellwright.studio.search_file import Search
from cellwright.tasks.metric import Metric


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
        seconds += as_number(last.get("seconds")) or 0.0
    tried = [row for row in candidates if row.get("value") is not None]
    state, best = search.state, _best(search.metric, tried)
    loss = next((as_number(t.epochs[-1].get("valid")) for t in reversed(tails) if t.epochs), None)
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
        "seconds": seconds + sum(as_number(row.get("seconds")) or 0.0 for row in candidates),
        "created": search.created,
        "note": f"choosing among {len(candidates):,} candidates"
                if candidates and state != "finished" else
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
        "seeds": [seed_document(search, seed, tail) for seed, tail in tails.items()],
        "candidates": _candidates(chosen, rows),
        "has_found": (search.path / "found.json").is_file(),
        "files": [
            name for name in ("found.json", "selection.json", "recipe.toml")
            if (search.path / name).is_file()
        ],
        "next": [f"cellwright search --resume {search.path}"]
        if search.state in ("killed", "stopped") else [],
    }  # fmt: skip


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
