"""`cellwright sensitivity`: its help teaches, and what is wrong is said at once."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cellwright.base.threads import threads_for


def test_the_examples_of_the_help_run(run, shell):
    text = run("sensitivity", "--help").out
    lines = [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]
    assert len(lines) >= 3
    said = []
    for line in lines:
        program, *arguments = shlex.split(line)
        with threads_for(1):  # so little work is slower on more
            outcome = run(*arguments) if program == "cellwright" else shell(line)
        assert outcome.code == 0, f"{line}\n{outcome.out}{outcome.err}"
        said.append(outcome.out)
    assert "search 2 of 2: nodes 1, m 2" in said[2]
    assert re.search(r"is at nodes [12] of 1 and 2 \(the recipe", said[2])
    assert "picture: sensitivity/sensitivity.svg" in said[2]
    assert "search 1 of 2" not in said[4]
    assert "3 cells, 1 seed: 3 trainings, 2 of them done before" in said[4]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ess-laptop"], "--vary is missing, as in: --vary nodes=2,4,8"),
        (["ess-laptop", "--vary", "nodes="], "as in nodes=2,4,8, not 'nodes='"),
        (["ess-laptop", "--vary", "nodes=2,x"], "as in nodes=2,4,8, not 'nodes=2,x'"),
        (["ess-laptop", "--vary", "nods=2"], "did you mean 'nodes'"),
        (["darts-ptb-laptop", "--vary", "m=2"], "what may vary is nodes"),
        (["ess-laptop", "--vary", "m=100"], "m=100: m, how many steps"),
        (["random-ptb", "--vary", "nodes=2"], "random-ptb is the recipe of a study"),
        (["laptop", "--vary", "nodes=2"], "laptop"),
        (["ess-latop", "--vary", "nodes=2"], "did you mean 'ess-laptop'"),
        (["ess-laptop", "--vary", "nodes=2", "--recipe", "ess-ptb"], "ess-ptb"),
        (["ess-laptop", "--vary", "nodes=2", "--set", "search.round=1"], "search.rounds"),
        (["ess-laptop", "--vary", "nodes=2", "--set-training", "training.epoch=1"], "epochs"),
        (["ess-laptop", "--vary", "nodes=2", "--against", "lstmm"], "did you mean 'lstm'"),
        (["ess-laptop", "--vary", "nodes=2", "--parameters", "10"], "should have 10 at most"),
        (["ess-laptop", "--vary", "nodes=2", "--data", "nowhere"], "nowhere"),
        (["ess-laptop", "--vary", "nodes=2", "--executor", "locl"], "did you mean 'local'"),
        (["ess-laptop", "--vary", "nodes=2", "--search", "inter"], "--search"),
        (["ess-laptop", "--vary", "nodes=2", "--random", "2", "--set", "search.scope=inter"],
         "scope is inter"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_made(run, corpus: Path, arguments, words: str):
    data = [] if "--data" in arguments else ["--data", "text"]
    small = ["--set-training", "training.batch=4", "--set-training", "training.evaluation_batch=4"]
    batch = ["--set", "search.batch=4", "--set", "search.evaluation_batch=4"]
    done = run("sensitivity", *arguments, *data, *small, *batch, "-o", "s")
    assert done.code in (1, 2)
    assert words in done.err
    assert not Path("s").exists()


def test_a_folder_of_something_else_stays_as_it_is(run, corpus: Path):
    small = ["--set-training", "training.batch=4", "--set-training", "training.evaluation_batch=4"]
    batch = ["--set", "search.batch=4", "--set", "search.evaluation_batch=4"]
    more = ["--data", "text", *small, *batch, "-o", "text"]
    done = run("sensitivity", "ess-laptop", "--vary", "nodes=2", *more)
    assert done.code == 1
    assert "text has other files, such as" in done.err
    assert not Path("text/sensitivity.json").exists()
