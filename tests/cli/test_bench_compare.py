"""`cellwright bench compare`: what it prints, writes and refuses."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from pathlib import Path

import pytest

from cellwright.bench import save
from cellwright.bench.synthetic import synthetic

pytest.importorskip("scipy")

FILES = [
    "curves.csv", "methods.json", "regrets.csv", "report.html", "runs", "summary.csv", "summary.md",
    "summary.tex", "tests.csv",
]  # fmt: skip
OWN = Path("bench-comparison/made")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save(synthetic(12, epochs=5), tmp_path_factory.mktemp("made") / "made.bench"))


def test_compare(run, folder, made):
    arguments = ("bench", "compare", made, "--no-figures", "-n", "2", "--hours", "0.5")
    outcome = run(*arguments, "-m", "rs-50e", "-m", "hyperband:label=halving", "-w", "1")
    assert outcome.code == 0
    first, heading, *lines, words, files = outcome.out.splitlines()
    assert words.startswith("best found: seeds that end with the best of the table; hours are sim")
    assert first == (
        "final regret in log perplexity after 0.5 simulated hours, 2 seeds of each method, 12 cells"
    )
    assert heading.split()[:2] == ["method", "mean"]
    assert sorted(line.split("  ")[0] for line in lines) == ["RS 5E", "halving"]
    assert files.startswith(f"{OWN}/report.html, with summary.csv")
    assert sorted(path.name for path in OWN.iterdir()) == FILES
    kept = {path: path.read_bytes() for path in OWN.glob("runs/*/*.json")}
    assert len(kept) == 4
    # Another method later: what is there is used, whatever the number of processes.
    again = run(*arguments, "-m", "rs-50e", "-m", "hyperband", "-m", "rs-10e", "-w", "2")
    assert again.code == 0
    assert len(list(OWN.glob("runs/*/*.json"))) == 6
    assert all(path.read_bytes() == data for path, data in kept.items())
    assert "RS 1E" in again.out


def test_what_earlier_versions_kept_is_gone_on_with(run, folder, made, monkeypatch):
    """They wrote into comparison/, whatever the table."""
    arguments = ("bench", "compare", made, "-m", "rs-50e", "-n", "2", "--hours", "0.5",
                 "--no-figures")  # fmt: skip
    assert run(*arguments, "-o", "comparison").code == 0
    Path("comparison/methods.json").unlink()
    kept = [path.read_bytes() for path in sorted(Path("comparison").glob("runs/*/*.json"))]
    monkeypatch.setattr("cellwright.bench.compare.scheduling.LocalProcesses", None)  # nothing runs
    assert run(*arguments).code == 0
    assert [path.read_bytes() for path in sorted(OWN.glob("runs/*/*.json"))] == kept
    assert run(*arguments, "-o", "comparison").code == 0  # and the folder itself still opens
    assert Path("comparison/methods.json").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["missing.bench"], 1, "there is no file missing.bench"),
        (["MADE", "-m", "hyperbad"], 1, "did you mean 'hyperband'"),
        (["MADE", "-m", "random:epoch=1"], 1, "epoch"),
        (["MADE", "-m", "hyperband:eta=1"], 1, "eta must be"),
        (["MADE", "-m", "rs-50e", "-m", "rs-50e"], 1, "two methods are called 'RS 5E'"),
        (["MADE", "-m", "ae:features=mine"], 1, "there is no 'mine'"),
        (["MADE", "--hours", "0"], 2, "--hours must be more than 0"),
        (["MADE", "--hours", "nan"], 2, "--hours must be more than 0"),
        (["MADE", "--seeds", "0"], 2, "seeds"),
        (["MADE", "--workers", "99999"], 1, "workers should be from 1 to "),
        (["MADE", "-m", "rs-50e", "-o", "file"], 1, "file is a file; a comparison is a folder"),
        (["MADE", "-m", "rs-50e", "--hours", "1e-6", "-n", "1"], 1, "no training ended within"),
    ],
)
def test_what_is_refused(run, folder, made, arguments, code, problem):
    Path("file").write_text("")
    outcome = run("bench", "compare", *(a.replace("MADE", made) for a in arguments), "--no-figures")
    assert outcome.code == code
    assert problem in outcome.err
    assert outcome.out == ""
    if "no training" not in problem:
        assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_missing_package_is_told_first(run, folder, made, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = run("bench", "compare", made, "-m", "rs-50e", "-n", "1")
    assert (outcome.code, outcome.out) == (1, "")
    assert "pip install 'cellwright[plots]'" in outcome.err
    assert not OWN.exists()
    monkeypatch.setitem(sys.modules, "gensim.models.doc2vec", None)
    outcome = run("bench", "compare", made, "-n", "1", "--no-figures")
    assert outcome.code == 0
    assert "TPE: left out; graph2vec needs the package gensim" in outcome.err
    assert "TPE is left out. Graph2vec needs the package" in (OWN / "report.html").read_text()


def test_ctrl_c_says_what_is_kept(run, folder, made, monkeypatch):
    from cellwright.bench.compare import scheduling

    def interrupted(executor, timeout):
        raise KeyboardInterrupt

    monkeypatch.setattr(scheduling.LocalProcesses, "wait", interrupted)
    outcome = run("bench", "compare", made, "-m", "rs-50e", "-n", "2", "--no-figures")
    assert outcome.code == 128 + signal.SIGINT
    assert outcome.err == "0 of 2 searches are kept; the same command goes on\nerror: interrupted\n"


def test_a_method_that_failed_is_told_and_the_exit_code_says_so(run, folder, made, monkeypatch):
    from dataclasses import replace

    from cellwright.bench.compare import scheduling

    compare = scheduling.compare

    def failing(*arguments, **more):
        return replace(compare(*arguments, **more), failed={"X": "seed 1: it broke"})

    monkeypatch.setattr(scheduling, "compare", failing)
    outcome = run("bench", "compare", made, "-m", "rs-50e", "-n", "1", "--no-figures")
    assert outcome.code == 1
    assert outcome.err == "X: left out; seed 1: it broke\n"
    assert "X is left out. Seed 1: it broke." in (OWN / "report.html").read_text()
    assert "RS 5E" in outcome.out


def test_help_teaches_with_examples_that_run(run):
    text = run("bench", "compare", "--help", width=80).out
    assert max(map(len, text.splitlines())) <= 80
    lines = [ln.strip()[2:] for ln in text.splitlines() if ln.strip().startswith("$ ")]
    assert len(lines) >= 3
    for line in lines:
        outcome = run(*shlex.split(line)[1:])
        assert outcome.code == 0, f"{line}\n{outcome.out}{outcome.err}"
    assert all(json.loads(path.read_text())["steps"] for path in Path("h").glob("runs/*/*.json"))
