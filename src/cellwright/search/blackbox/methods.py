"""The black-box methods by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.search.blackbox.aging_evolution import AgingEvolution
from cellwright.search.blackbox.ask_tell import Method
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.bayesian_optimization import BayesianOptimization
from cellwright.search.blackbox.hyperband import Hyperband
from cellwright.search.blackbox.local_search import LocalSearch
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.search.blackbox.smac_search import SmacSearch
from cellwright.search.blackbox.tpe import Tpe
from cellwright.spaces import Space
from cellwright.spaces.settings import check_names, find

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
    )
}
"""Every black-box method."""


def method(name: str, space: Space, /, **settings: Any) -> Method:
    """The method of that name over a space, with the paper's settings where none are given.

    >>> from cellwright.spaces import Enas
    >>> method("random", Enas(), epochs=10).ask().fidelity
    10
    """
    kind = find(METHODS, "method", name)
    check_names(f"method {name!r}", kind, settings, apart=("space",))
    return kind(space, **settings)


def restore(state: Mapping[str, Any], space: Space) -> Method:
    """The method of a `state`, whichever it is, over the same space."""
    return find(METHODS, "method", state.get("method")).from_state(state, space)
