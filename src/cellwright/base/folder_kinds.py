"""What a folder is, by the file in it that says so; for errors that name what is in the way."""

from __future__ import annotations

from pathlib import Path

_KINDS = (
    (("sensitivity.json",), "a sensitivity analysis"),  # it is a comparison of cells as well
    (("suite.json",), "a comparison over a suite of tasks"),
    (("comparison.json",), "a comparison of cells"),
    (("methods.json",), "a comparison of search methods"),
    (("report.html", "regrets.csv"), "a comparison of search methods"),  # of earlier versions
    (("study.json",), "what a study found"),
    (("run.json",), "a training"),
    (("search.json",), "a search"),
)


def kind_of(folder: Path) -> str | None:
    """What a folder is, if it is one of ours; it may be two things where versions mixed them.

    Raises:
        OSError: it cannot be looked at.
    """
    names = {entry.name for entry in folder.iterdir()}
    return next((kind for files, kind in _KINDS if names.issuperset(files)), None)
