"""Pictures of studies: all trials as dots, the best so far as a line, by trials and by time.

matplotlib draws them and is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from cellwright.report import drawing
from cellwright.report.drawing import PlotError
from cellwright.tasks.language.metric import perplexity
from cellwright.trials.store import Store, Study
from cellwright.trials.store.tables import trials
from cellwright.trials.store.trials import FAILED, FINISHED

Numbers = NDArray[np.float64]

MOST_DOTS = 3000
"""More dots than this are drawn as an image within an SVG, which would be very large otherwise."""

FAR = 1.5
"""Trials that are so many times worse than the median are not what the picture is about."""


@dataclass(frozen=True)
class Series:
    """What is drawn of a study.

    Args:
        label: for the legend.
        values: of the trials that ended, in the order of ending; NaN where there is none.
        seconds: what these have trained together up to each, this one included.
    """

    label: str
    values: Numbers
    seconds: Numbers

    @property
    def best(self) -> Numbers:
        """The lowest value so far; NaN before there is one."""
        low = np.fmin.accumulate(self.values)
        return np.asarray(low, dtype=np.float64)


def read_series(store: Store, study: Study, label: str) -> Series:
    """The values and the cost of a study's trials."""
    query = (
        select(trials.c.value, trials.c.status, trials.c.cost)
        .where(trials.c.study_id == study.id, trials.c.state.in_((FINISHED, FAILED)))
        .order_by(trials.c.ended_at, trials.c.number)
    )
    rows = store.read(lambda connection: connection.execute(query).all())
    values = [math.nan if r.status != "ok" or r.value is None else r.value for r in rows]
    seconds = [r.cost or 0.0 for r in rows]
    return Series(label, np.array(values, dtype=np.float64), np.cumsum(seconds, dtype=np.float64))


def draw_studies(
    series: Sequence[Series], path: Path, *, perplexities: bool = True, title: str = ""
) -> None:
    """Draw studies into a file: the best value against trials, and against training time.

    The same trials give the same bytes.

    Args:
        series: the studies; the first has the first colour.
        path: the file; its ending says whether it is SVG or PNG.
        perplexities: whether values are nats per word, and perplexities are drawn.
        title: above the picture.

    Raises:
        PlotError: there is nothing to draw, the ending is another one, or matplotlib is missing.
        RunError: the file cannot be written.
    """
    drawn = [each for each in series if np.isfinite(each.values).any()]
    drawing.picture_kind(path)
    if not drawn:
        raise PlotError("there is nothing to draw: no trial has a value yet")

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        longest = max(float(each.seconds[-1]) for each in drawn)
        scale, unit = drawing.time_unit(longest)
        for each, colour in zip(drawn, drawing.colours(len(drawn)), strict=True):
            heights = _heights(each.values, perplexities)
            best = _heights(each.best, perplexities)
            numbers = np.arange(1, len(heights) + 1, dtype=np.float64)
            for axes, places in ((left, numbers), (right, each.seconds / scale)):
                _draw(axes, places, heights, best, colour, _label(each, perplexities))
        left.set_xlabel("trials that have ended")
        right.set_xlabel(f"training time of all trials together in {unit}")
        left.set_ylabel("validation perplexity" if perplexities else "value")
        _limits(left, drawn, perplexities)
        left.set_title(drawing.plain(title))
        right.legend(loc="upper right")

    drawing.write_picture(draw, path, (10.2, 4.2))


def _draw(
    axes: Any, places: Numbers, heights: Numbers, best: Numbers, colour: Any, label: str
) -> None:
    axes.plot(
        places, heights, linestyle="", marker="o", markersize=3, markeredgewidth=0, alpha=0.35,
        color=colour, rasterized=len(places) > MOST_DOTS,
    )  # fmt: skip
    axes.step(places, best, where="post", color=colour, linewidth=1.8, label=label)


def _heights(values: Numbers, perplexities: bool) -> Numbers:
    if not perplexities:
        return values
    return np.array([perplexity(value) for value in values], dtype=np.float64)


def _label(each: Series, perplexities: bool) -> str:
    best = float(np.nanmin(each.values))
    shown = f"{perplexity(best):.1f}" if perplexities else f"{best:.6g}"
    return drawing.plain(f"{each.label}: {shown} after {len(each.values):,} trials")


def _limits(axes: Any, drawn: Sequence[Series], perplexities: bool) -> None:
    """Leave out far worse trials, of which there are always some, so that the rest can be seen."""
    if not perplexities:
        return
    found = np.concatenate([_heights(each.values, True) for each in drawn])
    found = found[np.isfinite(found)]
    low, top = float(found.min()), FAR * float(np.median(found))
    firsts = [_heights(each.best, True) for each in drawn]
    starts = [float(best[np.isfinite(best)][0]) for best in firsts]
    top = min(float(found.max()), max(top, *starts))
    room = 0.05 * max(top - low, 1e-9)
    axes.set_ylim(low - room, top + room)
