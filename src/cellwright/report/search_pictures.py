"""Pictures of a search: how it went, and how its cell settled."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.base.files import make_inside, write_whole
from cellwright.cell import Cell
from cellwright.report import drawing
from cellwright.report.metric_axis import (
    axis_label,
    height,
    scale_axis,
    training_axis,
    training_height,
)
from cellwright.report.paper import Shape
from cellwright.runs.cell_file import write_cell
from cellwright.search.one_shot.cells import listed_cell
from cellwright.search.one_shot.epochs import epochs_of
from cellwright.tasks.metric import Metric

if TYPE_CHECKING:
    from cellwright.search.one_shot.folder import SeedFolder

MOST_FRAMES = 100
"""Of the animation: a longer search shows some of its epochs."""

MOST_LABELS = 30
"""Epochs up to which the strip has words in its fields."""

_FRAME_WIDTH = 900
_FRAME_MILLISECONDS, _LAST_MILLISECONDS = 400, 3000

_OPERATIONS = ("tanh", "relu", "sigmoid", "identity", "none", "drop")
_TINTS = dict(
    zip(
        _OPERATIONS, ("#7fb8dd", "#f0a878", "#80cdb5", "#d9d9d9", "#ffffff", "#ffffff"), strict=True
    )
)


def draw_search(folder: SeedFolder) -> list[Path]:
    """Draw all pictures of a search that has ended into its folder, and write the cell of each
    epoch; the files.

    Raises:
        PlotError: matplotlib is missing. The cells and their animation are there even so.
        RunError: the metrics are damaged.
    """
    files = [_draw_cell(folder)]
    epochs = epochs_of(folder)
    if not epochs:
        return files
    cells = write_cells(folder, epochs)
    files.append(_animate(cells, folder.path / "evolution.gif"))
    metric = folder.info.metric
    for name, draw, size in (
        ("progress.svg", lambda figure: draw_progress(figure, epochs, metric), (7.2, 5.4)),
        ("evolution.svg", lambda figure: draw_evolution(figure, epochs), _strip_size(epochs)),
    ):
        path = folder.path / name
        drawing.write_picture(draw, path, Shape(*size))
        files.append(path)
    return files


# -- how it went -------------------------------------------------------------------------------


def draw_progress(figure: Any, epochs: Sequence[Mapping[str, Any]], metric: Metric) -> None:
    """The metric, and how far the architecture has decided (ESS Figure 6)."""
    numbers = [record["epoch"] for record in epochs]
    above, below = figure.subplots(2, 1, sharex=True)
    of_training = training_axis(above, metric)
    lines, heights = [], []
    for place, (name, label, style, axes, drawn) in enumerate(
        (
            ("train", "training data", "dashed", of_training, training_height),
            ("architecture", "data of the architecture", "dotted", of_training, training_height),
            ("valid", "validation data", "solid", above, height),
        )
    ):
        if all(record.get(name) is None for record in epochs):
            continue
        values = [drawn(metric, record.get(name)) for record in epochs]
        heights += values
        lines += axes.plot(
            numbers, values, linestyle=style, color=drawing.COLOURS[place], marker="o",
            markersize=2.5, label=label,
        )  # fmt: skip
    scale_axis(above, metric, heights)
    above.set_ylabel(axis_label(metric))
    above.legend(handles=lines)
    _draw_decision(figure, below, numbers, epochs)
    below.set_xlabel("epoch of the search")
    whole = drawing.matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1)
    below.xaxis.set_major_locator(whole)


def _draw_decision(
    figure: Any, axes: Any, numbers: Sequence[int], epochs: Sequence[Mapping[str, Any]]
) -> None:
    """What a search watches beside its losses: MAD and entropy, or those of a policy."""
    watched = [record.get("watched") or _of_policy(record) for record in epochs]
    names = [name for name in watched[0] if name not in ("entropy", "mad") or len(watched[0]) <= 2]
    second = axes.twinx()
    second.grid(False)
    second.spines["right"].set_visible(True)
    lines = []
    for place, name in enumerate(names):
        is_entropy = name.endswith("entropy")
        target = second if is_entropy else axes
        lines += target.plot(
            numbers,
            [values[name] for values in watched],
            color=drawing.COLOURS[place % len(drawing.COLOURS)],
            linestyle="dashed" if is_entropy else "solid",
            marker="o",
            markersize=2.5,
            label=name.replace("_mad", " deviation").replace("_", " "),
        )
    axes.set_ylabel("reward" if "reward" in names else "mean absolute deviation")
    second.set_ylabel("entropy in nats (dashed)")
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines))


def _of_policy(record: Mapping[str, Any]) -> dict[str, float]:
    return {name: record[name] for name in ("reward", "entropy") if record.get(name) is not None}


# -- how the cell settled ----------------------------------------------------------------------


def draw_evolution(figure: Any, epochs: Sequence[Mapping[str, Any]]) -> None:
    """A strip: what each node of the cell was after each epoch, a column each."""
    columns = [choices_of(record["listing"]) for record in epochs]
    rows = list(dict.fromkeys(row for column in columns for row in column))
    axes = figure.add_subplot()
    axes.grid(False)
    rectangle = drawing.matplotlib("patches").Rectangle
    for x, column in enumerate(columns):
        for y, row in enumerate(rows):
            text = column.get(row, "")
            if not text:
                continue
            op = text.rstrip("0123456789 ").split()[0].rstrip("0123456789")
            tint = _TINTS.get(op, "#eeeeee")
            corner = (x - 0.5, y - 0.5)
            axes.add_patch(
                rectangle(corner, 1, 1, facecolor=tint, edgecolor="white", linewidth=1.5)
            )
            changed = x > 0 and columns[x - 1].get(row) != text
            if len(columns) <= MOST_LABELS or changed or x == len(columns) - 1:
                weight = "bold" if changed else "normal"
                shown = text.replace("identity", "ident").replace("sigmoid", "sigm")
                axes.text(x, y, shown, ha="center", va="center", fontsize=7, weight=weight)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), rows)
    every = max(1, len(columns) // 25)
    axes.set_xticks(range(0, len(columns), every), [r["epoch"] for r in epochs][::every])
    axes.set_xlabel("epoch (bold: changed)")
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def choices_of(listing: Mapping[str, Any]) -> dict[str, str]:
    """What a listing chooses, row by row, as `tanh2`: the operation and the predecessor.

    >>> choices_of({"nodes": [[["relu", 0]], [["tanh", 0], ["relu", 1]]], "concat": [1, 2]})
    {'node 1': 'relu0', 'node 2': 'tanh0 relu1'}
    """
    if "first" in listing:  # ENAS'
        later = enumerate(listing["later"], 1)
        return {"node 0": listing["first"], **{f"node {n}": f"{op}{p}" for n, (p, op) in later}}
    intra = listing.get("intra", listing)
    rows = {}
    for gate in ("f", "g"):
        if (alpha := listing.get(f"{gate}_alpha")) is not None:
            rows[f"{gate} gate, α"] = str(alpha)
        for back, op in enumerate(listing.get(f"{gate}_gate") or (), 1):
            read = "x" if gate == "f" else "h"
            rows[f"{'ĥ' if gate == 'f' else 'x̂'} gate, {read}(t−{back})"] = str(op)
    for number, edges in enumerate(intra.get("nodes", ()), 1):
        rows[f"node {number}"] = " ".join(f"{op}{source}" for op, source in edges)
    return rows


def _strip_size(epochs: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    rows = len(choices_of(epochs[-1]["listing"]))
    width = 0.62 if len(epochs) <= MOST_LABELS else 0.25
    return (max(4.5, 1.8 + width * len(epochs)), 0.9 + 0.32 * rows)


# -- cells -------------------------------------------------------------------------------------


def _draw_cell(folder: SeedFolder) -> Path:
    path = folder.path / "cell.svg"
    folder.cell().draw(str(path))
    return path


def write_cells(folder: SeedFolder, epochs: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """The cell after each epoch, each also as a file in `cells/`."""
    target = folder.path / "cells"
    make_inside(target)
    cells = []
    for record in epochs:
        cell = listed_cell(record["listing"], f"epoch {record['epoch']}")
        write_cell(target / f"epoch-{record['epoch']:03}.json", cell)
        cells.append(cell)
    return cells


def _animate(cells: Sequence[Cell], path: Path) -> Path:
    """An animation of the cells, each drawn as wide as all others."""
    from PIL import Image

    from cellwright.cell.draw import png

    every = -(-len(cells) // MOST_FRAMES)
    shown = [*cells[:-1:every], cells[-1]]
    drawn: dict[str, Image.Image] = {}
    for cell in shown:
        if cell.id not in drawn:
            painted = Image.open(io.BytesIO(png.render(cell, legend=False, scale=1)))
            painted.thumbnail((_FRAME_WIDTH, _FRAME_WIDTH))
            drawn[cell.id] = painted.convert("RGB")
    width = max(image.width for image in drawn.values())
    height = max(image.height for image in drawn.values())
    frames = []
    for cell in shown:
        frame = Image.new("RGB", (width, height), "white")
        image = drawn[cell.id]
        frame.paste(image, ((width - image.width) // 2, (height - image.height) // 2))
        frames.append(frame.quantize(64))
    times = [_FRAME_MILLISECONDS] * (len(frames) - 1) + [_LAST_MILLISECONDS]
    stream = io.BytesIO()
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)
    write_whole(path, stream.getvalue())
    return path
