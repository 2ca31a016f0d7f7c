"""Random listings and cells of every family, for property tests of every layer.

Each maker takes a `random.Random`, so that tests without hypothesis can use it, too; the
strategies below draw that `Random` from hypothesis, which can then shrink what it finds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from cellwright.cell import OPS, Cell, CellError, Node
from cellwright.cell.listings import (
    DartsListing,
    EnasListing,
    EssListing,
    FenasListing,
    FenasNode,
    darts,
    enas,
    ess,
    fenas,
    nas_bench_nlp,
)


def enas_listing(rng: random.Random, most: int = 10) -> EnasListing:
    later = tuple(
        (rng.randrange(number), rng.choice(enas.OPERATIONS))
        for number in range(1, rng.randint(1, most))
    )
    return EnasListing(rng.choice(enas.OPERATIONS), later)


def darts_listing(rng: random.Random, most: int = 8, edges: int = 4) -> DartsListing:
    nodes = []
    for number in range(1, rng.randint(1, most) + 1):
        choices = [(op, source) for op in darts.OPERATIONS for source in range(number)]
        nodes.append(tuple(rng.sample(choices, rng.randint(1, edges))))
    concat = rng.sample(range(len(nodes) + 1), rng.randint(1, len(nodes)))
    return DartsListing(tuple(nodes), tuple(concat), rng.choice(darts.EDGES))


def ess_listing(rng: random.Random) -> EssListing:
    m = rng.randint(1, 4)

    def gate() -> tuple[str, ...] | None:
        return tuple(rng.choice(ess.GATE_OPERATIONS) for _ in range(m))

    f_gate = gate() if rng.random() < 0.8 else None
    g_gate = gate() if rng.random() < 0.8 else None
    alphas = (None, "tanh", "sigmoid", "identity")
    return EssListing(
        darts_listing(rng, most=4),
        f_gate,
        g_gate,
        rng.choice(alphas) if f_gate else None,
        rng.choice(alphas) if g_gate else None,
    )


def fenas_listing(rng: random.Random, most: int = 10) -> FenasListing:
    count = rng.randint(1, most)
    c = rng.randint(1, count) if rng.random() < 0.5 else None
    nodes = []
    for number in range(1, count + 1):
        sources: list[str | int] = ["x", "h", *range(1, number), *(["c"] if c else [])]
        first, second = rng.choice(sources), rng.choice([*sources, "zero"])
        if rng.random() < 0.1 and second != "zero":
            first = "zero"
        nodes.append(FenasNode(rng.choice(fenas.FUNCTIONS), first, second))
    return FenasListing(tuple(nodes), c)


def recipe(rng: random.Random, most: int = 12) -> dict[str, dict[str, Any]]:
    states = rng.randint(1, 4)
    values = ["x", *(f"h_prev_{i}" for i in range(states))]
    arity = {"linear": (1, 3), "blend": (3, 3), "elementwise_prod": (2, 3)}
    arity["elementwise_sum"] = (2, 3)
    nodes: dict[str, dict[str, Any]] = {}
    count = rng.randint(states, states + most)
    new = dict(zip(rng.sample(range(count), states), range(states), strict=True))
    for number in range(count):
        op = rng.choice(list(nas_bench_nlp.OPERATIONS))
        inputs = rng.choices(values, k=rng.randint(*arity.get(op, (1, 1))))
        name = f"h_new_{new[number]}" if number in new else rng.choice(["node_", "1 ", "é"])
        name = name if number in new else f"{name}{number}"
        nodes[name] = {"op": op, "input": inputs}
        values.append(name)
    items = list(nodes.items())
    rng.shuffle(items)
    return dict(items)


def cell(rng: random.Random, most: int = 14, supernets: bool = False) -> Cell:
    """An arbitrary valid cell over the whole table of operations.

    Several states, history, tied weights, linears as wide as x, zeros and identities.
    """
    while True:
        try:
            return _any_cell(rng, most, supernets)
        except CellError as error:  # a width or a shape that does not fit: draw again
            message = str(error)
            assert "wide" in message or "widths" in message, message


def _any_cell(rng: random.Random, most: int, supernets: bool) -> Cell:
    states = rng.choice([1, 1, 1, 2, 3])
    values = ["x", *(f"h{i}" for i in range(states))]
    if rng.random() < 0.5:
        values += ["x@1", f"x@{rng.randint(1, 3)}", f"h{states - 1}@{rng.randint(1, 3)}"]
    ops = [op for op in OPS.values() if op.finished or supernets]
    nodes: list[Node] = []
    for number in range(rng.randint(states, most)):
        op = rng.choice([*ops, OPS["linear"], OPS["linear"]])
        count = rng.randint(op.least, 4 if op.most is None else op.most)
        inputs = tuple(rng.choices(values[-8:] if rng.random() < 0.5 else values, k=count))
        attributes: dict[str, Any] = {}
        if op.name == "linear":
            attributes["bias"] = rng.random() < 0.5
            if rng.random() < 0.3:
                attributes["keys"] = tuple(rng.choice("abcd") + i[0] for i in inputs)
        if "width" in op.attributes and rng.random() < 0.1:
            attributes["width"] = "input"
        if op.name == "mix" and rng.random() < 0.3:
            attributes["theta"] = "shared"
        if op.name in ("exp", "div"):
            inputs = (
                *inputs[:-1],
                _bounded(nodes, inputs[-1], number, above_zero=op.name == "div"),
            )
        nodes.append(Node(f"n{number}", op.name, inputs, **attributes))
        values.append(f"n{number}")
    names = [node.name for node in nodes]
    output = rng.choice(names) if rng.random() < 0.2 else None
    return Cell(nodes, rng.choices(names, k=states), output)


def _bounded(nodes: list[Node], name: str, number: int, *, above_zero: bool) -> str:
    """A value between -1 and 1, or between 1/e and e, that depends on `name`.

    An exponential of anything, step after step, is infinite soon, and a quotient of anything
    meets zeros: where numbers are infinite there is little to compare.
    """
    nodes.append(Node(f"t{number}", "tanh", (name,)))
    if above_zero:
        nodes.append(Node(f"e{number}", "exp", (f"t{number}",)))
    return nodes[-1].name


def _random(make: Callable[[random.Random], Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 2**32 - 1).map(lambda seed: make(random.Random(seed)))


enas_listings = _random(enas_listing)
darts_listings = _random(darts_listing)
ess_listings = _random(ess_listing)
fenas_listings = _random(fenas_listing)
recipes = _random(recipe)
cells = _random(cell)
supernets = _random(lambda rng: cell(rng, supernets=True))
family_cells = st.one_of(
    enas_listings.map(enas.lower),
    darts_listings.map(darts.lower),
    ess_listings.map(ess.lower),
    fenas_listings.map(fenas.lower),
    recipes.map(nas_bench_nlp.lower),
)
"""Cells of every family."""
