"""The grammar of names: inputs (`x`, `h0`, `x@2`, `h1@3`) and nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_HISTORY = 64
"""How many steps back an input may reach."""

MAX_STATES = 64
"""How many states a cell may have."""

_INPUT = re.compile(r"(?:x|h(0|[1-9]\d{0,3}))(?:@(0|[1-9]\d{0,3}))?", re.ASCII)
_NODE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)


@dataclass(frozen=True)
class Input:
    """One input of a cell: `state` is None for x, else the state's number; `back` steps ago."""

    state: int | None
    back: int

    @property
    def order(self) -> tuple[int, int]:
        """The order in which a cell lists its inputs."""
        return (-1 if self.state is None else self.state, self.back)

    @property
    def name(self) -> str:
        """The canonical spelling."""
        if self.state is None:
            return "x" if self.back == 0 else f"x@{self.back}"
        return f"h{self.state}" if self.back == 1 else f"h{self.state}@{self.back}"


@lru_cache(maxsize=4096)
def parse_input(name: str) -> Input | None:
    """The input that `name` spells, or None if it is not the name of an input.

    >>> parse_input("h0@3")
    Input(state=0, back=3)
    >>> parse_input("gate") is None
    True
    """
    match = _INPUT.fullmatch(name)
    if match is None:
        return None
    state, back = match.groups()
    if state is None:
        return Input(None, int(back or 0))
    return Input(int(state), 1 if back is None else int(back))


def is_node_name(name: str) -> bool:
    """Whether a node may have this name: a word that is not the name of an input."""
    return _NODE.fullmatch(name) is not None and parse_input(name) is None
