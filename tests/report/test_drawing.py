"""What all pictures share: the same bytes for the same drawing, kinds by file ending, units."""

from __future__ import annotations

import sys

import pytest

from cellwright.base.endings import EndingError
from cellwright.report import drawing
from cellwright.report.drawing import PlotError
from cellwright.report.paper import Shape


def _line(figure):
    figure.add_subplot().plot([0, 1], [1, 2], label="a line")


@pytest.mark.parametrize(
    ("kind", "begins"), [("svg", b"<?xml"), ("pdf", b"%PDF-1."), ("png", b"\x89PNG")]
)
def test_the_same_drawing_gives_the_same_bytes(kind, begins):
    pytest.importorskip("matplotlib")
    first = drawing.picture(_line, kind)
    assert first.startswith(begins)
    assert first == drawing.picture(_line, kind)
    assert first != drawing.picture(_line, kind, Shape(3, 3))
    assert b"matplotlib.org" not in first  # neither a version nor a date


def test_the_ending_of_a_file_says_the_kind(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.PNG"
    drawing.write_picture(_line, path)
    assert path.read_bytes() == drawing.picture(_line, "png")
    assert [file.name for file in tmp_path.iterdir()] == ["picture.PNG"]
    with pytest.raises(EndingError, match=r"ends in \.svg, \.pdf or \.png"):
        drawing.write_picture(_line, tmp_path / "picture.gif")
    with pytest.raises(PlotError, match="svg, pdf, png, not 'gif'"):
        drawing.picture(_line, "gif")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PlotError, match=r"pip install 'cellwright\[plots\]'"):
        drawing.picture(_line, "svg")


def test_every_series_has_a_colour_of_its_own():
    pytest.importorskip("matplotlib")
    for number in (0, 1, 8, 9, 40):
        assert len(set(drawing.colours(number))) == number


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [(0.0, (1.0, "seconds")), (179.0, (1.0, "seconds")), (180.0, (60.0, "minutes")),
     (7199.0, (60.0, "minutes")), (7200.0, (3600.0, "hours"))],
)  # fmt: skip
def test_the_unit_suits_the_longest_time(seconds, unit):
    assert drawing.time_unit(seconds) == unit
