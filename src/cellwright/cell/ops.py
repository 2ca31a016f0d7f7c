"""The one table of operations: what exists, how many inputs it takes, what it means.

The validator, both engine backends, the formats and the drawing read this table; none
has a list of its own. A new elementwise operation is one row here and one case in the
native core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol


class Kind(Enum):
    """What sort of operation it is; the drawing gives each kind its own shape."""

    LINEAR = "linear"
    COMBINE = "combine"
    ACTIVATION = "activation"
    SUPERNET = "supernet"


class Saves(Enum):
    """What the gradient of an operation needs from the forward pass."""

    NOTHING = "nothing"
    INPUTS = "inputs"
    OUTPUT = "output"


class Arithmetic(Protocol):
    """The few functions that a number system must offer to compute a cell."""

    def tanh(self, a: Any) -> Any: ...
    def sigmoid(self, a: Any) -> Any: ...
    def relu(self, a: Any) -> Any: ...
    def leaky_relu(self, a: Any) -> Any: ...
    def zero(self, a: Any) -> Any: ...
    def norm(self, a: Any) -> Any: ...
    def exp(self, a: Any) -> Any: ...
    def maximum(self, a: Any, b: Any) -> Any: ...
    def batch_norm(self, a: Any, epsilon: float) -> Any: ...


Meaning = Callable[[Arithmetic, Sequence[Any]], Any]

LEAKY_SLOPE = 0.01
"""Slope of `leaky_relu` below zero, as NAS-Bench-NLP uses it."""

NORM_EPSILON = 1e-5
"""Added to the variance inside `norm` and `batch_norm`."""

DAMPED_EPSILON = 1.0
"""The same inside `damped_batch_norm`: what varies little stays small, as in ENAS' code."""


@dataclass(frozen=True)
class Op:
    """One row of the table.

    `meaning` computes the operation from its inputs' values in any `Arithmetic`; it is
    None for `linear`, `vector` and `mix`, whose weights come from outside the graph. `code` is the
    operation's number in the native core's programs and never changes.
    """

    name: str
    code: int
    kind: Kind
    least: int
    most: int | None
    formula: str
    saves: Saves
    meaning: Meaning | None
    commutative: bool = False
    attributes: frozenset[str] = frozenset()

    @property
    def finished(self) -> bool:
        """Whether the operation may stand in a finished cell, not only in a supernet."""
        return self.kind is not Kind.SUPERNET

    @property
    def arity(self) -> str:
        """The number of inputs in words, for messages."""
        if self.most is None:
            return f"{self.least} or more inputs"
        if self.least == self.most:
            return f"{self.least} input" + ("s" if self.least != 1 else "")
        return f"{self.least} or {self.most} inputs"

    def takes(self, count: int) -> bool:
        """Whether `count` inputs are right for this operation."""
        return count >= self.least and (self.most is None or count <= self.most)


def _sum(_: Arithmetic, a: Sequence[Any]) -> Any:
    total = a[0]
    for value in a[1:]:
        total = total + value
    return total


def _product(_: Arithmetic, a: Sequence[Any]) -> Any:
    total = a[0]
    for value in a[1:]:
        total = total * value
    return total


_ROWS = (
    Op("linear", 0, Kind.LINEAR, 1, None, "Σ W_i·a_i + b", Saves.INPUTS, None,
       commutative=True, attributes=frozenset({"bias", "keys", "width"})),
    Op("add", 1, Kind.COMBINE, 2, None, "a + b + …", Saves.NOTHING, _sum, commutative=True),
    Op("mul", 2, Kind.COMBINE, 2, None, "a · b · …", Saves.INPUTS, _product, commutative=True),
    Op("mean", 3, Kind.COMBINE, 2, None, "(a + b + …) / n", Saves.NOTHING,
       lambda m, a: _sum(m, a) / len(a), commutative=True),
    Op("sub", 4, Kind.COMBINE, 2, 2, "a − b", Saves.NOTHING, lambda m, a: a[0] - a[1]),
    Op("blend", 5, Kind.COMBINE, 3, 3, "z·a + (1 − z)·b", Saves.INPUTS,
       lambda m, a: a[2] + a[0] * (a[1] - a[2])),
    Op("tanh", 6, Kind.ACTIVATION, 1, 1, "tanh a", Saves.OUTPUT, lambda m, a: m.tanh(a[0])),
    Op("sigmoid", 7, Kind.ACTIVATION, 1, 1, "1 / (1 + e^−a)", Saves.OUTPUT,
       lambda m, a: m.sigmoid(a[0])),
    Op("relu", 8, Kind.ACTIVATION, 1, 1, "max(a, 0)", Saves.OUTPUT, lambda m, a: m.relu(a[0])),
    Op("leaky_relu", 9, Kind.ACTIVATION, 1, 1, "a where a > 0, else 0.01·a", Saves.OUTPUT,
       lambda m, a: m.leaky_relu(a[0])),
    Op("identity", 10, Kind.ACTIVATION, 1, 1, "a", Saves.NOTHING, lambda m, a: a[0]),
    Op("zero", 11, Kind.ACTIVATION, 0, 1, "0", Saves.NOTHING, lambda m, a: m.zero(a)),
    Op("mix", 12, Kind.SUPERNET, 1, None, "Σ θ_k·a_k", Saves.INPUTS, None,
       attributes=frozenset({"theta"})),
    Op("norm", 13, Kind.SUPERNET, 1, 1, "(a − mean a) / sd a", Saves.INPUTS,
       lambda m, a: m.norm(a[0])),
    Op("exp", 14, Kind.ACTIVATION, 1, 1, "e^a", Saves.OUTPUT, lambda m, a: m.exp(a[0])),
    Op("max", 15, Kind.COMBINE, 2, 2, "the larger of a and b", Saves.INPUTS,
       lambda m, a: m.maximum(a[0], a[1]), commutative=True),
    Op("div", 16, Kind.COMBINE, 2, 2, "a / b", Saves.INPUTS, lambda m, a: a[0] / a[1]),
    Op("vector", 17, Kind.LINEAR, 0, 0, "b", Saves.NOTHING, None,
       attributes=frozenset({"width"})),
    Op("batch_norm", 18, Kind.SUPERNET, 1, 1, "(a − mean a) / sd a, over a batch", Saves.INPUTS,
       lambda m, a: m.batch_norm(a[0], NORM_EPSILON)),
    Op("damped_batch_norm", 19, Kind.SUPERNET, 1, 1, "(a − mean a) / √(1 + var a), over a batch",
       Saves.INPUTS, lambda m, a: m.batch_norm(a[0], DAMPED_EPSILON)),
)  # fmt: skip

BATCH_NORMS = {"batch_norm": NORM_EPSILON, "damped_batch_norm": DAMPED_EPSILON}
"""Norms over the rows of a batch, and what each adds to the variance."""

NORMS = ("norm", *BATCH_NORMS)
"""The norms: over the features of each row, and over the rows of a batch for each feature."""

OPS: dict[str, Op] = {op.name: op for op in _ROWS}
"""Every operation, by name."""
