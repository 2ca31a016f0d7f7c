"""The black-box methods by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.search.aging_evolution import AgingEvolution
from cellwright.search.ask_tell import Method
from cellwright.search.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.bayesian_optimization import BayesianOptimization
from cellwright.search.hyperband import Hyperband
from cellwright.search.local_search import LocalSearch
from cellwright.search.random_search import RandomSearch
from cellwright.search.smac_search import SmacSearch
from cellwright.search.tpe import Tpe
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


def method(name: str, space: Space, **settings: Any) -> Method:
    """The method of that name over a space, with the paper's settings where none are given.

    >>> from cellwright.spaces import Enas
    >>> method("random", Enas(), epochs=10).ask().fidelity
    10
    """
    kind = find(METHODS, "method", name)
    check_names(f"method {name!r}", kind, settings)
    return kind(space, **settings)


def restore(state: Mapping[str, Any], space: Space) -> Method:
    """The method of a `state`, whichever it is, over the same space."""
    return find(METHODS, "method", state.get("method")).from_state(state, space)
