"""Methods of the user's own on a table: compared like any other; their mistakes are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

import own_methods
from cellwright.bench import BenchError, save
from cellwright.bench.compare import scheduling
from cellwright.bench.compare.entries import Entry, entry
from cellwright.bench.compare.preparing import prepare
from cellwright.bench.compare.running import Course, Step, differs
from cellwright.bench.compare.scheduling import compare
from cellwright.bench.compare.summary import summarize
from cellwright.bench.synthetic import synthetic
from cellwright.report.methods.page import write_report
from cellwright.trials.executors import InProcess

pytest.importorskip("scipy")

FILE = Path(own_methods.__file__)
SECONDS = 3000.0


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return save(synthetic(20, epochs=10), tmp_path_factory.mktemp("table") / "table.bench")


@pytest.fixture
def in_this_process(monkeypatch):
    """For what does not need processes of its own."""
    monkeypatch.setattr(scheduling, "LocalProcesses", lambda workers, threads: InProcess())


# -- as they are named ---------------------------------------------------------------------------


def test_entries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = FILE.read_text()
    (tmp_path / "a, b:c").mkdir()
    (tmp_path / "a, b:c" / "mine.py").write_text(text)
    found = entry("a, b:c/mine.py:Climb:patience=2,label=mine", epochs=10)
    assert found.method == f"{tmp_path}/a, b:c/mine.py:Climb"
    assert (found.label, found.title) == ("mine", "mine.py:Climb")
    assert found.settings == {"epochs": 10, "lag": 1, "patience": 2}
    assert found.features == "graph2vec-10"
    assert entry("own_methods:Climb:features=none").features is None
    assert entry(own_methods.Climb).method == "own_methods:Climb"
    assert entry(f"{FILE}:Climb").label == "Climb"
    assert entry(f"{FILE}:Climb:patience=2").label == "Climb: patience=2"
    assert entry("own_methods:Own").settings == {"epochs": 50}
    assert entry(found) is found
    assert not entry("random").is_own


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nowhere.py:Mine", "there is no file"),
        ("own_methods:Clim", "did you mean 'Climb'"),
        ("hyperbnad:Mine", "No module named 'hyperbnad'; did you mean 'hyperband'?"),
        ("own_methods:Climb:patience", "settings are setting=value"),
        ("own_methods:Climb:seed=3", "every method runs with every seed"),
        ("own_methods:Climb:epochs=60", "has 50 epochs, not 60"),
        ("mine.py", "(one of your own is named file.py:NAME or module:NAME)"),
    ],
)
def test_what_is_refused(text, problem):
    with pytest.raises(BenchError) as caught:
        entry(text)
    assert problem in str(caught.value)


def test_settings_are_looked_at_before_anything_runs(file, tmp_path):
    with pytest.raises(BenchError, match="has no setting 'patients'; did you mean 'patience'"):
        prepare(file, [f"{FILE}:Climb:patients=2,features=none"], tmp_path)


# -- as they run ---------------------------------------------------------------------------------

WRONG = ["Raises", "TellRaises", "Nones", "NoCell", "Outside", "TooLong", "Hangs", "Leaves",
         "Unmade", "NoSeed", "NoTell", "Chance:patience=0"]  # fmt: skip


def entry_of(name: str) -> str:
    called, _, settings = name.partition(":")
    behind = ",".join(filter(None, [settings, "features=none", f"label={called}"]))
    return f"{FILE}:{called}:{behind}"


def test_wrong_ones_are_left_out_and_the_others_compared(file, tmp_path, in_this_process):
    wanted = ["random", *(entry_of(name) for name in WRONG)]
    table, entries, _ = prepare(file, wanted, tmp_path)
    found = compare(table, entries, range(2), SECONDS, tmp_path)
    alone = compare(table, entries[:1], range(2), SECONDS, tmp_path / "alone")
    assert [c.steps for c in found.courses["random"]] == [c.steps for c in alone.courses["random"]]
    assert list(found.courses) == ["random"]
    assert set(found.failed) == {name.partition(":")[0] for name in WRONG}
    assert all("own_methods.py:" in why for why in found.failed.values())
    assert found.failed["Raises"].startswith("seed 0: own_methods.py:Raises: ask() for trial 0 ra")
    assert "two searches with the same seed are not the same" in found.failed["Chance"]
    assert not [file for file in tmp_path.rglob("*.json") if "own_methods" in str(file)]
    (page, *_) = write_report(found, summarize(found), tmp_path, pictures=False)
    assert "Raises is left out. Seed 0: own_methods.py:Raises" in page.read_text()


def test_other_content_is_another_method(file, tmp_path, in_this_process):
    mine, folder = tmp_path / "mine.py", tmp_path / "compared"
    mine.write_text(FILE.read_text())

    def searches(**more) -> int:
        table, entries, _ = prepare(file, [f"{mine}:Prints:patience=0,features=none"], folder)
        ended: list[tuple[int, int]] = []
        more = {"watch": lambda *done: ended.append(done)}
        found = compare(table, entries, range(2), SECONDS, folder, **more)
        assert found.entries == tuple(entries)
        return ended[-1][1] - ended[0][0]

    assert searches() == 3  # two seeds, and the first again
    assert searches() == 0
    mine.write_text(FILE.read_text() + "# other\n")
    assert searches() == 3
    table, [one], _ = prepare(file, [f"{mine}:Climb:features=none"], folder)
    mine.write_text(FILE.read_text())
    with pytest.raises(BenchError, match=r"mine.py:Climb was changed while the comparison ran"):
        compare(table, [one], [0], SECONDS, folder)


def test_in_processes_of_their_own(file, tmp_path):
    """One that ends its process, and one that is fine."""
    fine = f"{FILE}:Own:label=fine,features=none"
    table, entries, _ = prepare(file, [fine, f"{FILE}:Dies:features=none", "random"], tmp_path)
    found = compare(table, entries, [0], SECONDS, tmp_path, workers=2)
    assert list(found.courses) == ["fine", "random"]
    [why] = found.failed.values()
    assert why == "seed 0: own_methods.py:Dies: its process ended by itself, with exit code 3"
    # The same trials as the method that it is a subclass of.
    assert found.courses["fine"][0].steps == found.courses["random"][0].steps
    files = write_report(found, summarize(found), tmp_path, pictures=False)
    assert f"own_methods.py:Own, sha256 {entries[0].sha256[:12]}…" in files[0].read_text()


def test_where_two_searches_part():
    step, other = Step(1.0, 1, 0, 1, 2.0, 2.0), Step(1.0, 1, 3, 1, 2.0, 2.0)
    first = Course((step,), 4, 4, 9.0, "budget", 0.1)
    assert differs(first, Course((step,), 4, 4, 9.0, "budget", 0.2)) is None
    assert differs(first, Course((other,), 4, 4, 9.0, "budget")) == (
        "after trial 1 their best models differ"
    )
    assert differs(first, Course((step,), 5, 4, 9.0, "budget")) == ("one had 4 trials, the other 5")


def test_an_entry_of_ones_own_is_json():
    one = entry("own_methods:Climb")
    assert Entry(**one.to_json()) == one
