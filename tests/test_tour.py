"""The notebook of the examples runs from its first cell to its last, and shows pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

TINY = {"model.hidden": 4, "training.batch": 256, "training.evaluation_batch": 64}

HERE = 'executor="in-process"'
"""Where commands would start processes, each of which takes seconds to begin."""

TOUR = Path(__file__).parents[1] / "examples" / "tour.ipynb"

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (extra: dev)")


@pytest.fixture(scope="module")
def notebook() -> Any:
    return nbformat.read(TOUR, as_version=4)


def test_cells_are_short_and_use_no_command_line(notebook: Any):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= 10
            assert not any(line.startswith(("!", "%")) for line in cell.source.splitlines())
            assert "cellwright.cli" not in cell.source


def test_it_runs(notebook: Any, monkeypatch: pytest.MonkeyPatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (extra: dev)")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    small = notebook.copy()
    for cell in small.cells:  # the same cells, at sizes for a test
        cell.source = cell.source.replace('{"model.hidden": 32}', str(TINY))
        cell.source = cell.source.replace(
            '"model.hidden": 32', '"model.hidden": 4, "search.batch": 256'
        )
        cell.source = cell.source.replace("epochs=3", "epochs=1").replace(
            "trials=6", "trials=2, " + HERE
        )
        cell.source = cell.source.replace("epochs=2, seeds=2", "epochs=1, seeds=1, " + HERE)
        cell.source = cell.source.replace('"search.rounds": 2', '"search.rounds": 1')
    nbclient.NotebookClient(small, timeout=300, kernel_name="python3").execute()
    outputs = [out for cell in small.cells if cell.cell_type == "code" for out in cell.outputs]
    pages = [out["data"].get("text/html", "") for out in outputs if "data" in out]
    assert sum("<svg" in page for page in pages) >= 4
    shown = [out["data"]["text/plain"] for out in outputs if "data" in out]
    assert any("epoch" in text and "valid" in text for text in shown), "no progress was shown"
