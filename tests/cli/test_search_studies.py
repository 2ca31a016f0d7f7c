"""`cellwright search` with a study's recipe: it trains, stops, goes on, and compares."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from cellwright import Cell
from cellwright.cli.search import study_progress
from cellwright.cli.search.study_progress import SHOWN, Pace, drawn, failure_line, trial_line
from cellwright.search.studies import start
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.metric import Metric
from cellwright.trials.store import TrialRecord
from cellwright.trials.study import (
    AttemptFailed,
    StoreBack,
    StoreLost,
    TrialFinished,
    TrialStarted,
)
from runs.support import SETTINGS

TINY = [
    "--executor", "in-process",
    *(f"--set={'' if setting.startswith('task') else 'child.'}{setting}"
      for setting in SETTINGS if "epochs" not in setting),
    *(f"--set=text.{part}=none" for part in ("train", "valid", "test")),
    "--data", "text",
]  # fmt: skip


def test_a_study_with_its_random_search(run, corpus):
    command = ["search", "studies-laptop", *TINY, "--trials", "4", "--name", "s", "--baseline"]
    found = run(*command)
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert lines[0].startswith("s: aging-evolution over fenas on text, 4 trials of up to 2 epochs")
    assert [line.split()[1] for line in lines if line.startswith("trial ")][:4] == list("0123")
    assert "random search at the same cost" in found.out
    assert "found the better cell" in found.out
    ledgers = json.loads(Path("studies/s/ledger.json").read_text())
    assert ledgers["study"]["trials"] == 4
    assert ledgers["random"]["epochs"] >= ledgers["study"]["epochs"]
    cell = Cell.from_json(Path("studies/s/best.json").read_text())
    assert cell.id == ledgers["study"]["best"]["cell"]
    assert Path("studies/s/best.svg").read_text().startswith("<svg")
    (advice,) = [line.split("next")[1] for line in lines if line.startswith("next")]
    assert advice.split()[:3] == ["cellwright", "train", "studies/s/best.json"]
    again = run(*command)
    assert "going on: 4 trials" in again.out
    assert json.loads(Path("studies/s/ledger.json").read_text()) == ledgers
    more = run(*command[:-1], "--trials", "5")
    assert "5 of 5" in more.out


def test_ctrl_c_loses_nothing(run, corpus, monkeypatch):
    command = ["search", "studies-laptop", *TINY, "--trials", "4", "--name"]
    assert run(*command, "whole").code == 0
    real = study_progress.Pace.add

    def stop_after_trial_1(self, event):
        real(self, event)
        if isinstance(event, TrialFinished) and event.number == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(study_progress.Pace, "add", stop_after_trial_1)
    found = run(*command, "cut")
    assert found.code == 130
    assert "what has ended (2 trials) is kept in studies.db" in found.err
    assert "go on: the same command again" in found.err
    assert "cellwright studies show cut" in found.err
    monkeypatch.setattr(study_progress.Pace, "add", real)
    assert run(*command, "cut").code == 0
    figures = []
    for name in ("whole", "cut"):
        trials = json.loads(run("studies", "show", name, "--json").out)["best"]
        figures.append([(t["number"], t["cell_id"], t["value"]) for t in trials])
    assert figures[0] == figures[1] != []


@pytest.fixture
def search(run, corpus, monkeypatch):
    """A study of two trials that an evaluator of the tests evaluates."""

    def search(evaluator: str, *arguments: str):
        monkeypatch.setattr(start, "EVALUATOR", f"trials.evaluators:{evaluator}")
        return run("search", "studies-laptop", *TINY, "--trials", "2", "--name", "s", *arguments)

    return search


def test_a_study_whose_trials_all_fail_has_failed(search, run):
    for _ in range(2):  # the second time there is nothing left to try
        found = search("gone", "--baseline")
        assert found.code == 1
        assert "no cell was found: all 2 trials failed" in found.out
        assert found.err.splitlines()[-3:] == [
            "error: all 2 trials of study 's' failed",
            "once that is put right, search again under another --name:",
            "trial 0 and 1 more: RuntimeError: the data is gone",
        ]
    assert "there is no random search: whatever was trained failed" in found.err
    assert not Path("studies/s").exists()
    [row] = json.loads(run("studies", "list", "--json").out)
    assert (row["name"], row["state"]) == ("s", "failed")
    shown = run("studies", "show", "s").out
    assert "failed, 2 of 2 trials have ended" in shown
    assert "failed: trial 0 and 1 more: RuntimeError: the data is gone" in shown
    assert json.loads(run("studies", "show", "s", "--json").out)["failures"] == [
        "trial 0 and 1 more: RuntimeError: the data is gone"
    ]


def test_a_study_whose_trials_all_diverge_has_no_cell(search, run):
    found = search("exploding")
    assert (found.code, found.err) == (0, "")
    assert "no cell was found: all 2 trials diverged" in found.out
    assert run("studies", "list").out.splitlines()[1].split()[-1] == "complete"
    assert "no cell was found: all 2 trials diverged" in run("studies", "show", "s").out


def test_a_random_search_whose_trials_all_fail_does_not_hide_the_study(search):
    found = search("gone_at_random", "--baseline")
    assert found.code == 1
    assert "error: all 2 trials of study 's-random' failed" in found.err
    assert "RuntimeError: the data is gone" in found.err
    assert Cell.from_json(Path("studies/s/best.json").read_text()).nodes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--executor", "lokal"], "there is no executor 'lokal'; did you mean 'local'?"),
        (["--address", "auto"], "an address is for a Ray cluster"),
        (["--set", "method.smaple=3"], "has no setting 'smaple'; did you mean 'sample'?"),
        (["--store", "nowhere/s.db"], "nowhere"),
        (["--data", "nothing"], "nothing"),
        (["--name", "x" * 300], "a study's name is"),
        (["--threads", "99999"], "threads should be from 1 to "),
        (["--set", "threads=999"], "threads should be from 1 to "),
        (["--executor", "local", "--workers", "99999"], "workers should be from 1 to "),
        (["--trials", "9" * 25], "--trials"),
    ],
)
def test_bad_input_is_one_line(run, corpus, arguments, message):
    found = run("search", "studies-laptop", *TINY, *arguments)
    assert found.code != 0
    assert message in found.err


def test_the_seed_is_part_of_the_name(run, corpus):
    assert run("search", "studies-laptop", *TINY, "--trials", "1", "--seed", "7").code == 0
    assert "studies-laptop-7" in run("studies", "list").out
    changed = run("search", "studies-laptop", *TINY, "--trials", "1", "--seed", "7",
                  "--set", "method.sample=2")  # fmt: skip
    assert "was begun with search.settings.sample = 3, not 2" in changed.err


# -- what is shown while it goes on --------------------------------------------------------


def record(number: int, value: float) -> TrialRecord:
    return TrialRecord(1, number, "cafe", 2, 0, {}, "finished", 1, 0, 0, 0.0, 0.0, 1.0, "ok", value,
                       1.0, 1.0, 1000, 10**8, {"test": value}, None)  # fmt: skip


class Overview:
    def __init__(self, ended: int, failed: int = 0) -> None:
        self.ended, self.statuses, self.states = ended, {"ok": ended}, {"failed": failed}


def finished(number: int, value: float | None) -> TrialFinished:
    outcome = {"value": value, "status": "exploded" if value is None else "ok"}
    return TrialFinished(number, "cafe", 2, 1, outcome, 3.0)


def test_pace_counts_what_this_driver_and_others_did():
    now, looks = [0.0], []
    best = [record(n, 5.0 + n) for n in range(SHOWN)]

    def look():
        looks.append(now[0])
        return Overview(10 if now[0] < 50 else 30), best

    pace = Pace(look, 40, lambda: now[0])
    assert (pace.ended, pace.per_hour, pace.left) == (10, None, None)
    pace.add(TrialStarted(10, "cafe", 2, 1))
    assert list(pace.running) == [10]
    now[0] = 4.0
    pace.add(finished(10, 99.0))
    pace.add(finished(11, None))
    assert looks == [0.0]  # neither belongs among the best
    assert (pace.ended, pace.diverged, list(pace.running)) == (12, 1, [])
    assert (pace.per_hour, pace.left) == (1800.0, 56.0)
    pace.add(finished(12, 1.0))
    assert looks == [0.0, 4.0]
    pace.add(AttemptFailed(13, "cafe", 1, "timeout", "too long", again=True))
    assert pace.failed == 0
    pace.add(AttemptFailed(13, "cafe", 2, "timeout", "too long", again=False))
    assert pace.failed == 1
    now[0] = 60.0
    pace.add(finished(14, 99.0))
    assert pace.ended == 30  # others have been at work


def test_the_live_table_and_the_lines(capsys):
    from rich.console import Console

    pace = Pace(lambda: (Overview(2), [record(0, 5.0), record(1, 6.0)]), 8)
    pace.add(TrialStarted(2, "cafe", 2, 1))
    Console(width=80).print(drawn(pace, PERPLEXITY))
    shown = capsys.readouterr().out
    assert "148.4" in shown
    assert "2 of 8 trials" in shown
    assert "0 failed   running: 2" in shown
    assert max(map(len, shown.splitlines())) <= 80
    line = trial_line(finished(2, 7.0), pace, PERPLEXITY)
    assert "perplexity 1096.6" in line
    assert "best 148.4 (trial 0)" in line
    assert "exploded" in trial_line(finished(2, None), pace, PERPLEXITY)
    accuracy = Metric(name="accuracy", form="percent")
    better = Pace(lambda: (Overview(1), [record(0, 0.125)]), 8)
    line = trial_line(finished(2, 0.25), better, accuracy)
    assert "accuracy 75.00" in line
    assert "best 87.50 (trial 0)" in line
    Console(width=80).print(drawn(better, accuracy))
    assert "accuracy ↑" in capsys.readouterr().out
    failed = AttemptFailed(3, "cafe", 1, "memory", "held 3 MiB\nmore", again=True)
    assert failure_line(failed) == "trial 3, attempt 1: memory: held 3 MiB; it is tried again"
    with study_progress.shown(lambda: (Overview(0), []), 8, PERPLEXITY) as watch:
        watch(StoreLost("the store x is gone", 9.0))
        watch(StoreBack("the store x is back"))
    assert capsys.readouterr().out == "the store x is gone\nthe store x is back\n"
    empty = Pace(lambda: (Overview(0), []), 8)
    Console(width=80).print(drawn(empty, PERPLEXITY))
    assert "no trial has a value yet" in capsys.readouterr().out
