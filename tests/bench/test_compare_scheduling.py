"""Methods times seeds: the same whatever the workers, kept, gone on with, and reported."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from cellwright.base.optional import MissingPackageError
from cellwright.bench import BenchError, save
from cellwright.bench.compare import preparing, scheduling
from cellwright.bench.compare.entries import Entry
from cellwright.bench.compare.preparing import prepare
from cellwright.bench.compare.scheduling import Comparison, compare
from cellwright.bench.compare.summary import summarize
from cellwright.bench.synthetic import synthetic
from cellwright.report.methods.page import write_report

pytest.importorskip("scipy")

METHODS = ["rs-10e", "rs-50e", "hyperband"]
SECONDS = 4000.0
SEEDS = range(3)


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return save(synthetic(20, epochs=10), tmp_path_factory.mktemp("table") / "table.bench")


def compared(file: Path, folder: Path, **more) -> Comparison:
    table, entries, _ = prepare(file, METHODS, folder)
    return compare(table, entries, SEEDS, SECONDS, folder, **more)


def without_times(comparison: Comparison) -> dict[str, list[object]]:
    return {
        label: [{**course.to_json(), "real_seconds": 0} for course in courses]
        for label, courses in comparison.courses.items()
    }


@pytest.fixture(scope="module")
def whole(file, tmp_path_factory) -> Comparison:
    return compared(file, tmp_path_factory.mktemp("whole"))


def test_the_number_of_workers_does_not_matter(file, whole, tmp_path):
    assert without_times(compared(file, tmp_path, workers=2)) == without_times(whole)
    assert list(whole.courses) == ["RS 2E", "RS 10E", "HB"]
    assert all(len(courses) == len(SEEDS) for courses in whole.courses.values())
    one, other = whole.courses["RS 10E"][:2]
    assert one.steps != other.steps


def test_an_interrupted_comparison_goes_on(file, whole, tmp_path):
    def interrupt(done: int, total: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compared(file, tmp_path, watch=interrupt)
    kept = sorted(tmp_path.glob("runs/*/*.json"))
    assert 4 <= len(kept) < 9
    before = {path: path.read_bytes() for path in kept}
    kept[0].write_text("{")  # as no kill of ours leaves it
    del before[kept[0]]
    ended: list[tuple[int, int]] = []
    found = compared(file, tmp_path, watch=lambda *done: ended.append(done))
    assert ended[0] == (len(kept) - 1, 9)
    assert ended[-1] == (9, 9)
    assert without_times(found) == without_times(whole)
    assert all(path.read_bytes() == data for path, data in before.items())
    assert compared(file, tmp_path).courses == found.courses  # real seconds as well: nothing ran


def test_other_settings_are_other_searches(file, tmp_path):
    table, entries, _ = prepare(file, METHODS, tmp_path)
    place = scheduling._place
    same = place(tmp_path, table, entries[0], SECONDS, 200)
    one, other = entries[:2]
    assert place(tmp_path, table, Entry("x", one.method, one.settings), SECONDS, 200) == same
    different = [
        place(tmp_path, table, Entry(one.label, one.method, other.settings), SECONDS, 200),
        place(tmp_path, table, one, SECONDS + 1, 200),
        place(tmp_path, table, one, SECONDS, 100),
        place(tmp_path, preparing.replace(table, single_run=False), one, SECONDS, 200),
        place(
            tmp_path,
            preparing.Table(table.path, synthetic(20, epochs=10, seed=1), ()),
            one,
            SECONDS,
            200,
        ),
    ]
    assert len({same, *different}) == 6


def test_a_method_that_fails_is_left_out_and_told(file, tmp_path):
    table, entries, _ = prepare(file, ["rs-50e"], tmp_path)
    bad = Entry("bad", "random", {"epochs": 99})
    found = compare(table, [*entries, bad], SEEDS, SECONDS, tmp_path)
    assert list(found.courses) == ["RS 10E"]
    assert found.failed["bad"].startswith("seed 0: the table has 10 epochs of")
    with pytest.raises(BenchError, match="no method could be run; bad, seed 0: the table"):
        compare(table, [bad], SEEDS, SECONDS, tmp_path)
    with pytest.raises(BenchError, match="no training ended within the budget"):
        compare(table, entries, [0], 1.0, tmp_path)


def test_a_missing_package_is_told(file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models.doc2vec", None)
    _, entries, left_out = prepare(file, None, tmp_path)
    assert [one.label for one in entries] == ["RS 2E", "RS 10E", "HB"]
    assert list(left_out) == ["BO 10D", "BO 50D", "AE", "TPE", "SMAC"]
    assert "pip install 'cellwright[search]'" in left_out["TPE"]
    with pytest.raises(MissingPackageError):
        prepare(file, ["rs-50e", "bo-10d"], tmp_path)


def test_a_missing_method_leaves_the_others_features(file, tmp_path, monkeypatch):
    """Those of 50 dimensions belong to BO 50D and TPE, and are not made without them."""
    pytest.importorskip("gensim")
    for package in ("xgboost", "smac", "optuna"):
        monkeypatch.setitem(sys.modules, package, None)
    table, entries, left_out = prepare(file, None, tmp_path)
    assert [one.label for one in entries] == ["RS 2E", "RS 10E", "HB", "AE"]
    assert set(left_out) == {"BO 10D", "BO 50D", "TPE", "SMAC"}
    assert table.names == ("graph2vec-10",)


def test_features_are_made_once(file, tmp_path, monkeypatch):
    pytest.importorskip("gensim")
    first, _, _ = prepare(file, ["ae:features=4", "rs-50e"], tmp_path)
    assert first.path == tmp_path / "table.bench"
    assert first.benchmark.featured("graph2vec-4").shape == (20, 4)
    monkeypatch.setattr(preparing, "embedding", None)
    second, _, _ = prepare(file, ["ae:features=4", "rs-50e"], tmp_path)
    assert second.digest == first.digest
    assert (
        second.benchmark.featured("graph2vec-4") == first.benchmark.featured("graph2vec-4")
    ).all()
    with pytest.raises(BenchError, match="there is no 'mine'"):
        prepare(file, ["ae:features=mine"], tmp_path)


def test_bad_settings_are_told_before_anything_runs(file, tmp_path):
    with pytest.raises(BenchError, match=r"hyperband: eta=1: .*eta must be"):
        prepare(file, ["hyperband:eta=1"], tmp_path)


def test_the_methods_on_features_are_the_same_each_time(file, tmp_path):
    for package in ("gensim", "xgboost", "optuna", "smac"):
        pytest.importorskip(package)
    wanted = ["bo-10d:features=4", "ae:features=4", "tpe:features=4", "smac:features=4"]
    table, entries, _ = prepare(file, wanted, tmp_path)
    runs = [
        compare(table, entries, [5], 3 * SECONDS, tmp_path / str(turn), idle=10, workers=2)
        for turn in (0, 1)
    ]
    assert without_times(runs[0]) == without_times(runs[1])
    assert all(course.cells > 5 for (course,) in runs[0].courses.values())


# -- figures and the report ----------------------------------------------------------------


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_the_report_and_its_tables(whole, tmp_path):
    summary = summarize(whole)
    files = write_report(whole, summary, tmp_path, command="cellwright …", pictures=False)
    assert [file.name for file in files] == [
        "report.html", "summary.csv", "curves.csv", "regrets.csv", "tests.csv", "summary.md",
        "summary.tex",
    ]  # fmt: skip
    regrets = rows_of(tmp_path / "regrets.csv")
    assert len(regrets) == 9
    lowest = whole.table.lowest_test
    for row in regrets:
        last = whole.courses[row["method"]][int(row["seed"])].steps[-1]
        assert float(row["regret"]) == last.test - lowest >= 0
        assert row["architecture"] == whole.table.benchmark.names[last.architecture]
    for line in rows_of(tmp_path / "summary.csv"):
        own = [float(row["regret"]) for row in regrets if row["method"] == line["method"]]
        assert float(line["mean_regret"]) == pytest.approx(sum(own) / 3)
        assert float(line["median"]) == sorted(own)[1]
        curve = [r for r in rows_of(tmp_path / "curves.csv") if r["method"] == line["method"]]
        assert float(curve[-1]["mean"]) == pytest.approx(float(line["mean_regret"]))
        assert float(curve[-1]["hours"]) == pytest.approx(SECONDS / 3600)
        assert curve[0]["mean"] == "nan"
    assert len(rows_of(tmp_path / "tests.csv")) == 3
    text = files[0].read_text()
    assert "<img" not in text
    assert "With 3 seeds this test can hardly ever find a difference." in text


def test_the_pictures_are_in_the_report(whole, tmp_path):
    pytest.importorskip("matplotlib")
    summary = summarize(whole)
    files = write_report(whole, summary, tmp_path)
    assert [file.name for file in files[-3:]] == ["regret.svg", "methods.svg", "finals.svg"]
    assert files[0].read_text().count("<img") == 3
    before = [file.read_bytes() for file in files]
    assert [file.read_bytes() for file in write_report(whole, summary, tmp_path)] == before


def test_pictures_and_a_table_for_a_paper(whole, tmp_path):
    pytest.importorskip("matplotlib")
    summary = summarize(whole)
    files = write_report(whole, summary, tmp_path, pictures=False, pdf=3.3)
    assert [file.name for file in files[-3:]] == ["regret.pdf", "methods.pdf", "finals.pdf"]
    before = [file.read_bytes() for file in files[-3:]]
    again = write_report(whole, summary, tmp_path, pictures=False, pdf=3.3)
    assert [file.read_bytes() for file in again[-3:]] == before
    rows = (tmp_path / "summary.tex").read_text().partition(r"\midrule")[2].splitlines()
    assert rows[1].startswith(
        rf"\textbf{{{summary.labels[0]}}} & \boldmath${summary.lines[0].mean:.4f}$"
    )


def test_what_was_left_out_is_in_the_report(whole, tmp_path):
    told = preparing.replace(
        whole, failed={"X": "seed 3: it <broke>"}, left_out={"Y": "the method needs z."}
    )
    (file, *_) = write_report(told, summarize(told), tmp_path, pictures=False)
    text = file.read_text()
    assert "X is left out. Seed 3: it &lt;broke&gt;." in text
    assert "Y is left out. The method needs z." in text


def test_kept_courses_are_plain_json(whole, file, tmp_path):
    compared(file, tmp_path)
    values = [json.loads(path.read_text()) for path in tmp_path.glob("runs/*/*.json")]
    assert len(values) == 9
    assert all(value["version"] == 1 for value in values)


def test_a_kept_course_with_a_wrong_value_is_as_good_as_none(whole, tmp_path):
    path = tmp_path / "0.json"
    course = whole.courses["HB"][0]
    good = {"version": 1, **course.to_json()}

    def kept(values: object) -> object:
        path.write_text(json.dumps(values))
        return scheduling._kept(path, 20)

    assert kept(good) == course
    step = good["steps"][0]
    for wrong in (
        {"trials": "3"}, {"cells": True}, {"seconds": -1}, {"ended": "x"}, {"steps": []},
        {"steps": [{**step, "valid": "x"}]}, {"steps": [{**step, "architecture": 20}]},
        {"steps": [{**step, "architecture": -1}]}, {"steps": [3]}, {"version": 2},
    ):  # fmt: skip
        assert kept({**good, **wrong}) is None
    assert kept([]) is None
