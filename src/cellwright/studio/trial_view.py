"""The trials of a study: all of them as columns, and one with its curve and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.base.amounts import duration, memory
from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.studio.rows import Document, figures, flat, metric_words, spoken, values_of
from cellwright.studio.study_view import cell_names, tuned_cells
from cellwright.trials.store import Store, Study, TrialRecord, cell_of, list_trials, read_curves
from cellwright.trials.store.watching import origin_of, trial_columns

SLACK = 2.0
"""Seconds by which trials are looked at again: a transaction may show after its moment."""

MOST_ERROR = 300
"""Characters of a reason in the table; all of it is with the trial."""

MOST_LINEAGE = 200


def trials_document(store: Store, study: Study, since: float = 0.0) -> Document:
    """The trials as columns, small enough for tens of thousands; see `trial_columns`.

    Cells and reasons are numbers of a list of texts, since many trials share them. `origin` is the
    trial that this one comes from: its parent, or the one whose training it goes on with.
    """
    found, names = trial_columns(store, study, since), cell_names(study)
    texts: dict[str, int] = {}

    def numbered(text: str | None) -> int | None:
        return None if text is None else texts.setdefault(text, len(texts))

    by_text = {text: origin_of(text) for text in set(found["info"])}
    infos = [by_text[text] for text in found["info"]]
    moments = [m for name in ("asked_at", "started_at", "ended_at") for m in found[name] if m]
    losses = [
        value if status == "ok" else None
        for value, status in zip(found["value"], found["status"], strict=True)
    ]
    return {
        "moment": max(0.0, max(moments, default=0.0) - SLACK),
        "whole": since <= 0,
        "texts": texts,
        "columns": {
            "number": found["number"],
            "state": [
                numbered(_state(state, status))
                for state, status in zip(found["state"], found["status"], strict=True)
            ],
            "value": _rounded(values_of(study.metric, losses), 6),
            "cost": _rounded(found["cost"], 3),
            "seconds": _rounded(found["seconds"], 3),
            "parameters": found["parameters"],
            "epochs": found["fidelity"],
            "cell": [numbered(names.get(cell, cell)) for cell in found["cell_id"]],
            "attempts": found["attempt"],
            "origin": [_origin(info) for info in infos],
            "goes_on": [int("continues" in info) for info in infos],
            "how": [numbered(_place_in_method(info)) for info in infos],
            "reason": [numbered(_reason(error)) for error in found["error"]],
            "ended": [None if at is None else round(at) for at in found["ended_at"]],
            **_settings_columns(infos),
        },
    }


def _state(state: str, status: str | None) -> str:
    """What became of a trial, in a word: one that finished may have diverged."""
    return status if state == "finished" and status not in (None, "ok") else state


def _rounded(values: Sequence[float | None], digits: int) -> list[float | None]:
    """Numbers that are short as text; what is not finite is none."""
    return [
        round(value, digits) if value is not None and math.isfinite(value) else None
        for value in values
    ]


def _short(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.7g}")


def _origin(info: Mapping[str, Any]) -> int | None:
    for name in ("continues", "parent"):
        value = info.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _how(info: Mapping[str, Any]) -> str | None:
    """Where a trial comes from, in words."""
    words = []
    if isinstance(info.get("parent"), int):
        words.append(f"changed from {info['parent']}")
    if isinstance(info.get("continues"), int):
        words.append(f"goes on with {info['continues']}")
    place = _place_in_method(info)
    return ", ".join([*words, *([] if place is None else [place])]) or None


def _place_in_method(info: Mapping[str, Any]) -> str | None:
    """What else a method has noted of a trial, such as its bracket and rung."""
    left_out = ("parent", "continues", "settings", "choices")
    words = [f"{n} {spoken(value)[:60]}" for n, value in info.items() if n not in left_out]
    return ", ".join(words) or None


def _reason(error: str | None) -> str | None:
    if error is None:
        return None
    lines = error.strip().splitlines()
    return lines[0][:MOST_ERROR] if lines else "nobody knows why"


def _settings_columns(infos: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A column for each setting that trials differ in, as `set.NAME`."""
    names: dict[str, None] = {}
    tables = [info.get("settings") for info in infos]
    for table in tables:
        if isinstance(table, Mapping):
            names |= dict.fromkeys(map(str, table))
    return {
        f"set.{name}": [
            _setting(table.get(name)) if isinstance(table, Mapping) else None for table in tables
        ]
        for name in list(names)[:40]
    }


def _setting(value: Any) -> Any:
    if isinstance(value, float):
        return _short(value)
    return value if value is None or isinstance(value, int) else spoken(value)[:200]


def one_trial(store: Store, study: Study, number: int) -> TrialRecord:
    """A trial by its number.

    Raises:
        UserError: the study has none of that number.
    """
    found = list_trials(store, study, first=number, most=1)
    if not found or found[0].number != number:
        raise UserError(f"the study {study.name!r} has no trial {number}")
    return found[0]


def trial_detail(store: Store, study: Study, number: int) -> Document:
    """A trial with its curve and the line of trials that it comes from."""
    trial, metric = one_trial(store, study, number), study.metric
    curve = read_curves(store, study, [number]).get(number, ())
    facts = [
        ["state", _state(trial.state, trial.status)],
        ["cell", trial.cell_id],
        ["epochs", f"{trial.fidelity:,}"],
        ["seed", str(trial.seed)],
        ["attempts", f"{trial.attempt:,}, {trial.failures:,} failed, {trial.losses:,} lost"],
    ]
    if trial.value is not None:
        facts.insert(0, [metric.name, metric.shown(trial.value)])
    test = trial.measures.get("test")
    if isinstance(test, int | float):
        facts.insert(1, ["test", metric.shown(float(test))])
    if trial.cost is not None:
        facts.append(["cost", f"{duration(trial.cost)} of training"])
    if trial.parameters is not None:
        facts.append(["parameters", f"{trial.parameters:,}"])
    if trial.peak_memory is not None:
        facts.append(["memory", f"{memory(trial.peak_memory)} at most"])
    how = _how(trial.info)
    if how is not None:
        facts.append(["comes from", how])
    settings = trial.info.get("settings")
    return {
        "number": number,
        "facts": facts,
        "settings": {k: spoken(v) for k, v in flat(settings or {}).items()},
        "error": trial.error,
        "metric": metric_words(metric),
        "curves": {
            "epoch": list(range(1, len(curve) + 1)),
            "valid": values_of(metric, curve),
        },
        "cell_id": trial.cell_id,
        "lineage": _lineage(store, study, trial),
    }


def _lineage(store: Store, study: Study, trial: TrialRecord) -> list[Document]:
    """The trials that it comes from, itself first."""
    found: list[Document] = []
    seen: set[int] = set()
    while trial.number not in seen and len(found) < MOST_LINEAGE:
        seen.add(trial.number)
        found.append({
            "number": trial.number,
            **figures(study.metric, trial.value if trial.status == "ok" else None),
            "cell": trial.cell_id,
            "how": _how(trial.info),
        })  # fmt: skip
        before = _origin(trial.info)
        if before is None:
            break
        try:
            trial = one_trial(store, study, before)
        except UserError:
            break
    return found


def trial_cell(store: Store, study: Study, number: int) -> Cell:
    """The cell of a trial; of a tuning, with the name that it has among those to choose from."""
    cell = cell_of(store, study, one_trial(store, study, number))
    return tuned_cells(study).get(cell.id, cell)
