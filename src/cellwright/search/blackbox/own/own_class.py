"""What a class has to be so that it is a search method, found out without making one.

class Mine:
    def __init__(self, space, *, seed, temperature=1.0): ...
    def ask(self): ...               # a cell, a pair (cell, epochs), a Trial, or None
    def tell(self, cell, value): ... # or (trial, outcome), or (cell, outcome), …
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.base.errors import did_you_mean, shown
from cellwright.base.plugins import Source
from cellwright.search.blackbox.own.guard import ANSWER_SECONDS, OwnMethodError, begins_at
from cellwright.spaces.settings import SettingError

ALWAYS = ("space", "seed")
"""What every class is made with."""

SHARED = {"epochs": 50, "lag": 8}
"""Settings that every method has, with their defaults; a class gets those that it names."""

_Parameters = Mapping[str, inspect.Parameter]


@dataclass(frozen=True)
class OwnClass:
    """A class that is a search method.

    Args:
        kind: the class.
        source: where it comes from.
        tell: what its `tell` takes: "cell" or "trial", and "value" or "outcome".
    """

    kind: type
    source: Source
    tell: tuple[str, str]

    @property
    def answer_seconds(self) -> float:
        """How long a call may take."""
        return float(getattr(self.kind, "answer_seconds", ANSWER_SECONDS))

    @property
    def epochs(self) -> int:
        """How long a trial trains unless a setting says otherwise."""
        named = self._parameters.get("epochs")
        return named.default if named is not None and type(named.default) is int else 50

    @property
    def _parameters(self) -> _Parameters:
        return parameters_of(self.kind, self.source)

    def arguments(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Those settings that the constructor takes: all but the shared ones it does not name."""
        names = self._parameters
        return {
            name: value for name, value in settings.items() if name in names or name not in SHARED
        }

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise unless the class can be made with settings of these names.

        Raises:
            SettingError: it has no such setting, or needs one that is not given.
            OwnMethodError: it cannot be made from a space and a seed.
        """
        check_own_settings(self.kind, self.source, settings, shared=tuple(SHARED))


def own_class(kind: type, source: Source) -> OwnClass:
    """What there is to know of a class before one is made.

    Raises:
        OwnMethodError: it cannot be a search method; the message says what it lacks.
    """
    for name in ("ask", "tell"):
        if not callable(getattr(kind, name, None)):
            raise OwnMethodError(
                f"{source} has no {name}(); a search method is a class with ask() and tell()"
            )
    return OwnClass(kind, source, _tell(kind, source))


def check_own_settings(
    kind: type, source: Source, settings: Mapping[str, Any], shared: tuple[str, ...] = ()
) -> None:
    """Raise unless a class can be made from a space, a seed and settings of these names."""
    parameters = parameters_of(kind, source)
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    by_name = [
        name
        for name, p in parameters.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    made = f"it is made as {kind.__name__}(space, seed=…, **settings)"
    line = begins_at(kind.__init__)  # type: ignore[misc]
    if "seed" not in by_name and not anything:
        raise OwnMethodError(f"{source}: its constructor lacks the argument seed; {made}{line}")
    first = next(iter(parameters.values()), None)
    if first is None or first.kind in (first.KEYWORD_ONLY, first.VAR_KEYWORD):
        raise OwnMethodError(
            f"{source}: its constructor does not take the space first; {made}{line}"
        )
    own = [name for name in by_name if name != first.name and name not in ALWAYS]
    known = list(dict.fromkeys([*own, *shared]))
    for name in settings:
        if name not in known and (not anything or name in ALWAYS):
            hint = did_you_mean(name, known) or f"; it has {', '.join(known) or 'none'}"
            raise SettingError(f"{source} has no setting {name!r}{hint}")
    for name in own:
        needed = parameters[name].default is inspect.Parameter.empty
        if needed and name not in settings and name not in shared:
            raise SettingError(f"{source} needs the setting {name!r}, which has no default{line}")


def parameters_of(kind: type, source: Source) -> _Parameters:
    """The parameters of a class's constructor."""
    try:
        return inspect.signature(kind).parameters
    except (TypeError, ValueError):
        raise OwnMethodError(f"{source}: its constructor's arguments cannot be found out") from None


def _tell(kind: type, source: Source) -> tuple[str, str]:
    """What `tell` is handed: what its two parameters are called says it."""
    function = kind.tell  # type: ignore[attr-defined]
    static = isinstance(inspect.getattr_static(kind, "tell"), staticmethod | classmethod)
    try:
        names = list(inspect.signature(function).parameters.values())[0 if static else 1 :]
    except (TypeError, ValueError):
        return "trial", "outcome"
    fixed = [p for p in names if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in names if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    enough = len(fixed) >= 2 or any(p.kind is p.VAR_POSITIONAL for p in names)
    if not enough or needed or any(p.default is p.empty for p in fixed[2:]):
        said = ", ".join(map(str, names))
        raise OwnMethodError(
            f"{source}: tell({shown(said)[1:-1]}) should take two arguments, such as "
            f"tell(cell, value) or tell(trial, outcome){begins_at(function)}"
        )
    called = [p.name for p in fixed] + ["", ""]
    return (
        "cell" if called[0] == "cell" else "trial",
        "value" if called[1] in ("value", "loss") else "outcome",
    )
