"""A class of the user's own as a kind of method: adapted, or guarded if it is a `Method`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar

from cellwright.base.errors import shown
from cellwright.base.plugins import Source
from cellwright.search.blackbox.ask_tell import Method
from cellwright.search.blackbox.own.adapter import OwnMethod
from cellwright.search.blackbox.own.guard import ANSWER_SECONDS, OwnMethodError, complaint, guarded
from cellwright.search.blackbox.own.own_class import check_own_settings, own_class
from cellwright.trials.outcome import Outcome
from cellwright.trials.trial import Trial


def own_kind(found: object, source: Source) -> type[Method]:
    """The kind of method that a class of the user's own is.

    Raises:
        OwnMethodError: it is no class, or not one of a search method.
    """
    if not isinstance(found, type):
        raise OwnMethodError(f"{source} is {shown(found)}, and should be a class")
    return _kind(found, source)


@functools.lru_cache(maxsize=64)
def _kind(found: type, source: Source) -> type[Method]:
    if issubclass(found, Method):
        lacks = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        if lacks:
            raise OwnMethodError(f"{source} lacks {lacks}, which every subclass of Method has")
        bases: tuple[type, ...] = (_Guarded, found)
        more: dict[str, Any] = {"kind": found}
    else:
        bases, own = (OwnMethod,), own_class(found, source)
        more = {"own": own, "epochs": own.epochs}
    names = {"name": source.label, "source": source, "__doc__": found.__doc__, **more}
    made: type[Method] = type(found.__name__, bases, names)
    return made


class _Guarded(Method):
    """Before a `Method` of the user's own: its calls run guarded, and its cells are checked."""

    kind: ClassVar[type]
    source: ClassVar[Source]

    def __init__(self, *args: Any, **settings: Any) -> None:
        with self._call(f"{self.kind.__name__}(…)"):
            super().__init__(*args, **settings)

    def ask(self) -> Trial | None:
        number = len(self.trials)
        with self._call(f"ask() for trial {number}"):
            trial = super().ask()
        if trial is not None and not isinstance(trial, Trial):
            problem = f"ask() for trial {number} gave {shown(trial)}, and should give a Trial"
            raise complaint(self.source, self.kind.ask, problem)
        if trial is not None and not self.space.contains(trial.cell):
            raise complaint(
                self.source,
                self.kind._propose,  # type: ignore[attr-defined]
                f"trial {number} has a cell that {self.space.title} does not have: {trial.cell!r}",
            )
        return trial

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        with self._call(f"tell() for trial {trial.number}"):
            super().tell(trial, outcome)

    def _propose(self, number: int) -> Trial | None:
        return super()._propose(number)  # type: ignore[safe-super]

    def _call(self, what: str) -> Any:
        seconds = float(getattr(self.kind, "answer_seconds", ANSWER_SECONDS))
        return guarded(self.source, what, seconds)


def check_settings(kind: type[Method], settings: Mapping[str, Any]) -> None:
    """Raise unless a kind of one's own can be made with settings of these names."""
    if issubclass(kind, OwnMethod):
        kind.own.check(settings)
    elif issubclass(kind, _Guarded):
        check_own_settings(kind.kind, kind.source, settings)
