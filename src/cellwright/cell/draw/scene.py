"""The few things that a picture is made of; each painter knows only these."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

Point = tuple[float, float]

_ROUND = 0.5523
"""How far a Bézier curve's control points lie out to look like a quarter of a circle."""


@dataclass(frozen=True)
class Path:
    """A line or an area: from `start` along lines (1 point) and Bézier curves (3 points)."""

    start: Point
    pieces: tuple[tuple[Point, ...], ...]
    closed: bool = False
    fill: str | None = None
    stroke: str | None = None
    width: float = 1.2
    dash: tuple[float, float] | None = None


@dataclass(frozen=True)
class Text:
    """One line of text; `x`, `y` is the middle (or the left end) of its baseline."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    centred: bool = True


@dataclass(frozen=True)
class Group:
    """What belongs together, with words for it that a viewer may show."""

    title: str
    items: tuple[Path | Text, ...]


@dataclass(frozen=True)
class Scene:
    """A picture, painted in the order of its groups on white."""

    width: float
    height: float
    title: str
    groups: tuple[Group, ...] = field(default=())


def box(
    left: float,
    top: float,
    width: float,
    height: float,
    *,
    left_radius: float = 0.0,
    right_radius: float = 0.0,
    fill: str | None = None,
    stroke: str | None = None,
    line: float = 1.2,
    dash: tuple[float, float] | None = None,
) -> Path:
    """A rectangle whose left and right corners are rounded by different radii."""
    right, bottom = left + width, top + height
    a, b = left_radius, right_radius
    ka, kb = a * (1 - _ROUND), b * (1 - _ROUND)
    pieces: list[tuple[Point, ...]] = [((right - b, top),)]
    if b:
        pieces.append(((right - kb, top), (right, top + kb), (right, top + b)))
    pieces.append(((right, bottom - b),))
    if b:
        pieces.append(((right, bottom - kb), (right - kb, bottom), (right - b, bottom)))
    pieces.append(((left + a, bottom),))
    if a:
        pieces.append(((left + ka, bottom), (left, bottom - ka), (left, bottom - a)))
    pieces.append(((left, top + a),))
    if a:
        pieces.append(((left, top + ka), (left + ka, top), (left + a, top)))
    start = (left + a, top)
    return Path(start, tuple(pieces), True, fill, stroke, line, dash)


def polygon(points: Sequence[Point], *, fill: str | None, stroke: str | None = None) -> Path:
    """A closed area with straight sides."""
    return Path(points[0], tuple((p,) for p in points[1:]), True, fill, stroke)


def lines(segments: Sequence[tuple[Point, Point]], *, stroke: str, width: float) -> list[Path]:
    """Separate straight lines."""
    return [Path(a, ((b,),), stroke=stroke, width=width) for a, b in segments]


# Widths of Helvetica's characters, in thousandths of the size: near enough to every font
# that a viewer may put in its place, and known without opening one.
_WIDTHS = {
    **dict.fromkeys("ijlI'|!.,:;·", 240),
    **dict.fromkeys("ftr()[]{}/- ", 300),
    **dict.fromkeys("cksvxyz_?*", 500),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&Σ", 680),
    **dict.fromkeys("mwM@%", 820),
    "W": 950,
}
_USUAL_WIDTH = 570


# Characters that not every font has, and how they are spelled then.
_SPELLED = str.maketrans({"−": "-", "×": "x", "Σ": "sum ", "σ": "sigma", "θ": "theta", "→": "->"})


def spelled(text: str) -> str:
    """`text` without the mathematical signs that a font may lack."""
    return text.translate(_SPELLED)


def text_width(text: str, size: float) -> float:
    """About how wide a text is, with or without its mathematical signs."""
    return max(sum(_WIDTHS.get(c, _USUAL_WIDTH) for c in way) for way in (text, spelled(text))) * (
        size / 1000
    )


def scaled(item: Path | Text, x: float, y: float, factor: float) -> Path | Text:
    """`item`, made larger or smaller around the point `x`, `y`."""

    def move(point: Point) -> Point:
        return x + (point[0] - x) * factor, y + (point[1] - y) * factor

    if isinstance(item, Text):
        left, base = move((item.x, item.y))
        return replace(item, x=left, y=base, size=item.size * factor)
    pieces = tuple(tuple(map(move, piece)) for piece in item.pieces)
    return replace(item, start=move(item.start), pieces=pieces, width=item.width * factor)


def shortened(text: str, size: float, room: float) -> str:
    """`text`, cut with an ellipsis if it is wider than `room`."""
    if text_width(text, size) <= room:
        return text
    # A longer beginning is never narrower; a name may have any length, so it is not tried out.
    lengths = range(1, len(text) + 1)
    fits = bisect_right(lengths, room, key=lambda count: text_width(text[:count] + "…", size))
    return text[:fits] + "…"
