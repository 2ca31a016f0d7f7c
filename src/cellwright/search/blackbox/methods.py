"""The black-box methods: those that come with cellwright by name, others by file or module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.base.plugins import HOW_NAMED, as_place, load, source_of
from cellwright.search.blackbox.aging_evolution import AgingEvolution
from cellwright.search.blackbox.ask_tell import Method, SearchError
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.auto import Auto
from cellwright.search.blackbox.bayesian_optimization import BayesianOptimization
from cellwright.search.blackbox.hyperband import Hyperband
from cellwright.search.blackbox.local_search import LocalSearch
from cellwright.search.blackbox.own.kinds import check_settings as check_own_settings
from cellwright.search.blackbox.own.kinds import own_kind
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.search.blackbox.smac_search import SmacSearch
from cellwright.search.blackbox.tpe import Tpe
from cellwright.spaces import Space
from cellwright.spaces.settings import SettingError, check_names, find

METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        RandomSearch,
        AgingEvolution,
        Hyperband,
        AsynchronousHyperband,
        Tpe,
        BayesianOptimization,
        SmacSearch,
        LocalSearch,
        Auto,
    )
}
"""Every black-box method that comes with cellwright."""


def method_kind(wanted: str | type) -> type[Method]:
    """A kind of method: by its name, by the place of a class of one's own, or that class itself.

    >>> method_kind("random").epochs
    50

    Args:
        wanted: a name of `METHODS`, `path/to/file.py:Class`, `module:Class`, or a class. A file
            or module that is named runs.

    Raises:
        SettingError: there is none of that name.
        PluginError: there is no such file or module, or no such class in it.
        OwnMethodError: the class cannot be a search method.
    """
    if isinstance(wanted, type):
        built_in = wanted in METHODS.values() or getattr(wanted, "source", None) is not None
        return wanted if built_in else own_kind(wanted, source_of(wanted))
    place = None if wanted in METHODS else as_place(wanted)
    if place is not None:
        return own_kind(*load(place))
    try:
        return find(METHODS, "method", wanted)
    except SettingError as error:
        raise SettingError(f"{error} ({HOW_NAMED})") from None


def check_settings(kind: type[Method], settings: Mapping[str, Any]) -> None:
    """Raise unless a kind of method can be made with settings of these names."""
    if kind.source is None:
        check_names(f"method {kind.name!r}", kind, settings, apart=("space", "seed"))
    else:
        check_own_settings(kind, settings)


def method(name: str | type, space: Space, /, **settings: Any) -> Method:
    """A method over a space, with its own settings where none are given.

    >>> from cellwright.spaces import Enas
    >>> method("random", Enas(), epochs=10).ask().fidelity
    10

    Args:
        name: as `method_kind` takes it: a class of one's own, too.
        space: where its cells come from.
        settings: of the method, the seed among them.
    """
    kind = method_kind(name)
    check_settings(kind, {key: value for key, value in settings.items() if key != "seed"})
    return kind(space, **settings)


def restore(state: Mapping[str, Any], space: Space, kind: str | type | None = None) -> Method:
    """The method of a `state`, whichever it is, over the same space.

    Args:
        state: of a method.
        space: that it was over.
        kind: of a method of one's own, as `method` takes it: a state alone runs nobody's code.
    """
    if kind is None and state.get("source") is not None:
        raise SearchError(
            f"the state is of {state.get('method')}, a method of one's own: say which with kind=…"
        )
    name = state.get("method")
    found = find(METHODS, "method", name) if kind is None else method_kind(kind)
    return found.from_state(state, space)
