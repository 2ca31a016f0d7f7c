"""The picture of NAS-Bench-NLP's Figure 9: word similarity against perplexity, and the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellwright.data.word_pairs import WordPairs
from cellwright.report import drawing, paper
from cellwright.report.metric_axis import axis_label
from cellwright.runs.word_similarity import Row
from cellwright.tasks.language.metric import PERPLEXITY


def draw_similarities(
    rows: Sequence[Row], sets: Sequence[WordPairs], path: Path, *, width: float | None = None
) -> None:
    """Write a picture with a part for each set: a point for each run, a line for each baseline.

    As in the paper, Pearson's correlation is across and the perplexity upwards, here that of the
    validation text.

    Args:
        rows: the models.
        sets: of word pairs.
        path: the file; its ending says its format.
        width: in inches, for a paper.

    Raises:
        PlotError: matplotlib is missing.
        UserError: the file's name has another ending, or it cannot be written.
    """
    corpora = list(dict.fromkeys(row.model.corpus for row in rows))
    looks = dict(zip(corpora, drawing.looks(len(corpora)), strict=True))

    def draw(figure: Any) -> None:
        parts = paper.parts(figure, len(sets), sharey=True)
        for number, (axes, pairs) in enumerate(zip(parts, sets, strict=True)):
            labelled: set[str] = set()
            for row in rows:
                _mark(axes, row, number, looks[row.model.corpus], labelled)
            used = rows[0].found[number].common.pairs
            axes.set_title(drawing.plain(f"{pairs.name}, {used:,} of {len(pairs):,} pairs"))
            axes.set_xlabel("Pearson's correlation with people")
        for axes in parts if paper.is_narrow(figure) else parts[:1]:
            axes.set_ylabel(axis_label(PERPLEXITY, "validation"))
        paper.legend_inside(figure, parts[-1])

    shape = paper.Shape(4.4 * len(sets) + 0.6, 3.8, across=len(sets))
    drawing.write_picture(draw, path, shape, width=width)


def _mark(axes: Any, row: Row, number: int, look: dict[str, Any], labelled: set[str]) -> None:
    model, value = row.model, row.found[number].common.pearson
    if math.isnan(value):
        return
    label = drawing.plain(model.corpus if model.run else f"SGNS on {model.corpus}")
    own = None if label in labelled else label
    labelled.add(label)
    if model.run is None:
        axes.axvline(value, color=look["color"], linestyle="--", linewidth=1.2, label=own)
        return
    height = PERPLEXITY.value(model.valid)
    style = {"color": look["color"], "marker": look["marker"], "linestyle": ""}
    axes.plot([value], [height], markersize=5, label=own, **style)
    axes.annotate(
        drawing.plain(model.name), (value, height), xytext=(5, 4), textcoords="offset points",
        fontsize="small", color=drawing.GREY,
    )  # fmt: skip
