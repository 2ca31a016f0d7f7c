"""The legend: one entry for each thing that occurs in the picture, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cellwright.cell.draw.diagram import Diagram, Look, Vertex
from cellwright.cell.draw.layout import Box
from cellwright.cell.draw.scene import Group, Path, Text, scaled, text_width
from cellwright.cell.draw.shapes import INK, body, measure
from cellwright.cell.ops import OPS

SIZE = 10.0
SCALE = 0.8
ROW = 29.0
BETWEEN = 20.0
RULE = "#d1d5db"


@dataclass(frozen=True)
class Entry:
    """A sample and its meaning."""

    sample: Vertex
    words: str

    @property
    def box(self) -> Box:
        return measure(self.sample, 1, 0.0)

    @property
    def width(self) -> float:
        return self.box.width * SCALE + 6 + text_width(self.words, SIZE)


@dataclass(frozen=True)
class Rows:
    """Entries broken into rows."""

    rows: tuple[tuple[Entry, ...], ...]
    width: float

    @property
    def height(self) -> float:
        return ROW * len(self.rows)

    def groups(self, left: float, top: float) -> list[Group]:
        """The legend under a thin rule that starts at `left`, `top`."""
        rule = Path((left, top - 6), (((left + self.width, top - 6),),), stroke=RULE, width=0.8)
        groups = [Group("", (rule,))]
        for number, row in enumerate(self.rows):
            x, y = left, top + ROW * (number + 0.5)
            for entry in row:
                wide = entry.box.width * SCALE
                middle = x + wide / 2
                full = body(entry.sample, middle, y, entry.box)
                items = [scaled(item, middle, y, SCALE) for item in full]
                words = Text(x + wide + 6, y + 3.5, entry.words, SIZE, INK, centred=False)
                groups.append(Group("", (*items, words)))
                x += entry.width + BETWEEN
        return groups


def legend_rows(diagram: Diagram, width: float) -> Rows:
    """The legend of a diagram, broken to about `width`."""
    rows: list[list[Entry]] = [[]]
    used = 0.0
    for entry in _entries(diagram):
        if rows[-1] and used + entry.width > width:
            rows.append([])
            used = 0.0
        rows[-1].append(entry)
        used += entry.width + BETWEEN
    ends = [sum(e.width for e in row) + BETWEEN * (len(row) - 1) for row in rows]
    return Rows(tuple(map(tuple, rows)), max(width, *ends))


def _entries(diagram: Diagram) -> Iterator[Entry]:
    vertices = diagram.vertices
    inputs = [v for v in vertices if v.look is Look.INPUT]
    if any(v.state is None and not v.is_history for v in inputs):
        yield Entry(Vertex("", Look.INPUT, ("x(t)",)), "input")
    if any(v.state is not None and not v.is_history for v in inputs):
        yield Entry(Vertex("", Look.INPUT, ("h(t−1)",), state=0), "previous state")
    if any(v.is_history for v in inputs):
        state = None if any(v.is_history and v.state is None for v in inputs) else 0
        label = f"{'x' if state is None else 'h'}(t−k)"
        sample = Vertex("", Look.INPUT, (label,), state=state, is_history=True)
        yield Entry(sample, "k steps ago")
    yield Entry(Vertex("", Look.FINAL, ("h(t)",), state=0), "new state")
    yield Entry(Vertex("", Look.FINAL, ("output",), is_output=True), "output")
    labels = {v.labels[0] for v in vertices if v.look in (Look.LINEAR, Look.DENSE)}
    if "W+b" in labels:
        yield Entry(Vertex("", Look.LINEAR, ("W+b",)), "sum of W·a over all arrows in, plus b")
    if "W" in labels:
        yield Entry(Vertex("", Look.LINEAR, ("W",)), "sum of W·a over all arrows in")
    if "b" in labels:
        yield Entry(Vertex("", Look.LINEAR, ("b",)), "learned vector")
    if any(v.look in (Look.ACTIVATION, Look.DENSE) for v in vertices):
        yield Entry(Vertex("", Look.ACTIVATION, ("f",)), "activation")
    if any(v.look is Look.HIGHWAY for v in vertices):
        words = "highway: z·f(W·s) + (1 − z)·s, z = sigmoid(W·s)"
        roles = {edge.role for edge in diagram.edges}
        if roles & {"s", "s only"}:
            arrows = "all arrows in" + (" but s only" if "s only" in roles else "")
            words = f"highway: z·f(W·a) + (1 − z)·s, z = sigmoid(W·a); a: {arrows}, s: as marked"
        yield Entry(Vertex("", Look.HIGHWAY, ("f",)), words)
    used = {v.op for v in vertices if v.look in (Look.COMBINE, Look.SUPERNET)}
    for op in OPS.values():
        if op.name in used:
            look = Look.COMBINE if op.finished else Look.SUPERNET
            words = op.formula + (", z dashed" if op.name == "blend" else "")
            yield Entry(Vertex("", look, (op.name,), op=op.name), words)
