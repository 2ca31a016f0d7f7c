"""Pictures take names, directions and scales of their axes from the metric."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cellwright.bench import Architecture, analysis, assemble
from cellwright.bench.analysis import Measures
from cellwright.bench.compare.summary import Summary
from cellwright.bench.runs import Run
from cellwright.bench.synthetic import synthetic
from cellwright.report import drawing
from cellwright.report.analysis.pictures import draw as draw_finding
from cellwright.report.drawing import PlotError
from cellwright.report.methods.pictures import draw_finals, draw_panels, draw_regrets
from cellwright.report.metric_axis import axis_label, height, scale_axis, shared_metric
from cellwright.report.run_plots import Curve, draw_curves
from cellwright.report.search_pictures import draw_progress
from cellwright.report.study_plots import Series, draw_studies
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.metric import LOSS, Metric
from cellwright.training.results import EpochRecord

pytest.importorskip("matplotlib")

F1 = Metric(name="F1", form="percent", items="sentences")


def figure() -> Any:
    return drawing.matplotlib("figure").Figure()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn instead of written."""
    figures: list[Any] = []

    def picture(draw, *_, **__) -> bytes:
        figures.append(figure())
        draw(figures[-1])
        return b""

    monkeypatch.setattr(drawing, "picture", picture)
    return figures


def curve(label: str, metric: Metric, *losses: float) -> Curve:
    records = [
        EpochRecord(epoch, 2.0 / epoch, loss, loss, 0.1, 10.0 * epoch, 1, False)
        for epoch, loss in enumerate(losses, 1)
    ]
    return Curve(label, records, metric)


def heights(axes: Any) -> list[list[float]]:
    return [list(map(float, line.get_ydata())) for line in axes.get_lines()]


# -- the axis itself -----------------------------------------------------------------------


def test_an_axis_says_which_direction_is_better():
    assert axis_label(F1, "validation") == "validation F1 (higher is better)"
    assert axis_label(PERPLEXITY) == "perplexity (lower is better)"


@pytest.mark.parametrize(
    ("metric", "values", "scale"),
    [
        (PERPLEXITY, [100.0, 1000.0], "log"),
        (PERPLEXITY, [100.0, 300.0], "linear"),
        (PERPLEXITY, [], "linear"),
        (F1, [1.0, 90.0], "linear"),
        (LOSS, [0.01, 90.0], "linear"),
        (PERPLEXITY, [100.0, float("nan"), 1000.0], "log"),
        (PERPLEXITY, [0.0, 100.0, 1000.0], "log"),  # what a damaged file may have
        (PERPLEXITY, [0.0, 100.0], "linear"),
        (PERPLEXITY, [0.0, float("inf")], "linear"),
    ],
)
def test_only_values_that_grow_have_a_logarithmic_axis(metric, values, scale):
    axes = figure().add_subplot()
    axes.plot(values)
    scale_axis(axes, metric, values)
    assert axes.get_yscale() == scale


def test_what_cannot_be_drawn_leaves_a_gap():
    assert np.isnan(height(F1, None))
    assert np.isnan(height(PERPLEXITY, 1e6))
    assert height(F1, 0.25) == 75.0


def test_different_metrics_have_no_common_axis():
    assert shared_metric({"a": F1, "b": F1.model_copy(update={"items": "pairs"})}) == F1
    with pytest.raises(PlotError, match="a is measured by F1 and c by perplexity"):
        shared_metric({"a": F1, "b": F1, "c": PERPLEXITY})


# -- runs, searches, studies ---------------------------------------------------------------


def test_perplexities_of_training_and_validation_share_an_axis(shown, tmp_path: Path):
    draw_curves([curve("a", PERPLEXITY, 1.0, 0.5)], tmp_path / "a.svg")
    [axes] = shown[0].axes
    assert axes.get_ylabel() == "perplexity (lower is better)"
    train, valid, best = heights(axes)
    assert train == pytest.approx(np.exp([2.0, 1.0]))
    assert valid == pytest.approx(np.exp([1.0, 0.5]))
    assert best == pytest.approx([np.exp(0.5)])


def test_where_more_is_better_the_loss_of_training_has_its_own_axis(shown, tmp_path: Path):
    draw_curves([curve("a", F1, 0.5, 0.25, 0.75)], tmp_path / "a.svg")
    axes, second = shown[0].axes
    assert axes.get_ylabel() == "F1 (higher is better)"
    assert second.get_ylabel() == "loss of training"
    assert heights(axes) == [[50.0, 75.0, 25.0], [75.0]]
    assert heights(second)[0] == pytest.approx([2.0, 1.0, 2 / 3])
    [legend] = shown[0].legends
    assert legend.get_texts()[0].get_text() == "a: 75.00 at epoch 2"


def test_runs_of_different_metrics_are_not_drawn_together(tmp_path: Path):
    with pytest.raises(PlotError, match="b is measured by F1"):
        draw_curves([curve("b", F1, 0.5), curve("a", PERPLEXITY, 1.0)], tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.parametrize(("metric", "axes"), [(PERPLEXITY, 3), (F1, 4)])
def test_a_search_is_drawn_by_its_metric(metric: Metric, axes: int):
    drawn = figure()
    watched = {"entropy": 1.0, "mad": 0.1}
    epochs = [
        {"epoch": 1, "train": 2.0, "architecture": None, "valid": 0.5, "watched": watched},
        {"epoch": 2, "train": 1.0, "architecture": 1.5, "valid": 0.25, "watched": watched},
    ]
    draw_progress(drawn, epochs, metric)
    assert len(drawn.axes) == axes
    above = drawn.axes[0]
    assert above.get_ylabel() == axis_label(metric)
    assert heights(above)[-1] == pytest.approx([metric.value(0.5), metric.value(0.25)])
    labels = [text.get_text() for text in above.get_legend().get_texts()]
    assert labels == ["training data", "data of the architecture", "validation data"]


def series(label: str, metric: Metric, *losses: float) -> Series:
    return Series(label, np.array(losses), np.arange(1.0, len(losses) + 1), metric)


def test_the_best_of_a_study_rises_where_more_is_better(shown, tmp_path: Path):
    found = series("s", F1, 0.5, 0.3, float("nan"), 0.4, 0.2)
    draw_studies([found], tmp_path / "a.svg")
    left, right = shown[0].axes
    assert left.get_ylabel() == "validation F1 (higher is better)"
    dots, best = heights(left)
    assert best == pytest.approx([50, 70, 70, 70, 80])
    assert dots[3] == pytest.approx(60)
    low, high = left.get_ylim()
    assert low < 50 < 80 < high
    assert right.get_legend().get_texts()[0].get_text() == "s: 80.00 after 5 trials"


@pytest.mark.parametrize(
    ("metric", "losses", "left_out"),
    [
        (F1, [0.12, 0.11, 0.11, 0.10, 0.95], 5.0),
        (PERPLEXITY, [5.0, 5.1, 5.1, 5.2, 8.0], float(np.exp(8.0))),
    ],
)
def test_far_worse_trials_are_out_of_the_picture(shown, tmp_path: Path, metric, losses, left_out):
    draw_studies([series("s", metric, *losses)], tmp_path / "a.svg")
    low, high = shown[0].axes[0].get_ylim()
    assert not low < left_out < high
    assert all(low < metric.value(loss) < high for loss in losses[:4])


def test_studies_of_different_metrics_are_not_drawn_together(tmp_path: Path):
    with pytest.raises(PlotError, match="measured by"):
        draw_studies([series("a", F1, 0.5), series("b", LOSS, 0.5)], tmp_path / "a.svg")


# -- benchmarks ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured() -> Any:
    """A made-up table of models that are right in 40 to 90 of 100 cases."""
    cells = synthetic(20, epochs=1, seed=3)
    rng = np.random.default_rng(0)
    rows = []
    for number in range(len(cells)):
        valid = 0.1 + 0.5 * rng.random(3)
        run = Run(valid, valid, valid, np.ones(3), parameters=1000 + number)
        rows.append(Architecture(cells.names[number], cells.cell(number), [run]))
    return assemble(rows, title="right", kind="toy:kind", metric=F1)


def test_an_analysis_draws_the_metric(measured):
    pytest.importorskip("scipy")
    found = analysis.measures(measured)
    assert isinstance(found, Measures)
    assert found.title == "Parameters, time and test F1 (Figure 4)"
    assert "spearman of parameters, F1" in found.numbers
    row = dict(zip(found.heading, found.rows[0], strict=True))
    assert row["test_value"] == pytest.approx(100 * (1 - row["test_loss"]))
    best = min(found.rows, key=lambda row: row[-1])
    assert best[found.heading.index("test_value")] == max(found.values)
    drawn = figure()
    draw_finding(found, drawn)
    scatter, histogram, colours = drawn.axes
    assert colours.get_ylabel() == "test F1 (higher is better)"
    assert histogram.get_xlabel() == "best test F1 (the first bar has all below)"
    shades = scatter.collections[0]
    assert shades.colorbar.extend == "min"
    assert shades.get_clim()[1] == max(found.values)


def test_an_analysis_of_perplexities_ends_where_most_are(measured):
    pytest.importorskip("scipy")
    drawn = figure()
    draw_finding(analysis.measures(synthetic(20, epochs=3, seed=3)), drawn)
    _, histogram, colours = drawn.axes
    assert colours.get_ylabel() == "test perplexity (lower is better)"
    assert histogram.get_xlabel() == "best test perplexity (the last bar has all above)"


def test_a_prediction_is_of_the_loss(measured):
    pytest.importorskip("xgboost")
    features = np.random.default_rng(1).random((len(measured), 2))
    found = analysis.prediction(measured, features, splits=2)
    assert "R2 of the better half" in found.numbers
    assert list(found.splits) == ["all", "of the better half"]
    drawn = figure()
    draw_finding(found, drawn)
    assert [axes.get_xlabel() for axes in drawn.axes] == ["true final test 1 − F1"] * 2


@pytest.mark.parametrize(
    ("metric", "regret"), [(F1, "regret in 1 − F1"), (PERPLEXITY, "regret in log perplexity")]
)
def test_methods_are_compared_in_the_loss_of_the_table(metric: Metric, regret: str):
    curves = {label: np.full((3, 201), 0.1) for label in ("a", "b")}
    finals = {label: rows[:, -1] for label, rows in curves.items()}
    lines = tuple(SimpleNamespace(label=label) for label in curves)
    summary = Summary(lines, np.linspace(0, 10, 201), curves, finals, (), metric)  # type: ignore[arg-type]
    drawn = figure()
    draw_regrets(summary)(drawn)
    assert drawn.axes[0].get_ylabel() == regret
    panels = figure()
    draw_panels(summary)(panels)
    assert panels.get_supylabel() == regret
    ends = figure()
    draw_finals(summary)(ends)
    assert ends.axes[0].get_xlabel() == f"final {regret}"
