"""Paints a scene as SVG: one self-contained file, no scripts, no fonts of its own."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from cellwright.cell.cell import Cell
from cellwright.cell.draw.picture import paint
from cellwright.cell.draw.scene import Path, Point, Scene, Text, text_width

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(cell: Cell, *, legend: bool = True, fold: bool = True) -> str:
    """The picture of a cell as SVG.

    Args:
        cell: what to draw.
        legend: whether to explain below the picture what occurs in it.
        fold: whether to draw known motifs (a linear and its activation, a highway) as one
            shape each.
    """
    return write(paint(cell, legend=legend, fold=fold))


def write(scene: Scene) -> str:
    """A scene as SVG."""
    width, height = _number(scene.width), _number(scene.height)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">'
    ]
    if scene.title:
        out.append(f"<title>{_text(scene.title)}</title>")
    out.append(f'<rect width="{width}" height="{height}" fill="#ffffff"/>')
    for group in scene.groups:
        out.append("<g>")
        if group.title:
            out.append(f"<title>{_text(group.title)}</title>")
        out.extend(_path(i) if isinstance(i, Path) else _line_of_text(i) for i in group.items)
        out.append("</g>")
    out.append("</svg>\n")
    return "\n".join(out)


def _path(path: Path) -> str:
    commands = [f"M{_points((path.start,))}"]
    commands += [("L" if len(piece) == 1 else "C") + _points(piece) for piece in path.pieces]
    if path.closed:
        commands.append("Z")
    style = f'fill="{path.fill or "none"}"'
    if path.stroke:
        style += f' stroke="{path.stroke}" stroke-width="{_number(path.width)}"'
    if path.dash:
        style += f' stroke-dasharray="{" ".join(map(_number, path.dash))}"'
    return f'<path d="{"".join(commands)}" {style}/>'


def _line_of_text(text: Text) -> str:
    # Whoever looks may lack the fonts, and others are wider: what stands beside other things is
    # fitted into the room that it has.
    room = _number(text_width(text.text, text.size))
    fitted = f' textLength="{room}" lengthAdjust="spacingAndGlyphs"'
    place = ' text-anchor="middle"' if text.centred else fitted
    return (
        f'<text x="{_number(text.x)}" y="{_number(text.y)}" font-size="{_number(text.size)}" '
        f'fill="{text.colour}"{place}>{_text(text.text)}</text>'
    )


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    """`text` with everything escaped that XML reads, and without what XML forbids."""
    return escape(_NOT_XML.sub("\ufffd", text))
