"""ENAS cells (Pham et al. 2018), as ENAS-pairs uses them.

Node 0 is a highway node over x and h(t−1); every later node is a highway node over one
earlier node:

    c = sigmoid(W_c·s_p);  s = c·act(W_h·s_p) + (1 − c)·s_p

The output is the mean of the loose ends, the nodes that feed no other.
"""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.listings._graph import (
    MOST_NODES,
    Builder,
    Structure,
    check_number,
    check_word,
)

OPERATIONS = ("tanh", "relu", "identity", "sigmoid")
"""ENAS' operations, in the order of its codes."""


@dataclass(frozen=True)
class EnasListing:
    """An ENAS cell: the operation of node 0, then predecessor and operation of each later node.

    >>> EnasListing("tanh", ((0, "relu"), (0, "tanh"), (1, "relu"))).loose_ends
    (2, 3)
    """

    first: str
    later: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        check_word(self.first, OPERATIONS, "ENAS node 0")
        if len(self.later) >= MOST_NODES:
            raise CellError(f"an ENAS cell may have at most {MOST_NODES} nodes")
        for number, (predecessor, op) in enumerate(self.later, 1):
            check_number(predecessor, 0, number - 1, f"ENAS node {number}")
            check_word(op, OPERATIONS, f"ENAS node {number}")

    @property
    def loose_ends(self) -> tuple[int, ...]:
        """The nodes that feed no other node."""
        used = {predecessor for predecessor, _ in self.later}
        return tuple(i for i in range(len(self.later) + 1) if i not in used)


def lower(listing: EnasListing, name: str = "", *, keys: bool = False) -> Cell:
    """The listing as a cell.

    With `keys`, the linears name their weights so that all ENAS cells share one bank: a pair
    of matrices `c_3_1`, `h_3_1` for each node 3 and predecessor 1; node 0 has `c_0_x`,
    `c_0_h`, `h_0_x`, `h_0_h`.
    """
    build = Builder()
    values = [highway(build, "0", listing.first, ("x", "h0"), "h0", ("0_x", "0_h") if keys else ())]
    for number, (predecessor, op) in enumerate(listing.later, 1):
        source = values[predecessor]
        bank = (f"{number}_{predecessor}",) if keys else ()
        values.append(highway(build, str(number), op, (source,), source, bank))
    end = build.mean("mean", [values[i] for i in listing.loose_ends])
    return Cell(build.nodes, [end], name=name)


def highway(
    build: Builder,
    tag: str,
    op: str,
    over: tuple[str, ...],
    carry: str,
    bank: tuple[str, ...] = (),
) -> str:
    """Add blend(sigmoid(linear(over)), op(linear(over)), carry); `bank` ends its weights' keys."""
    gate_keys = tuple(f"c_{end}" for end in bank) or None
    new_keys = tuple(f"h_{end}" for end in bank) or None
    gate = build.add(f"gate_{tag}", "sigmoid", build.linear(f"c_{tag}", *over, keys=gate_keys))
    new = build.add(f"new_{tag}", op, build.linear(f"h_{tag}", *over, keys=new_keys))
    return build.add(f"s_{tag}", "blend", gate, new, carry)


def lift(cell: Cell) -> EnasListing:
    """The listing of a cell that has an ENAS cell's structure."""
    graph = Structure(cell, "an ENAS cell")
    numbers: dict[str, int] = {}
    first = None
    later: list[tuple[int, str]] = []
    for node in cell.nodes:
        if node.op != "blend":
            continue
        found = graph.highway(node)
        if sorted(found.over) == ["h0", "x"] and found.carry == "h0":
            if first is not None:
                raise graph.misfit(node.name, "it is a second node over x and h0")
            first = found.op
            numbers[node.name] = 0
        elif found.over == (found.carry,) and found.carry in numbers:
            later.append((numbers[found.carry], found.op))
            numbers[node.name] = len(later)
        else:
            raise graph.misfit(node.name, "a highway node reads one earlier highway node")
    if first is None:
        raise graph.misfit(cell.nodes[0].name, "it has no highway node over x and h0")
    ends = graph.averaged()
    graph.all_claimed()
    listing = EnasListing(first, tuple(later))
    by_number = {number: name for name, number in numbers.items()}
    expected = {by_number[i] for i in listing.loose_ends}
    for name in ends:
        if name not in expected:
            raise graph.misfit(cell.output, f"it averages {name!r}, which feeds another node")
    for name in expected:
        if name not in ends:
            raise graph.misfit(name, "it feeds no other node, so the output must average it")
    graph.same(lower(listing))
    return listing
