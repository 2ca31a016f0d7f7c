"""Paints a scene as PNG, with Pillow alone; the same picture as the SVG."""

from __future__ import annotations

import io
import itertools
import math
import unicodedata
from collections.abc import Iterator

from PIL import Image, ImageDraw, ImageFont

from cellwright.cell.cell import Cell
from cellwright.cell.draw.picture import paint
from cellwright.cell.draw.scene import Path, Point, Scene, Text, spelled

FINER = 3
"""Painted so many times larger and then made smaller, since Pillow draws lines with steps."""

MOST_PIXELS = 48_000_000
"""Of the large painting: a huge supernet is painted coarser rather than in gigabytes."""


def render(cell: Cell, *, legend: bool = True, scale: float = 2, fold: bool = True) -> bytes:
    """The picture of a cell as PNG.

    Args:
        cell: what to draw.
        legend: whether to explain below the picture what occurs in it.
        scale: pixels for each unit of the SVG; less for pictures too large to hold.
        fold: whether to draw known motifs as one shape each.
    """
    return write(paint(cell, legend=legend, fold=fold), scale)


def write(scene: Scene, scale: float = 2) -> bytes:
    """A scene as PNG."""
    area = scene.width * scene.height
    scale = min(scale, math.sqrt(MOST_PIXELS / area))
    finer = max(1, min(FINER, int(math.sqrt(MOST_PIXELS / area) / scale)))
    size = math.ceil(scene.width * scale), math.ceil(scene.height * scale)
    image = Image.new("RGB", (size[0] * finer, size[1] * finer), "#ffffff")
    brush = ImageDraw.Draw(image)
    for group in scene.groups:
        for item in group.items:
            if isinstance(item, Path):
                _path(brush, item, scale * finer)
            else:
                _line_of_text(brush, item, scale * finer)
    if finer > 1:
        image = image.reduce(finer)
    target = io.BytesIO()
    image.save(target, "PNG", dpi=(96 * scale, 96 * scale))
    return target.getvalue()


def _path(brush: ImageDraw.ImageDraw, path: Path, scale: float) -> None:
    points = [(x * scale, y * scale) for x, y in _flat(path)]
    if path.fill:
        brush.polygon(points, fill=path.fill)
    if not path.stroke:
        return
    if path.closed:
        points.append(points[0])
    width = max(1, round(path.width * scale))
    runs = [points]
    if path.dash:
        runs = list(_dashes(points, path.dash[0] * scale, path.dash[1] * scale))
    for run in runs:
        if path.closed and not path.dash:
            run = [*run, run[1]]  # past the start once more, so that its corner is joined too
        brush.line(run, fill=path.stroke, width=width, joint="curve")


def _flat(path: Path) -> list[Point]:
    """The path as straight pieces."""
    points = [path.start]
    for piece in path.pieces:
        if len(piece) == 1:
            points.append(piece[0])
            continue
        a, (b, c, d) = points[-1], piece
        steps = max(6, int(math.dist(a, d) / 2))
        for i in range(1, steps + 1):
            t = i / steps
            s = 1 - t
            weights = s**3, 3 * s * s * t, 3 * s * t * t, t**3
            points.append(
                (
                    sum(w * p[0] for w, p in zip(weights, (a, b, c, d), strict=True)),
                    sum(w * p[1] for w, p in zip(weights, (a, b, c, d), strict=True)),
                )
            )
    return [p for i, p in enumerate(points) if i == 0 or p != points[i - 1]]


def _dashes(points: list[Point], on: float, off: float) -> Iterator[list[Point]]:
    """The pieces of a line that a dashed pen draws."""
    run, drawing, left = [points[0]], True, on
    for a, b in itertools.pairwise(points):
        length, done = math.dist(a, b), 0.0
        while length - done > left:
            done += left
            here = (a[0] + (b[0] - a[0]) * done / length, a[1] + (b[1] - a[1]) * done / length)
            if drawing:
                yield [*run, here]
            drawing = not drawing
            left = on if drawing else off
            run = [here]
        left -= length - done
        run.append(b)
    if drawing and len(run) > 1:
        yield run


def _line_of_text(brush: ImageDraw.ImageDraw, text: Text, scale: float) -> None:
    font = ImageFont.load_default(text.size * scale)
    anchor = "ms" if text.centred else "ls"
    place = (text.x * scale, text.y * scale)
    brush.text(place, _plain(text.text), font=font, fill=text.colour, anchor=anchor)


def _plain(text: str) -> str:
    """`text` in the characters that Pillow's own font has."""
    parts = unicodedata.normalize("NFKD", spelled(text))
    kept = (c for c in parts if not unicodedata.combining(c))
    return "".join(c if " " <= c <= "~" or c in "·…" else "?" for c in kept)
