"""Slow and obvious references: graph isomorphism by trying, and evaluation by numpy."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from cellwright.cell import Cell, Node
from cellwright.cell.ops import LEAKY_SLOPE, NORM_EPSILON

# -- isomorphism ---------------------------------------------------------------------------


def same_graph(one: Cell, other: Cell) -> bool:
    """Whether some renaming of nodes and of tied weights makes one cell the other.

    Written against the definition, by backtracking over bijections of the nodes, with no
    code in common with `cellwright.cell.identity`.
    """
    if len(one.nodes) != len(other.nodes) or len(one.states) != len(other.states):
        return False

    def local(cell: Cell, node: Node) -> tuple[Any, ...]:
        roles = [i for i, s in enumerate(cell.states) if s == node.name]
        read = sum(n.inputs.count(node.name) for n in cell.nodes)
        plain = sorted(i for i in node.inputs if i not in cell)
        attributes = (node.bias, node.width) if node.op in ("linear", "vector") else ()
        end = cell.output == node.name
        return node.op, attributes, roles, end, read, plain, len(node.inputs)

    mine = {n.name: local(one, n) for n in one.nodes}
    theirs = {n.name: local(other, n) for n in other.nodes}
    if Counter(map(repr, mine.values())) != Counter(map(repr, theirs.values())):
        return False

    def match(position: int, names: dict[str, str], keys: dict[str, str]) -> bool:
        if position == len(one.nodes):
            return True
        node = one.nodes[position]
        used = set(names.values())
        for candidate in other.nodes:
            if candidate.name in used or mine[node.name] != theirs[candidate.name]:
                continue
            for new_keys in ways(node, candidate, names, keys):
                if match(position + 1, {**names, node.name: candidate.name}, new_keys):
                    return True
        return False

    uses = [Counter(t for n in cell.nodes for t in ties(n)) for cell in (one, other)]

    def ways(a: Node, b: Node, names: dict[str, str], keys: dict[str, str]) -> list[dict[str, str]]:
        """The maps of tied weights under which node a is node b."""
        theta_a, theta_b = f"θ{a.theta_name}", f"θ{b.theta_name}"
        if a.op == "mix" and (uses[0][theta_a] > 1) != (uses[1][theta_b] > 1):
            return []
        start = dict(keys)
        if a.op == "mix" and not tie(theta_a, theta_b, start):
            return []
        left = [(names.get(i, i), key(a, p)) for p, i in enumerate(a.inputs)]
        right = [(i, key(b, p)) for p, i in enumerate(b.inputs)]
        if not a.spec.commutative:
            return [start] if [i for i, _ in left] == [i for i, _ in right] else []
        found: list[dict[str, str]] = []

        def pair(at: int, free: list[tuple[str, str | None]], known: dict[str, str]) -> None:
            if at == len(left):
                if known not in found:
                    found.append(known)
                return
            for k, (name, their_key) in enumerate(free):
                name_fits = name == left[at][0]
                my_key = left[at][1]
                if not name_fits:
                    continue
                my_tied = my_key is not None and uses[0][my_key] > 1
                their_tied = their_key is not None and uses[1][their_key] > 1
                if my_tied != their_tied:
                    continue
                new = dict(known)
                if my_tied and not tie(str(my_key), str(their_key), new):
                    continue
                pair(at + 1, free[:k] + free[k + 1 :], new)

        pair(0, right, start)
        return found

    return match(0, {}, {})


def ties(node: Node) -> list[str]:
    return [*(node.keys or ()), *([f"θ{node.theta_name}"] if node.op == "mix" else [])]


def key(node: Node, position: int) -> str | None:
    return node.keys[position] if node.keys else None


def tie(one: str, other: str, known: dict[str, str]) -> bool:
    """Add one ↔ other to a bijection, if it stays one."""
    if one in known:
        return known[one] == other
    if other in known.values():
        return False
    known[one] = other
    return True


# -- evaluation ----------------------------------------------------------------------------


class NumpyArithmetic:
    """A number system for `Op.meaning`."""

    def __init__(self, zero: Any) -> None:
        self.nothing = zero

    def tanh(self, a: Any) -> Any:
        return np.tanh(a)

    def sigmoid(self, a: Any) -> Any:
        return 0.5 + 0.5 * np.tanh(a / 2)

    def relu(self, a: Any) -> Any:
        return np.maximum(a, 0)

    def leaky_relu(self, a: Any) -> Any:
        return np.where(a > 0, a, LEAKY_SLOPE * a)

    def zero(self, a: Any) -> Any:
        return np.zeros_like(a[0]) if len(a) else self.nothing

    def exp(self, a: Any) -> Any:
        return np.exp(a)

    def maximum(self, a: Any, b: Any) -> Any:
        return np.where(a >= b, a, b)

    def norm(self, a: Any) -> Any:
        return (a - a.mean()) / np.sqrt(a.var() + NORM_EPSILON)

    def batch_norm(self, a: Any, epsilon: float) -> Any:
        return np.zeros_like(a)  # a batch of one row


def with_keys(cell: Cell) -> Cell:
    """The same graph with a name for every weight, so that a weight is known wherever it goes."""
    nodes = [
        replace(node, keys=tuple(f"{node.name}_{i}" for i in range(len(node.inputs))))
        if node.op == "linear" and node.keys is None
        else node
        for node in cell.nodes
    ]
    return Cell(nodes, cell.states, cell.output)


def run(cell: Cell, input_size: int, steps: int = 4) -> list[np.ndarray[Any, Any]]:
    """Outputs and states of some steps of a cell all of whose weights have keys.

    A weight's value depends on its key only, a bias's on its node's name.
    """
    hidden_size = 4
    size = {"input": input_size, "hidden": hidden_size}
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(steps, input_size))
    past: dict[int, list[Any]] = defaultdict(list)
    results = []
    arithmetic = NumpyArithmetic(np.zeros(hidden_size))
    for t in range(steps):
        values: dict[str, Any] = {}
        for name in cell.inputs:
            values[name] = _input(name, t, xs, past, hidden_size)
        for node in cell.nodes:
            inputs = [values[name] for name in node.inputs]
            if node.op in ("linear", "vector"):
                rows = size[node.width]
                total = weight(f"bias {node.name}", rows) if node.bias else np.zeros(rows)
                for key_, value in zip(node.keys or (), inputs, strict=True):
                    total = total + weight(key_, rows, len(value)) @ value
                values[node.name] = total
            elif node.op == "mix":
                theta = weight(f"theta {node.theta_name}", len(inputs))
                values[node.name] = sum(w * v for w, v in zip(theta, inputs, strict=True))
            else:
                assert node.spec.meaning is not None
                values[node.name] = node.spec.meaning(arithmetic, inputs)
        for number, state in enumerate(cell.states):
            past[number].append(values[state])
        results += [values[cell.output], *(values[state] for state in cell.states)]
    return results


def _input(
    name: str, t: int, xs: Any, past: dict[int, list[Any]], hidden_size: int
) -> np.ndarray[Any, Any]:
    base, _, back = name.partition("@")
    if base == "x":
        at = t - int(back or 0)
        return xs[at] if at >= 0 else np.zeros_like(xs[0])
    at = t - int(back or 1)
    return past[int(base[1:])][at] if at >= 0 else np.zeros(hidden_size)


def weight(label: str, *shape: int) -> np.ndarray[Any, Any]:
    seed = int.from_bytes(hashlib.sha256(label.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=shape) * 0.7


def shuffled(cell: Cell, rng: random.Random) -> Cell:
    """The same graph: other node names, another order, commutative inputs permuted."""
    numbers = list(range(len(cell.nodes)))
    rng.shuffle(numbers)
    names = {node.name: f"v{n}" for node, n in zip(cell.nodes, numbers, strict=True)}
    keys: dict[str, str] = {}
    nodes = []
    for node in cell.nodes:
        order = list(range(len(node.inputs)))
        if node.spec.commutative:
            rng.shuffle(order)
        new_keys = None
        if node.keys is not None:
            new_keys = tuple(keys.setdefault(node.keys[i], f"k{len(keys)}") for i in order)
        inputs = tuple(names.get(node.inputs[i], node.inputs[i]) for i in order)
        theta = f"t_{node.theta_name}" if node.op == "mix" else None
        name = names[node.name]
        nodes.append(Node(name, node.op, inputs, node.bias, new_keys, node.width, theta))
    rng.shuffle(nodes)
    return Cell(nodes, [names[s] for s in cell.states], names[cell.output], "other")
