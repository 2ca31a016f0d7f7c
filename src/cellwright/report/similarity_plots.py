"""The picture of NAS-Bench-NLP's Figure 9: word similarity against perplexity, and the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellwright.data.word_pairs import WordPairs
from cellwright.report import drawing
from cellwright.report.metric_axis import axis_label
from cellwright.runs.word_similarity import Row
from cellwright.tasks.language.metric import PERPLEXITY


def draw_similarities(rows: Sequence[Row], sets: Sequence[WordPairs], path: Path) -> None:
    """Write a picture with a part for each set: a point for each run, a line for each baseline.

    As in the paper, Pearson's correlation is across and the perplexity upwards, here that of the
    validation text.

    Raises:
        PlotError: the file's name has another ending, or matplotlib is missing.
    """
    corpora = list(dict.fromkeys(row.model.corpus for row in rows))
    colours = dict(zip(corpora, drawing.colours(len(corpora)), strict=True))

    def draw(figure: Any) -> None:
        parts = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
        for number, (axes, pairs) in enumerate(zip(parts, sets, strict=True)):
            labelled: set[str] = set()
            for row in rows:
                _mark(axes, row, number, colours[row.model.corpus], labelled)
            used = rows[0].found[number].common.pairs
            axes.set_title(drawing.plain(f"{pairs.name}, {used:,} of {len(pairs):,} pairs"))
            axes.set_xlabel("Pearson's correlation with people")
        parts[0].set_ylabel(axis_label(PERPLEXITY, "validation"))
        parts[-1].legend()

    drawing.write_picture(draw, path, (4.4 * len(sets) + 0.6, 3.8))


def _mark(axes: Any, row: Row, number: int, colour: Any, labelled: set[str]) -> None:
    model, value = row.model, row.found[number].common.pearson
    if math.isnan(value):
        return
    label = drawing.plain(model.corpus if model.run else f"SGNS on {model.corpus}")
    own = None if label in labelled else label
    labelled.add(label)
    if model.run is None:
        axes.axvline(value, color=colour, linestyle="--", linewidth=1.2, label=own)
        return
    height = PERPLEXITY.value(model.valid)
    axes.plot([value], [height], "o", color=colour, markersize=5, label=own)
    axes.annotate(
        drawing.plain(model.name), (value, height), xytext=(5, 4), textcoords="offset points",
        fontsize=7.5, color=drawing.GREY,
    )  # fmt: skip
