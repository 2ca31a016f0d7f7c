"""Pictures of tuning: the metric against each setting, and all settings side by side.

matplotlib draws them and is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cellwright.report import drawing, paper
from cellwright.report.drawing import PlotError
from cellwright.report.metric_axis import axis_label, height
from cellwright.search.tuning.results import TunedTrial, ranked
from cellwright.spaces import Interval, Options, Tuned
from cellwright.spaces.tuned import plain
from cellwright.tasks.metric import Metric

BEST_SHARE = 0.1
"""Of the trials that are drawn in the colour of the best ones."""

_JITTER = 0.12
"""How far dots of a choice are spread, so that they do not hide each other."""

_LONG = 16
"""Letters of a choice that stand at an axis."""


def slices(space: Tuned, trials: Sequence[TunedTrial], metric: Metric, kind: str = "svg") -> bytes:
    """The validation metric against each setting, a part for each; the best trials stand out.

    Raises:
        PlotError: no trial has a value, nothing was varied, or matplotlib is missing.
    """
    varied, fine = _drawn(space, trials)
    best = {one.record.number for one in fine[: max(1, round(BEST_SHARE * len(fine)))]}
    rng = np.random.default_rng(0)

    def draw(figure: Any) -> None:
        for place, (axes, (name, options)) in enumerate(
            zip(paper.parts(figure, len(varied), sharey=True), varied.items(), strict=True)
        ):
            here = [one for one in fine if name in one.values()]
            for among, look in ((False, _OTHERS), (True, _BEST)):
                some = [one for one in here if (one.record.number in best) == among]
                places = [_place(options, one.values()[name]) for one in some]
                if isinstance(options, tuple):
                    spread = rng.uniform(-_JITTER, _JITTER, len(places))
                    places = [place + by for place, by in zip(places, spread, strict=True)]
                axes.plot(places, [height(metric, one.loss) for one in some], **look)
            _name_axis(axes, name, options)
            if place == 0 or paper.is_narrow(figure):
                axes.set_ylabel(axis_label(metric, "validation"))

    shape = paper.Shape(1.4 + 2.5 * min(4, len(varied)), 3.2 * -(-len(varied) // 4), 4)
    return drawing.picture(draw, kind, shape)


def parallel(
    space: Tuned, trials: Sequence[TunedTrial], metric: Metric, kind: str = "svg"
) -> bytes:
    """Every trial as a line through its settings, which ends at its validation metric.

    Raises:
        PlotError: no trial has a value, nothing was varied, or matplotlib is missing.
    """
    varied, fine = _drawn(space, trials)
    values = [height(metric, one.loss) for one in fine]
    least, most = min(values), max(values)
    room = (most - least) or 1.0
    shades = drawing.matplotlib().colormaps["viridis"]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for one, value in reversed(list(zip(fine, values, strict=True))):
            own = one.values()
            points = [
                (at, _share(options, own[name]))
                for at, (name, options) in enumerate(varied.items())
                if name in own
            ]
            points.append((len(varied), (value - least) / room))
            good = points[-1][1] if metric.higher_is_better else 1 - points[-1][1]
            axes.plot(
                *zip(*points, strict=True),
                color=shades(0.92 * (1 - good)),
                linewidth=0.8 + 1.4 * good,
                alpha=0.35 + 0.6 * good,
            )
        axes.set_xlim(-0.1, len(varied) + 0.1)
        axes.set_ylim(-0.05, 1.05)
        axes.set_yticks([])
        axes.grid(False)
        names = [_called(name, 14) for name in varied]
        axes.set_xticks(range(len(varied) + 1), [*names, paper.broken(metric.name, 14)])
        for at, options in enumerate(varied.values()):
            axes.axvline(at, color="#b8b8b8", linewidth=0.8, zorder=0)
            for share, text in _ticks(options):
                _say(axes, at, share, text)
        axes.axvline(len(varied), color="#b8b8b8", linewidth=0.8, zorder=0)
        for share, value in ((0.0, least), (1.0, most)):
            _say(axes, len(varied), share, metric.written(value))
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)

    shape = paper.Shape(2.4 + 1.25 * len(varied), 4.0)
    return drawing.picture(draw, kind, shape)


_OTHERS: Mapping[str, Any] = {
    "linestyle": "", "marker": "o", "markersize": 4, "markeredgewidth": 0,
    "color": drawing.GREY, "alpha": 0.4,
}  # fmt: skip
_BEST: Mapping[str, Any] = {
    "linestyle": "", "marker": "D", "markersize": 5, "markeredgewidth": 0,
    "color": drawing.COLOURS[1], "alpha": 0.9,
}  # fmt: skip


def _drawn(
    space: Tuned, trials: Sequence[TunedTrial]
) -> tuple[dict[str, Options], list[TunedTrial]]:
    """What was varied, and the trials with a value, the best first."""
    fine, varied = ranked(trials), space.open_choices()
    if not fine:
        raise PlotError("there is nothing to draw: no trial has a value yet")
    if not varied:
        raise PlotError("there is nothing to draw: no setting was varied")
    return varied, fine


def _place(options: Options, value: Any) -> float:
    """Where a value stands at its axis."""
    return float(options.index(plain(value))) if isinstance(options, tuple) else float(value)


def _share(options: Options, value: Any) -> float:
    """The same from 0 to 1."""
    if isinstance(options, tuple):
        return options.index(plain(value)) / (len(options) - 1)
    low, high, at = options.low, options.high, float(value)
    if options.log:
        low, high, at = math.log(low), math.log(high), math.log(at)
    return (at - low) / (high - low)


def _ticks(options: Options) -> list[tuple[float, str]]:
    if isinstance(options, Interval):
        return [(0.0, f"{options.low:g}"), (1.0, f"{options.high:g}")]
    return [(at / (len(options) - 1), _short(each)) for at, each in enumerate(options)]


def _name_axis(axes: Any, name: str, options: Options) -> None:
    axes.set_xlabel(_called(name, 22))
    if isinstance(options, tuple):
        turned = {"rotation": 30, "ha": "right"} if max(map(len, map(str, options))) > 5 else {}
        axes.set_xticks(range(len(options)), [_short(each) for each in options], **turned)
    elif options.log:
        axes.set_xscale("log")


def _called(name: str, letters: int) -> str:
    """A setting for people, without its table."""
    words = (name.partition(".")[2] or name).replace("_", " ")
    return paper.broken(drawing.plain(words), letters)


def _short(value: object) -> str:
    text = drawing.plain(str(value))
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _say(axes: Any, at: float, share: float, text: str) -> None:
    axes.annotate(
        text,
        (at, share),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize="small",
        va="center",
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
    )
