"""Pictures for papers: legible, whole, the same bytes, and told apart without colours."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from cellwright import zoo
from cellwright.report import drawing, paper, run_plots, study_plots
from cellwright.report.paper import PaperError, Shape, paper_width
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.training.results import EpochRecord

pytest.importorskip("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def curve(label: str, epochs: int, low: float) -> run_plots.Curve:
    losses = [low + 3 * math.exp(-4 * epoch / epochs) for epoch in range(1, epochs + 1)]
    records = [
        EpochRecord(epoch, loss - 0.1, loss, loss, 1.0, 60.0 * epoch, 10**6, False)
        for epoch, loss in enumerate(losses, 1)
    ]
    return run_plots.Curve(label, records, PERPLEXITY)


def draw_runs(number: int, epochs: int):
    def draw(path: Path, width: float | None) -> None:
        curves = [curve(f"a run's long name, {n}", epochs, 4 + n / 10) for n in range(number)]
        run_plots.draw_curves(curves, path, title="Title", width=width)

    return draw


def draw_studies(path: Path, width: float | None) -> None:
    rng = np.random.default_rng(0)
    seconds = np.cumsum(np.full(30, 60.0))
    series = [
        study_plots.Series(name, 5 + rng.random(30), seconds, PERPLEXITY)
        for name in ("study", "study-random")
    ]
    study_plots.draw_studies(series, path, width=width)


PICTURES = {"runs": draw_runs(3, 12), "many": draw_runs(8, 60), "studies": draw_studies}


@pytest.mark.parametrize("size", ["column", "page"])
@pytest.mark.parametrize("name", PICTURES)
def test_letters_are_legible_and_inside(name: str, size: str, tmp_path: Path, monkeypatch):
    width = paper_width(size)
    figures = []
    real = paper.finish
    monkeypatch.setattr(paper, "finish", lambda f, w: (figures.append(f), real(f, w)))
    PICTURES[name](tmp_path / "x.pdf", width)
    [figure] = figures
    assert figure.get_size_inches()[0] == width
    FigureCanvasAgg(figure).draw()
    edge = figure.bbox.padded(2)
    at_axes = [
        text for axes in figure.axes for text in (axes.xaxis.label, axes.yaxis.label, axes.title)
    ]
    in_legends = [text for legend in figure.legends for text in legend.get_texts()]
    for text in figure.findobj(Text):
        assert text.get_fontsize() >= 6.5
    for text in (*at_axes, *in_legends):
        box = text.get_window_extent()
        if text.get_text():
            assert edge.x0 <= box.x0, text
            assert box.x1 <= edge.x1, text
            assert edge.y0 <= box.y0, text
            assert box.y1 <= edge.y1, text


def test_a_pdf_has_its_font_and_no_date(tmp_path: Path):
    PICTURES["runs"](tmp_path / "x.pdf", 3.3)
    data = (tmp_path / "x.pdf").read_bytes()
    assert b"/CIDFontType2" in data  # TrueType, as a font and not as shapes
    assert b"/FontFile2" in data
    assert b"/ToUnicode" in data
    assert not re.search(rb"CreationDate|ModDate|Matplotlib|/Type3", data)
    page = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", data)
    assert page is not None
    assert float(page[1]) == pytest.approx(3.3 * 72)


def test_another_process_draws_the_same_bytes(tmp_path: Path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom report.test_paper import PICTURES\n"
        "PICTURES['runs'](Path(sys.argv[2]), 3.3)\n"
        "from cellwright import zoo\nzoo['lstm'].draw(sys.argv[3])\n"
    )
    here, there = ([tmp_path / f"{name}-{n}.pdf" for name in ("runs", "cell")] for n in (1, 2))
    words = [sys.executable, "-c", code, str(Path(__file__).parents[1]), *map(str, there)]
    subprocess.run(words, env={**os.environ, "PYTHONHASHSEED": "3"}, check=True)
    PICTURES["runs"](here[0], 3.3)
    zoo["lstm"].draw(here[1])
    assert [file.read_bytes() for file in here] == [file.read_bytes() for file in there]


def test_series_are_told_apart_without_colours():
    looks = drawing.looks(8)
    assert len({(str(look["linestyle"]), look["marker"]) for look in looks}) == 8
    for points in (1, 12, 200):
        first, every = drawing.marked(looks[5], points)["markevery"]
        assert 0 <= first < points
        assert every >= 1


def test_sizes():
    assert paper_width("column") == 3.3
    assert paper_width("4.25") == 4.25
    assert Shape(10.2, 4.2, across=2).on(None) == (10.2, 4.2)
    column, page = (Shape(10.2, 4.2, across=2).on(paper_width(w)) for w in ("column", "page"))
    assert column[1] > column[0]  # one part below the other
    assert page[1] < page[0]
    for wrong, says in (
        ("colum", "did you mean 'column'"),
        ("0.5", "2 to 20 inches"),
        ("x", "page"),
    ):
        with pytest.raises(PaperError, match=says):
            paper_width(wrong)


def letters(pdf: bytes) -> set[int]:
    """The letters that a PDF's fonts say they have."""
    found: set[int] = set()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue
        for ranges in re.findall(rb"beginbf\w+(.*?)endbf", text, re.DOTALL):
            found |= {int(one, 16) for one in re.findall(rb"<([0-9a-fA-F]{4})>", ranges)}
    return found


def test_a_cells_pdf_has_its_signs_as_letters(tmp_path: Path):
    import test_draw

    cell = test_draw.supernet()
    cell.draw(tmp_path / "x.pdf")
    data = (tmp_path / "x.pdf").read_bytes()
    assert b"/CIDFontType2" in data
    assert not re.search(rb"CreationDate|/Subtype /Image", data)
    assert {ord(sign) for sign in "·−Σθ"} <= letters(data)
    test_draw.odd().draw(tmp_path / "odd.pdf")  # a name that no font has, and no letter is


def test_a_cell_needs_matplotlib_for_pdf(tmp_path: Path, monkeypatch):
    import test_draw
    from cellwright.base.optional import MissingPackageError

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'cellwright\[plots\]'"):
        test_draw.rnn().draw(tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())
