"""A study or a tuning in a store: what it is, how it stands, and what it has cost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from cellwright.base.amounts import duration, memory
from cellwright.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.spaces import Tuned
from cellwright.studio.rows import Document, Row, figures, flat, metric_words, spoken
from cellwright.trials.store import Store, Study, overview
from cellwright.trials.store.ledger import overview_and_ledger
from cellwright.trials.store.watching import live_drivers


def is_tuning(study: Study) -> bool:
    """Whether its trials differ in settings."""
    return space_of(study).get("name") == Tuned.name


def space_of(study: Study) -> Mapping[str, Any]:
    """What its cells, or its settings, are drawn from."""
    found = study.search.get("space")
    return found if isinstance(found, Mapping) else {}


def tuned_cells(study: Study) -> dict[str, Cell]:
    """The cells that a tuning chooses among, by id; of other studies none."""
    settings = space_of(study).get("settings") if is_tuning(study) else None
    texts = settings.get("cells") if isinstance(settings, Mapping) else None
    known = [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    return _read_cells(tuple(known))


@lru_cache(maxsize=50)
def _read_cells(texts: tuple[str, ...]) -> dict[str, Cell]:
    found = {}
    for text in texts:
        try:
            cell = Cell.from_json(text)
        except CellError:
            continue
        found[cell.id] = cell
    return found


def cell_names(study: Study) -> dict[str, str]:
    """What these are called, by id, if no two have the same name."""
    names = {id: cell.name for id, cell in tuned_cells(study).items() if cell.name}
    return names if len(set(names.values())) == len(names) else {}


def study_row(store: Store, study: Study) -> Row:
    """How a study stands."""
    stands, metric = overview(store, study), study.metric
    alive = live_drivers(store, study) if stands.drivers else 0
    state = "open" if stands.state == "running" and not alive else str(stands.state)
    total, rate = study.target, stands.recent_per_hour
    left = None
    if state == "running" and total is not None and rate > 0:
        left = max(0, total - stands.ended) / rate * 3600
    best = stands.best
    return {
        "name": study.name,
        "kind": "tuning" if is_tuning(study) else "study",
        "state": {"complete": "finished"}.get(state, state),
        "cell": None if best is None else cell_names(study).get(best.cell_id, best.cell_id),
        "data": study.task.data.splitlines()[0] if study.task and study.task.data else None,
        "method": str(study.search.get("method", "?")),
        "metric": metric_words(metric),
        **figures(metric, None if best is None else best.value),
        "done": stands.ended,
        "total": total,
        "unit": "trials",
        "part": min(1.0, stands.ended / total) if total else None,
        "left": left,
        "seconds": stands.seconds,
        "created": study.created_at,
        "failed": stands.states["failed"],
        "best_trial": None if best is None else best.number,
        "rate": rate,
        "running": stands.states["running"],
        "waiting": stands.states["waiting"],
    }


def study_detail(store: Store, study: Study) -> Document:
    """What a study is, and what it has cost."""
    stands, ledger = overview_and_ledger(store, study)
    space = space_of(study)
    settings = {
        "method": study.search.get("method"),
        "settings": study.search.get("settings", {}),
        "space": {k: v for k, v in space.items() if k != "settings" or not is_tuning(study)},
        "evaluation": study.evaluation.get("arguments", {}),
    }
    facts = [
        ["trials", f"{stands.ended:,} ended: {ledger.ok:,} with a value, "
                   f"{ledger.diverged:,} diverged, {ledger.failed:,} failed"],
        ["attempts", f"{ledger.attempts:,}, {ledger.wasted:,} of them came to nothing"],
        ["epochs", f"{ledger.epochs:,} in all"],
        ["trial time", duration(ledger.seconds)],
        ["wall time", duration(ledger.wall)],
    ]  # fmt: skip
    if ledger.peak_memory:
        facts.append(["memory", f"{memory(ledger.peak_memory)} at most"])
    if study.task is not None:
        facts.append(["data", study.task.data])
    if stands.drivers:
        facts.append(["rate", f"{stands.recent_per_hour:,.0f} trials an hour"])
    found = {name: spoken(value) for name, value in flat(settings).items()}
    return {
        "facts": facts,
        "settings": {name: text for name, text in found.items() if len(text) <= 2000},
        "next": [],
    }
