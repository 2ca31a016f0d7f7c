"""A study as it was begun: made by the first driver, found and compared by all others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cellwright.base.errors import shown
from cellwright.trials.executors import Call
from cellwright.trials.store import Store, StoreError, Study, create_study, find_study, has_study
from cellwright.trials.store.studies import set_search, set_target
from cellwright.trials.study.events import StudyError
from cellwright.trials.study.leader import LOG, Method
from cellwright.trials.study.source import SOURCE, check_other_code, other_code
from cellwright.trials.task_label import TaskLabel

_FINGERPRINT = "evaluation.arguments.fingerprint"
"""Of the data that trials learn from."""


def open_study(
    store: Store,
    name: str,
    method: Method,
    evaluate: Call,
    window: int | None,
    target: int,
    task: TaskLabel | None = None,
) -> Study:
    """The study of that name, a new one if there is none.

    Raises:
        StudyError: there is one, but with another method or evaluation, or with other settings.
    """
    for what, number in (("trials", target), ("window", window)):
        if number is not None and (isinstance(number, bool) or number < 1):
            raise StudyError(f"{what} must be a whole number from 1 on, not {shown(number)}")
    state = json.loads(json.dumps(method.state(), allow_nan=False))
    if any(state.get(part) != [] for part in LOG):
        raise StudyError("a study begins with a method that has not been asked yet")
    search = {name: value for name, value in state.items() if name not in LOG}
    evaluation = {"function": evaluate.function, "arguments": dict(evaluate.arguments)}
    evaluation = json.loads(json.dumps(evaluation))
    if not has_study(store, name):
        try:
            return create_study(
                store, name, search, evaluation, window=window, target=target, task=task
            )
        except StoreError:
            if not has_study(store, name):  # else another driver began it just now
                raise
    study = find_study(store, name)
    now = {"search": _but_source(search), "evaluation": evaluation, "window": window}
    then = {**{name: getattr(study, name) for name in now}, "search": _but_source(study.search)}
    difference = _difference(then, now)
    if difference is not None:
        where, old, new = difference
        if where == _FINGERPRINT and task is not None:
            raise _other_data(study, task)
        raise StudyError(
            f"study {name!r} was begun with {where} = {shown(old)}, not {shown(new)}; "
            "go on with the same settings, or choose another name"
        )
    if other_code(study.search, search):
        check_other_code(store, study, method)
        set_search(store, study, search)
        study = find_study(store, name)
    if study.target != target:
        set_target(store, study, target)
    return study


def _other_data(study: Study, task: TaskLabel) -> StudyError:
    """The error for data that has changed since a study was begun, with both."""
    line = (
        f"study {study.name!r} was begun with other data; go on with that, or choose another name"
    )
    then = study.task.data if study.task is not None else ""
    was = f"\nit was\n{then}" if then else ""
    return StudyError(f"{line}{was}\nit is\n{task.data}")


def _but_source(search: Mapping[str, Any]) -> dict[str, Any]:
    """A search without where its method's code comes from: a file may have been moved."""
    return {name: value for name, value in search.items() if name != SOURCE}


def _difference(then: Any, now: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """The first place where two JSON values differ, and what stands there."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in {**then, **now}:
            path = f"{where}.{key}" if where else key
            if key not in then or key not in now:
                return path, then.get(key, "nothing"), now.get(key, "nothing")
            found = _difference(then[key], now[key], path)
            if found is not None:
                return found
        return None
    return None if then == now else (where, then, now)
