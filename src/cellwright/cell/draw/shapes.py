"""The shape of each vertex: how large it is and what it is made of.

Kinds of operation differ by shape, inputs and results by colour, so that the picture also
works in grey. The colours are Okabe and Ito's, which colour-blind people can tell apart.
"""

from __future__ import annotations

from cellwright.cell.draw.diagram import Look, Vertex
from cellwright.cell.draw.layout import Box
from cellwright.cell.draw.scene import (
    Path,
    Text,
    box,
    lines,
    polygon,
    shortened,
    text_width,
)

INK = "#222222"
QUIET = "#6b7280"
LINE = "#555b66"
X_HUE = "#0072b2"
OUTPUT_HUE = "#009e73"
STATE_HUES = ("#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d1f", "#7a5195")

LINEAR_FILL = "#e3e8ee"
ACTIVATION_FILL = "#fff4cc"
SUPERNET_FILL = "#ece4f5"

SIZE = 12.0
SMALL = 9.0
HEIGHT = 24.0
CIRCLE = 26.0
WORD_CIRCLE = 34.0
CAPTION = 12.0
HIGHWAY_RIM = 3.0
DASH = (4.0, 3.0)

_STROKES = {"add": "+", "mul": "×", "sub": "−", "div": "/"}


def hue(vertex: Vertex) -> str:
    """The colour of an input or a result."""
    if vertex.state is not None:
        return STATE_HUES[vertex.state % len(STATE_HUES)]
    return OUTPUT_HUE if vertex.look is Look.FINAL else X_HUE


def tint(colour: str, share: float = 0.16) -> str:
    """`colour`, mixed with white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * share):02x}" for part in parts)


def _on(colour: str) -> str:
    """Black or white, whichever can be read on `colour`."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#ffffff" if 0.3 * red + 0.59 * green + 0.11 * blue < 140 else INK


def compartments(vertex: Vertex) -> list[float]:
    """The width of each compartment."""
    if vertex.look is Look.COMBINE:
        return [CIRCLE if vertex.op in _STROKES else WORD_CIRCLE]
    room = {Look.SUPERNET: 26.0, Look.HIGHWAY: 24.0}.get(vertex.look, 15.0)
    least = 34.0 if vertex.look is not Look.LINEAR else 26.0
    return [max(text_width(label, SIZE) + room, least) for label in vertex.labels]


def measure(vertex: Vertex, arrows: int, lead: float) -> Box:
    """The room that a vertex with so many arrows in needs; `lead` is for their labels."""
    spacing = 11.0 if lead else 7.0
    width = sum(compartments(vertex))
    if vertex.look is Look.COMBINE:
        height = width + max(0, arrows - 3) * spacing
        reach = (height - width) / 2 + width * 0.36
    else:
        height = max(HEIGHT, (arrows - 1) * spacing + 10)
        reach = height / 2 - 5
    caption = CAPTION if vertex.caption else 0.0
    return Box(width, height / 2, height / 2 + caption, reach, spacing, lead)


def body(vertex: Vertex, x: float, y: float, room: Box) -> list[Path | Text]:
    """The shape around the centre line's middle `x`, `y`."""
    left, top, height = x - room.width / 2, y - room.above, room.above * 2
    if vertex.look is Look.COMBINE:
        items = _combine(vertex, x, y, left, top, room.width, height)
    elif vertex.look is Look.SUPERNET:
        items = _supernet(vertex, x, y, left, top, room.width, height)
    else:
        items = _compartments(vertex, y, left, top, room.width, height)
    if vertex.caption:
        text = shortened(vertex.caption, SMALL, max(room.width + 16, 40))
        items.append(Text(x, y + room.above + 9, text, SMALL, QUIET))
    return items


def _combine(
    vertex: Vertex, x: float, y: float, left: float, top: float, width: float, height: float
) -> list[Path | Text]:
    radius = width / 2
    items: list[Path | Text] = [
        box(left, top, width, height, left_radius=radius, right_radius=radius,
            fill="#ffffff", stroke=INK, line=1.4)
    ]  # fmt: skip
    arm = 5.5
    segments = {
        "+": [((x - arm, y), (x + arm, y)), ((x, y - arm), (x, y + arm))],
        "×": [((x - 4.5, y - 4.5), (x + 4.5, y + 4.5)), ((x - 4.5, y + 4.5), (x + 4.5, y - 4.5))],
        "−": [((x - arm, y), (x + arm, y))],
        "/": [((x - 3.5, y + arm), (x + 3.5, y - arm))],
    }
    if vertex.op in _STROKES:
        items += lines(segments[_STROKES[vertex.op]], stroke=INK, width=1.6)
    else:
        items.append(Text(x, y + 3.3, vertex.labels[0], 10.0, INK))
    return items


def _supernet(
    vertex: Vertex, x: float, y: float, left: float, top: float, width: float, height: float
) -> list[Path | Text]:
    cut, right, bottom = 8.0, left + width, top + height
    corners = [
        (left + cut, top), (right - cut, top), (right, y),
        (right - cut, bottom), (left + cut, bottom), (left, y),
    ]  # fmt: skip
    shape = polygon(corners, fill=SUPERNET_FILL, stroke=LINE)
    return [shape, Text(x, y + 4, vertex.labels[0], SIZE, INK)]


def _compartments(
    vertex: Vertex, y: float, left: float, top: float, total: float, height: float
) -> list[Path | Text]:
    """Compartments side by side: the first and the last give the shape its ends."""
    items: list[Path | Text] = []
    widths = compartments(vertex)
    widths[-1] += total - sum(widths)
    pill = min(height, HEIGHT) / 2
    for i, (label, width) in enumerate(zip(vertex.labels, widths, strict=True)):
        is_first, is_last = i == 0, i == len(widths) - 1
        fill, stroke, dash, ink, round_ = _paint(vertex, i)
        radius = pill if round_ else 3.0
        items.append(
            box(left, top, width, height,
                left_radius=radius if is_first else 0.0,
                right_radius=radius if is_last else 0.0,
                fill=fill, stroke=stroke, dash=dash)
        )  # fmt: skip
        if vertex.look is Look.HIGHWAY:
            rim = HIGHWAY_RIM
            items.append(
                box(left + rim, top + rim, width - 2 * rim, height - 2 * rim,
                    left_radius=pill - rim, right_radius=pill - rim,
                    fill=ACTIVATION_FILL, stroke=stroke, line=0.9)
            )  # fmt: skip
        items.append(Text(left + width / 2, y + 4, label, SIZE, ink))
        left += width
    return items


def _paint(vertex: Vertex, i: int) -> tuple[str, str, tuple[float, float] | None, str, bool]:
    """Fill, outline, dashes, text colour and roundness of compartment `i`."""
    colour = hue(vertex)
    if vertex.look is Look.INPUT:
        return tint(colour), colour, DASH if vertex.is_history else None, INK, False
    if vertex.look is Look.FINAL:
        if i == 1 or vertex.state is None:
            colour = OUTPUT_HUE
        return colour, colour, None, _on(colour), False
    if vertex.look is Look.HIGHWAY:
        return "#ffffff", LINE, None, INK, True
    if vertex.look is Look.LINEAR or (vertex.look is Look.DENSE and i == 0):
        return LINEAR_FILL, LINE, None, INK, False
    return ACTIVATION_FILL, LINE, None, INK, True
