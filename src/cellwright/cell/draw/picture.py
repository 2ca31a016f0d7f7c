"""From a cell to a scene: diagram, layout, shapes, edges, title and legend put together."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cellwright.cell.cell import Cell
from cellwright.cell.draw import formulas
from cellwright.cell.draw.diagram import Diagram, Edge, Look, Vertex, diagram
from cellwright.cell.draw.layout import ARROW, Box, Layout, layout
from cellwright.cell.draw.legend import legend_rows
from cellwright.cell.draw.scene import (
    Group,
    Path,
    Point,
    Scene,
    Text,
    polygon,
    shortened,
    text_width,
)
from cellwright.cell.draw.shapes import DASH, LINE, QUIET, body, hue, measure

MARGIN = 14.0
TITLE_HEIGHT = 20.0
TITLE_SIZE = 11.0
ROLE_SIZE = 9.0
LEAST_WIDTH = 340.0


@dataclass(frozen=True)
class Picture:
    """A diagram with its layout: everything but the paint."""

    diagram: Diagram
    boxes: tuple[Box, ...]
    layout: Layout


def arrange(cell: Cell, *, fold: bool = True) -> Picture:
    """Decide what is shown and where."""
    shown = diagram(cell, fold=fold)
    number = {vertex.key: i for i, vertex in enumerate(shown.vertices)}
    arrows: dict[str, list[str]] = defaultdict(list)
    for edge in shown.edges:
        arrows[edge.target].append(edge.role)
    boxes = []
    for vertex in shown.vertices:
        roles = arrows[vertex.key]
        lead = max((text_width(role, ROLE_SIZE) + 4 for role in roles if role), default=0.0)
        boxes.append(measure(vertex, len(roles), lead))
    boxes = _evened(shown.vertices, boxes)
    placed = layout(
        boxes,
        [(number[edge.source], number[edge.target]) for edge in shown.edges],
        [i for i, vertex in enumerate(shown.vertices) if vertex.look is Look.INPUT],
        [i for i, vertex in enumerate(shown.vertices) if vertex.look is Look.FINAL],
        [_pen(edge) for edge in shown.edges],
    )
    return Picture(shown, tuple(boxes), placed)


def _evened(vertices: Sequence[Vertex], boxes: list[Box]) -> list[Box]:
    """All inputs as wide as the widest, so that their edges start in one line."""
    wide = max((b.width for v, b in zip(vertices, boxes, strict=True) if v.look is Look.INPUT),
               default=0.0)  # fmt: skip
    return [
        replace(box, width=wide) if vertex.look is Look.INPUT else box
        for vertex, box in zip(vertices, boxes, strict=True)
    ]


def _pen(edge: Edge) -> str:
    """Which edges may share a line: a gate's are dashed, the others are not."""
    return "dashed" if edge.role == "z" else ""


def paint(cell: Cell, *, legend: bool = True, fold: bool = True) -> Scene:
    """The whole picture of a cell."""
    picture = arrange(cell, fold=fold)
    placed = picture.layout
    title = " ".join(cell.name.split())
    rows = legend_rows(picture.diagram, max(placed.width, LEAST_WIDTH)) if legend else None
    inner = max(placed.width, rows.width if rows else 0.0)
    dx = MARGIN + (inner - placed.width) / 2
    dy = MARGIN + (TITLE_HEIGHT if title else 0.0)
    vertices = {vertex.key: i for i, vertex in enumerate(picture.diagram.vertices)}
    groups = []
    if title:
        text = shortened(title, TITLE_SIZE, inner)
        line = Text(MARGIN, MARGIN + TITLE_SIZE - 2, text, TITLE_SIZE, QUIET, centred=False)
        groups.append(Group("", (line,)))
    drawn: set[tuple[Point, Point, str]] = set()
    for number, edge in enumerate(picture.diagram.edges):
        ends = vertices[edge.source], vertices[edge.target]
        groups.append(_edge(picture, number, *ends, (dx, dy), drawn))
    for vertex, box, (x, y) in zip(
        picture.diagram.vertices, picture.boxes, placed.centres, strict=True
    ):
        words = _title(cell, vertex)
        groups.append(Group(words, tuple(body(vertex, x + dx, y + dy, box))))
    height = dy + placed.height + MARGIN
    if rows is not None:
        groups += rows.groups(MARGIN, height + 4)
        height += rows.height + MARGIN
    return Scene(inner + 2 * MARGIN, height, title, tuple(groups))


def _title(cell: Cell, vertex: Vertex) -> str:
    if vertex.covers:
        return "\n".join(formulas.definition(cell.node(name)) for name in vertex.covers)
    if vertex.look is Look.INPUT:
        return formulas.input_in_words(vertex.key)
    return vertex.key


def _edge(
    picture: Picture,
    number: int,
    source: int,
    target: int,
    shift: Point,
    drawn: set[tuple[Point, Point, str]],
) -> Group:
    """One edge; what it shares with an edge that is already in `drawn` is left out."""
    edge = picture.diagram.edges[number]
    points = [(x + shift[0], y + shift[1]) for x, y in picture.layout.routes[number].points]
    origin, vertex = picture.diagram.vertices[source], picture.diagram.vertices[target]
    colour = hue(origin) if origin.look is Look.INPUT else LINE
    touch, y = points[-1]
    off = y - shift[1] - picture.layout.centres[target][1]
    tip = touch + _inset(vertex, picture.boxes[target], off)
    points[-1] = (tip - ARROW + 1, y)
    begin = 0
    while begin < len(points) - 2 and (points[begin], points[begin + 1], _pen(edge)) in drawn:
        begin += 1
    drawn.update((a, b, _pen(edge)) for a, b in itertools.pairwise(points))
    pieces: list[tuple[Point, ...]] = []
    for i in range(begin, len(points) - 1):
        (ax, ay), (bx, by) = points[i], points[i + 1]
        if i % 2 == 0 or abs(ay - by) < 0.01:
            pieces.append(((bx, by),))
        else:
            middle = (ax + bx) / 2
            pieces.append(((middle, ay), (middle, by), (bx, by)))
    dash = DASH if edge.role == "z" else None
    line = Path(points[begin], tuple(pieces), stroke=colour, width=1.3, dash=dash)
    head = polygon([(tip, y), (tip - ARROW, y - 3.4), (tip - ARROW, y + 3.4)], fill=colour)
    return Group("", (line, head, *_role(edge.role, touch - ARROW, y, colour)))


def _role(role: str, right: float, y: float, colour: str) -> list[Path | Text]:
    """What is written beside an arrow head; the minus is drawn, since fonts make it too faint."""
    if not role:
        return []
    x = right - text_width(role, ROLE_SIZE) / 2 - 1
    if role == "−":
        return [Path((x - 3.5, y - 5), (((x + 3.5, y - 5),),), stroke=colour, width=1.6)]
    return [Text(x, y - 2.5, role, ROLE_SIZE, colour)]


def _inset(vertex: Vertex, box: Box, dy: float) -> float:
    """How far inside its box a round or pointed shape begins, `dy` off the centre line."""
    if vertex.look is Look.COMBINE:
        radius = box.width / 2
        beyond = max(0.0, abs(dy) - (box.above - radius))
        return radius - math.sqrt(max(0.0, radius**2 - beyond**2))
    if vertex.look is Look.SUPERNET:
        return 8.0 * abs(dy) / box.above
    if vertex.look in (Look.ACTIVATION, Look.HIGHWAY):
        radius = min(box.above, 12.0)
        beyond = max(0.0, abs(dy) - (box.above - radius))
        return radius - math.sqrt(max(0.0, radius**2 - beyond**2))
    return 0.0
