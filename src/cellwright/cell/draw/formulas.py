"""Operations as formulas, for the text drawing and for the words behind a picture's shapes."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.cell.cell import Node
from cellwright.cell.names import parse_input
from cellwright.cell.ops import Kind


def affine(linears: Sequence[Node]) -> str:
    """A linear, or a sum of linears, as a formula; named weights are spelled out."""
    plain = [name for linear in linears if linear.keys is None for name in linear.inputs]
    terms = [f"W[{', '.join(plain)}]"] if plain else []
    for linear in linears:
        if linear.keys is not None:
            terms += [f"{k}·{i}" for k, i in zip(linear.keys, linear.inputs, strict=True)]
    if any(linear.bias for linear in linears):
        terms.append("b")
    return " + ".join(terms)


def operation(node: Node) -> str:
    """The right-hand side of a node's definition."""
    names = node.inputs
    if node.spec.kind is Kind.LINEAR:
        return affine((node,))
    if node.op == "add":
        return " + ".join(names)
    if node.op == "mul":
        return " · ".join(names)
    if node.op == "sub":
        return f"{names[0]} − {names[1]}"
    if node.op == "div":
        return f"{names[0]} / {names[1]}"
    if node.op == "blend":
        z, a, b = names
        return f"{z}·{a} + (1 − {z})·{b}"
    if node.op == "mix":
        return f"Σ θ[{node.theta_name}]·({', '.join(names)})"
    return f"{node.op}({', '.join(names)})"


def width_note(linears: Sequence[Node]) -> str:
    """Words for a linear that is as wide as x, else nothing."""
    return "as wide as x" if any(linear.width == "input" for linear in linears) else ""


def definition(node: Node) -> str:
    """A node as one line: its name, its formula, and what else it says about itself."""
    note = width_note((node,))
    return f"{node.name} = {operation(node)}" + (f"  ({note})" if note else "")


def input_in_words(name: str) -> str:
    """What an input is.

    >>> input_in_words("h0@3")
    'h0, 3 steps ago'
    """
    known = parse_input(name)
    assert known is not None
    symbol = "x" if known.state is None else f"h{known.state}"
    if known.back == 0:
        return f"{symbol}, the input"
    if known.back == 1:
        return f"{symbol}, {'the previous state' if known.state is not None else '1 step ago'}"
    return f"{symbol}, {known.back} steps ago"
