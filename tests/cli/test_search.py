"""`cellwright search` with one-shot recipes, as a user meets it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cellwright.cell import Cell
from cli.terminal import Terminal

SHORT = [
    word
    for setting in (
        "search.nodes=2",
        "search.rounds=1",
        "search.warmup_epochs=0",
        "search.batch=8",
        "search.evaluation_batch=4",
        "task.bptt=9",
        "model.hidden=5",
        "selection_cells=1",
    )
    for word in ("--set", setting)
]


@pytest.fixture
def short(run, corpus: Path):
    """Search for a moment on a small text."""

    def short(*arguments: str):
        import torch

        torch.set_num_threads(1)
        return run("search", "ess-laptop", "--data", "text", *SHORT, *arguments)

    return short


def test_it_ends_with_the_cell_and_the_command_to_train_it(run, short) -> None:
    done = short("--name", "mine", "--seed", "4")
    assert done.code == 0
    assert "ess on text: recipe ess-laptop, seed 4, 1 thread" in done.out
    assert re.search(r"^ +1 +1 +intra +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ ", done.out, re.MULTILINE)
    assert re.search(r"^ +2 +1 +inter ", done.out, re.MULTILINE)
    cell = Cell.from_json(Path("searches/mine/found.json").read_bytes())
    assert f"searches/mine/found.json ({cell.id})" in done.out
    [line] = [line for line in done.out.splitlines() if line.startswith("next")]
    command = line.removeprefix("next").split()
    assert command[:2] == ["cellwright", "train"]
    short_training = ["--set", "model.hidden=5", "--set", "training.epochs=1"]
    assert run(*command[1:], *short_training).code == 0


def test_one_part_alone(short) -> None:
    done = short("--search", "intra", "--name", "inside")
    assert done.code == 0
    assert " inter " not in done.out
    assert "f_gate" not in Path("searches/inside/found.json").read_text()


def test_one_that_explodes_says_what_to_change(short) -> None:
    done = short("--set", "search.explode_above=0.1", "--set", "search.learning_rate=0.3")
    assert done.code == 0
    assert re.search(r"^status +diverged after 0 epochs: exploded", done.out, re.MULTILINE)
    assert re.search(r"^try .* --set search.learning_rate=0.075, and", done.out, re.MULTILINE)


def test_several_seeds_and_the_choice(short) -> None:
    done = short("--seeds", "2", "--set", "selection_epochs=1", "--name", "two")
    assert done.code == 0
    assert "what seed 1 found, trained from scratch" in done.out
    rows = re.findall(r"^ +(\d) +([\d.]+) +([\d.]+) +[\d.]+ s  \w{16} *(chosen)?", done.out, re.M)
    assert len(rows) == 2
    assert (rows[0][3], rows[1][3]) == ("chosen", "")
    assert float(rows[0][2]) <= float(rows[1][2])


def test_candidates_and_the_choice(short) -> None:
    words = ("selection_cells=3", "selection_epochs=1")
    done = short(*(word for each in words for word in ("--set", each)), "--name", "three")
    assert done.code == 0
    assert "candidate 3 of seed 0, trained from scratch" in done.out
    row = r"^ +0  (found|drawn|epoch \d) +([\d.]+) +1 +[\d.]+ s  \w{16} *(chosen)?"
    rows = re.findall(row, done.out, re.M)
    assert [each[2] for each in rows] == ["chosen", "", ""]
    assert [float(each[1]) for each in rows] == sorted(float(each[1]) for each in rows)
    assert re.search(r"^time +[\d.]+ m?s, and [\d.]+ s for the choice", done.out, re.MULTILINE)


def test_a_search_that_diverges_has_found_nothing(short) -> None:
    done = short("--set", "search.explode_above=0.1", "--name", "wild")
    assert done.code == 0
    assert "diverged after 0 epochs: exploded" in done.out
    assert "the search diverged: the cell is where it stood, not one that it found" in done.err


def test_every_recipe_is_listed_without_torch(shell) -> None:
    outcome = shell("cellwright search --list-recipes", PYTHONPROFILEIMPORTTIME="1")
    for name in ("ess-ptb", "i-darts-ptb-laptop", "darts-ptb", "enas-ptb", "fenas-ptb"):
        assert re.search(rf"^{name} ", outcome.out, re.MULTILINE)
    assert "torch" not in re.findall(r"\| +([\w.]+)$", outcome.err, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ess-laptopp"], 1, "unknown recipe 'ess-laptopp'; did you mean 'ess-laptop'"),
        (["laptop"], 1, "'laptop' is a recipe for a training (cellwright train CELL --recipe"),
        (["my.toml"], 1, "my.toml: extends: 'laptop' is a recipe for a training"),
        (["own.toml"], 1, "own.toml is a recipe for a training"),
        (["missing.toml"], 1, "there is no recipe"),
        ([], 2, "a RECIPE is missing"),
        (["ess-laptop", "--search", "everything"], 1, "search.scope"),
        (["ess-laptop", "--set", "search.round=2"], 1, "rounds"),
        (["ess-laptop", "--workers", "2"], 2, "leave out --workers"),
        (["ess-laptop", "--data", "nowhere"], 1, "nowhere"),
        (["ess-laptop", "--name", "a/b"], 2, "no name for a run's folder"),
        (["--resume", "nothing"], 1, "there is no search nothing"),
        (["ess-laptop", "--resume", "x"], 2, "leave out RECIPE"),
    ],
)
def test_what_is_wrong_is_said(run, arguments: list[str], code: int, message: str) -> None:
    Path("my.toml").write_text('extends = "laptop"')
    Path("own.toml").write_text("[training]\nepochs = 3\n")
    done = run("search", *arguments)
    assert done.code == code
    assert message in done.err
    assert not Path("searches").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_on_a_terminal_there_are_bars_until_ctrl_c_and_then_it_goes_on(
    folder: Path, corpus: Path, run
) -> None:
    words = ("search", "ess-laptop", "--data", "text", *SHORT, "--set", "search.rounds=6")
    with Terminal(*words, "--name", "bars") as terminal:
        terminal.read_until("whole search")
        terminal.press_ctrl_c()
        terminal.read_until("go on: cellwright search --resume searches/bars")
        assert terminal.exit_code() == 130
    assert "of 12 at most" in terminal.seen
    done = run("search", "--resume", "bars")
    assert done.code == 0
    assert "going on in searches/bars" in done.out
    again = run("search", "--resume", "bars")
    assert (again.code, "nothing to resume" in again.err) == (1, True)
