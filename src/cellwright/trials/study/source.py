"""The code of a study's method, where that is the user's own: noticing that it has changed.

A method is its settings and its log. So code that would have asked for the trials that the log has,
one after the other, is as good as the code that the study was begun with: the study is what it
would be had it been begun with the new code. All other code is another method.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.trials.outcome import Outcome
from cellwright.trials.store import Store, Study
from cellwright.trials.store.log import Log, read_log
from cellwright.trials.study.events import StudyError
from cellwright.trials.study.leader import LOG, Method
from cellwright.trials.trial import Trial

SOURCE = "source"
"""Where a method's `state()` says what its code is: a file and its hash."""


def other_code(then: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether the code of a search is not what it was begun with."""
    return _sha256(then) != _sha256(now)


def check_other_code(store: Store, study: Study, method: Method) -> None:
    """Let a method of other code go through a study's log.

    Args:
        store: that has the study.
        study: as it was begun.
        method: of the new code, as it begins.

    Raises:
        StudyError: it would have asked for other trials; the message names the first.
    """
    log: Log = store.read(lambda connection: read_log(connection, study.id))
    fresh = {**method.state(), **{part: [] for part in LOG}}
    again: Method = type(method).from_state(fresh, method.space)
    try:
        number = _first_other(again, log)
        why = ""
    except UserError as error:
        number, why = len(again.trials), f" ({error})"
    if number is not None:
        raise StudyError(
            f"study {study.name!r} was begun with another content of {_file(study, method)} "
            f"(sha256 {_short(study.search)}, now {_short(method.state())}), and the new one does "
            f"not ask for the same trial {number}{why}; go on with the file as it was, or choose "
            "another name"
        )


def _first_other(method: Method, log: Log) -> int | None:
    """The number of the first trial that a method asks otherwise than the log has it."""
    for values in [*log.outcomes, None]:
        until = len(log.trials) if values is None else values["trials"]
        while len(method.trials) < until:
            number = len(method.trials)
            new = method.ask()
            if new is None or _values(new) != _values(Trial.from_json(log.trials[number])):
                return number
        if values is not None:
            outcome = {name: values[name] for name in ("value", "status", "cost", "curve")}
            method.tell(method.trials[values["number"]], Outcome.from_json(outcome))
    return None


def _values(trial: Trial) -> tuple[Any, ...]:
    return trial.cell.id, trial.fidelity, trial.seed, dict(trial.info)


def _file(study: Study, method: Method) -> str:
    file = (method.state().get(SOURCE) or study.search.get(SOURCE) or {}).get("file")
    return Path(file).name if isinstance(file, str) else str(study.search.get("method"))


def _sha256(search: Mapping[str, Any]) -> str | None:
    found = (search.get(SOURCE) or {}).get("sha256")
    return None if found is None else str(found)


def _short(search: Mapping[str, Any]) -> str:
    return str(_sha256(search))[:12]
