"""What cells are worth that were found in smaller and larger spaces (ESS, Figure 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cellwright.base.files import write_whole
from cellwright.base.statistics import Spread
from cellwright.compare.results import named
from cellwright.compare.sensitivity.figures import Figures
from cellwright.compare.sensitivity.grid import Axis
from cellwright.report import drawing, paper
from cellwright.report.comparison.words import mean_text
from cellwright.report.drawing import PlotError
from cellwright.report.metric_axis import axis_label, scale_axis
from cellwright.report.page import Page

PICTURE = "sensitivity.svg"

FOUND, DRAWN = "found by the search", "drawn at random"

_SHIFT = 0.06
"""How far beside its value the random cells are drawn, so that no spread hides another; of the
smallest step of an axis."""


def sensitivity(found: Figures, kind: str = "svg", width: float | None = None) -> bytes | None:
    """The validation metric against each setting that was varied, a part for each.

    Points are means, and bars the sample standard deviation: over the seeds of what was found, and
    over the cells of those drawn at random. The recipe's own setting has a ring, and cells from
    elsewhere are level lines. None if no point has a result.

    Raises:
        PlotError: matplotlib is missing.
    """
    if all(found.best(axis) is None for axis in found.grid.axes):
        return None
    across = len(found.grid.axes)

    def draw(figure: Any) -> None:
        parts = paper.parts(figure, across, sharey=True)
        heights: list[float] = []
        legend: dict[str, Any] = {}
        for axes, axis in zip(parts, found.grid.axes, strict=True):
            heights += _draw_part(axes, found, axis, legend)
        label = axis_label(found.plan.metric, "validation")
        for place, axes in enumerate(parts):
            scale_axis(axes, found.plan.metric, heights)
            if place == 0 or paper.is_narrow(figure):
                axes.set_ylabel(label)
        paper.legend_outside(figure, handles=list(legend.values()))

    shape = paper.Shape(1.6 + 3.6 * across, 4.2, across)
    return drawing.picture(draw, kind, shape, width=width)


def _draw_part(axes: Any, found: Figures, axis: Axis, legend: dict[str, Any]) -> list[float]:
    """One setting; the heights that were drawn. What is new in it goes into the legend."""
    look, drawn_look, *others = drawing.looks(2 + len(found.against))
    points = found.along(axis)
    spreads = [one.found.valid for _, one in points]
    legend[FOUND], heights = _draw_series(axes, axis.values, spreads, look, FOUND)
    if any(one.random for _, one in points):
        steps = [b - a for a, b in zip(axis.values, axis.values[1:], strict=False)]
        places = [value + _SHIFT * min(steps, default=1) for value in axis.values]
        count = len(points[0][1].random)
        label = f"{DRAWN} ({count} {'cell' if count == 1 else 'cells'})"
        spreads = [one.random_valid for _, one in points]
        thin = {**drawn_look, "linewidth": 1.0}
        legend[DRAWN], drawn = _draw_series(axes, places, spreads, thin, label)
        heights += drawn
    own = dict(found.grid.base.counts)[axis.setting]
    at_base = found.points[found.grid.base.label].found.valid
    if at_base is not None:
        [legend["base"]] = axes.plot(
            [own], [at_base.mean], linestyle="none", marker="o", markersize=12,
            markerfacecolor="none", markeredgecolor=drawing.GREY, markeredgewidth=1.3,
            label=f"as {drawing.plain(found.grid.recipe.name)} has it",
        )  # fmt: skip
    for one, other in zip(found.against, others, strict=True):
        if one.valid is not None:
            heights.append(one.valid.mean)
            legend[one.label] = axes.axhline(
                one.valid.mean, color=other["color"], linestyle="--", linewidth=1.3,
                label=drawing.plain(one.label),
            )  # fmt: skip
    fixed = [f"{name} = {value}" for name, value in found.grid.base.counts if name != axis.setting]
    if fixed:
        axes.set_title(", ".join(fixed), fontsize="medium")
    axes.set_xlabel(paper.broken(_described(found, axis), 36))
    axes.set_xticks(
        axis.values if len(axis.values) <= 12 else axis.values[:: len(axis.values) // 8]
    )
    axes.margins(x=0.09)
    return [value for value in heights if math.isfinite(value)]


def _draw_series(
    axes: Any,
    places: Sequence[float],
    spreads: Sequence[Spread | None],
    look: dict[str, Any],
    label: str,
) -> tuple[Any, list[float]]:
    """Means with their spreads; what stands for them in a legend, and the heights."""
    means = [math.nan if spread is None else spread.mean for spread in spreads]
    errors = [0.0 if spread is None else spread.deviation or 0.0 for spread in spreads]
    style = {"linewidth": 1.9, "markersize": 5, **look}
    drawn = axes.errorbar(
        places, means, yerr=errors, capsize=3, elinewidth=1.1, label=label, **style
    )
    ends = [(mean - error, mean + error) for mean, error in zip(means, errors, strict=True)]
    return drawn, [end for pair in ends for end in pair]


def _described(found: Figures, axis: Axis) -> str:
    """What stands at the axis of a setting."""
    field = type(found.grid.recipe.search).model_fields[axis.setting]
    words = (field.description or "").partition(":")[0].removesuffix(" (ess)")
    if words.startswith(axis.setting):
        return words
    return f"{axis.setting}: {words}" if words else axis.setting


# -- for reports ---------------------------------------------------------------------------------


def write_pictures(found: Figures, pdf: float | None = None) -> bytes | None:
    """The picture, which goes into the folder too; so wide as PDF as well, if that is wanted."""
    folder = found.plan.folder
    drawn = sensitivity(found)
    if drawn is None:
        return None
    write_whole(folder / PICTURE, drawn)
    if pdf is not None:
        on_paper = sensitivity(found, "pdf", pdf)
        assert on_paper is not None
        write_whole((folder / PICTURE).with_suffix(".pdf"), on_paper)
    return drawn


def add_sensitivity(page: Page, found: Figures, pdf: float | None = None) -> None:
    """The picture and the table of all points."""
    try:
        picture = write_pictures(found, pdf)
    except PlotError as error:
        page.note(f"There is no picture: {error}.")
        picture = None
    name = found.plan.metric.name
    if picture is not None:
        page.figure(
            picture,
            f"What the cells that {found.grid.recipe.name} finds are worth as its space grows: "
            "each setting is varied alone, and every model has the width at which it has at most "
            f"{found.parameters:,} parameters. Bars are the sample standard deviation over the "
            "seeds; of cells that were drawn at random, over the cells.",
            alt=f"the validation {name} of retrained cells against settings of the search's space",
        )
    header, rows = table(found)
    page.table(header, rows, numeric=range(numeric(found)))


def numeric(found: Figures) -> int:
    """How many columns of the table have numbers; they come first."""
    return len(found.grid.base.counts) + 4 + bool(_has_random(found))


def table(found: Figures) -> tuple[list[str], list[list[str]]]:
    """The table of all points, then of the cells beside them."""
    metric, names = found.plan.metric, [name for name, _ in found.grid.base.counts]
    random = _has_random(found)
    header = [*names, "width", "parameters", "valid", "test"]
    header += [*(["random"] if random else []), ""]
    rows = []
    for one in sorted(found.points.values(), key=lambda one: one.point.counts):
        said = ["the recipe's own"] if one.point.label == found.grid.base.label else []
        if one.search != "finished":
            said.append(f"the search {one.search}")
        if one.found.label != one.point.label:
            said.append(f"the cell of {one.found.label}")
        rows.append([
            *(str(value) for _, value in one.point.counts),
            f"{one.found.contender.width:,}",
            "–" if one.found.parameters is None else f"{one.found.parameters:,}",
            mean_text(one.found.valid, metric),
            mean_text(one.found.test, metric),
            *([mean_text(one.random_valid, metric)] if random else []),
            "; ".join(said),
        ])  # fmt: skip
    for beside in found.against:
        rows.append([
            *("–" for _ in names),
            f"{beside.contender.width:,}",
            "–" if beside.parameters is None else f"{beside.parameters:,}",
            mean_text(beside.valid, metric),
            mean_text(beside.test, metric),
            *(["–"] if random else []),
            beside.label,
        ])  # fmt: skip
    return header, rows


def best_words(found: Figures) -> list[str]:
    """Which value of each setting did best, in a sentence each."""
    said = []
    metric = found.plan.metric
    for axis in found.grid.axes:
        value = found.best(axis)
        if value is None:
            continue
        at = dict(found.along(axis))[value].found.valid
        own = dict(found.grid.base.counts)[axis.setting]
        which = "the recipe's own" if value == own else f"the recipe has {own}"
        said.append(
            f"The {metric.best_word} mean validation {metric.name}, {mean_text(at, metric)}, is at "
            f"{axis.setting} {value} of {named(axis.values)} ({which})."
        )
    return said


def _has_random(found: Figures) -> bool:
    return any(one.random for one in found.points.values())
