"""A comparison's folder knows what it is for, and refuses everything else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cellwright.bench import BenchError
from cellwright.bench.compare.folder import (
    FILE,
    check_folder,
    default_folder,
    fingerprint,
    mark_folder,
    report_title,
)
from cellwright.bench.synthetic import synthetic
from cellwright.compare.plan import check_place
from cellwright.report.page import Page
from cellwright.runs.errors import RunError

ONE = replace(synthetic(5, epochs=2), title="one & only")
OTHER = replace(synthetic(6, epochs=2), title="other")


def test_each_table_has_a_folder_of_its_own():
    assert default_folder(Path("tables/my.bench")) == Path("bench-comparison/my")
    assert default_folder(Path("..")) == Path("bench-comparison/benchmark")


def test_a_folder_is_for_one_table(tmp_path: Path):
    folder = tmp_path / "new"
    check_folder(folder, ONE)
    assert not folder.exists()
    mark_folder(folder, ONE)
    before = (folder / FILE).stat().st_mtime_ns
    mark_folder(folder, ONE)  # once is enough
    assert (folder / FILE).stat().st_mtime_ns == before
    with pytest.raises(BenchError, match=r"on 'one & only' \(table \w+\), and 'other' is another"):
        mark_folder(folder, OTHER)
    grown = replace(OTHER, title=ONE.title)
    with pytest.raises(BenchError, match=r"this is another table .* choose another folder with -o"):
        check_folder(folder, grown)
    value = json.loads((folder / FILE).read_text())
    assert value["table"] == fingerprint(ONE)


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "cellwright-methods/99"}'])
def test_a_folder_that_does_not_say_so_any_more(tmp_path: Path, text: str):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(BenchError, match=r"methods.json is damaged, or of another version"):
        check_folder(tmp_path, ONE)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("comparison.json", "is a comparison of cells, not one of search methods"),
        ("run.json", "is a training, not one"),
        ("notes.txt", "has other files, such as notes.txt, and no comparison"),
    ],
)
def test_what_is_something_else_is_named(tmp_path: Path, name: str, what: str):
    (tmp_path / name).write_text("")
    with pytest.raises(BenchError, match=f"{what}.*choose another folder with -o"):
        mark_folder(tmp_path, ONE)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_comparison_of_cells_does_not_take_it(tmp_path: Path):
    mark_folder(tmp_path, ONE)
    with pytest.raises(RunError, match="is a comparison of search methods, and no comparison of c"):
        check_place(tmp_path)


def test_folders_of_earlier_versions_say_it_by_their_report(tmp_path: Path):
    (tmp_path / "regrets.csv").write_text("")
    Page(report_title(ONE)).write(tmp_path / "report.html")
    check_folder(tmp_path, ONE)
    with pytest.raises(BenchError, match="on another table than 'other'"):
        check_folder(tmp_path, OTHER)


def test_what_was_killed_before_its_first_word_is_gone_on_with(tmp_path: Path):
    (tmp_path / "runs").mkdir()
    (tmp_path / ".table.bench.123.tmp").write_text("")
    mark_folder(tmp_path, ONE)
    assert (tmp_path / "methods.json").is_file()
