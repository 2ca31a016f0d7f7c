"""`cellwright train` trains, shows how it goes, stops and goes on, and says what is wrong."""

from __future__ import annotations

import json
import math
import os
import re
import signal
from pathlib import Path

import pytest

from cellwright.cell.listings.supernets import darts_supernet
from cellwright.runs.folder import RunFolder
from cellwright.runs.recipes import recipe_names
from cellwright.runs.runner import Event
from cellwright.runs.suggestion import suggested_recipe
from cli.conftest import SHORT
from cli.terminal import Terminal
from runs.support import outcome, write_corpus

EPOCH = re.compile(r"^ +(\d+)( +[\d.]+){3} +[\d.]+ s", re.MULTILINE)


def test_a_training_from_start_to_end(short):
    done = short("gru")
    assert (done.code, done.err) == (0, "")
    assert [match[1] for match in EPOCH.finditer(done.out)] == ["1", "2"]
    [path] = Path("runs").iterdir()
    assert re.fullmatch(r"gru-text-laptop-\d{8}-\d{6}", path.name)
    result = RunFolder.open(path).result()
    assert result is not None
    assert f"valid {math.exp(result.valid):.1f}, test " in done.out
    assert f"parameters  {result.parameters:,}" in done.out
    for line in ("finished", f"runs/{path.name}", f"cellwright runs plot runs/{path.name}"):
        assert line in done.out


def test_output_that_is_not_a_terminal_is_plain_lines(short):
    done = short("rnn", "--set", "training.epochs=3")
    assert "\x1b" not in done.out
    assert "\r" not in done.out
    assert len(EPOCH.findall(done.out)) == 3
    assert "step" not in done.out


@pytest.mark.parametrize(
    ("lines", "recipe"), [(60, "laptop"), (60_000, "darts-ptb-training-laptop")]
)
def test_a_recipe_that_fits_the_text_is_chosen_and_named(run, lines: int, recipe: str):
    write_corpus(Path("text"))
    Path("text/train.txt").write_text("some words of text here\n" * lines)
    assert suggested_recipe("text", ["training.epochs=3"]).name == recipe


def test_without_anything_the_text_of_python_is_learned(run, monkeypatch: pytest.MonkeyPatch):
    done = run("train", "gru", *SHORT[:2], "--set", "training.batch=2000", "--set",
               "training.epochs=1", "--set", "training.evaluation_batch=500")  # fmt: skip
    assert done.code == 0, done.err
    assert "no recipe was named: laptop fits data of this size" in done.out
    assert "gru on builtin: recipe laptop, seed 0, 1 thread" in done.out


def test_a_recipe_in_a_file_and_a_cell_in_a_file(run, trained):
    first = trained("gru", "first", "--seed", "3")
    run("cells", "convert", "gru", "--to", "nas-bench-nlp", "-o", "cell.json")
    recipe = str(first / "recipe.toml")
    done = run("train", "cell.json", "--recipe", recipe, "--seed", "3", "--name", "second")
    assert done.code == 0, done.err
    assert "no recipe was named" not in done.out
    results = [RunFolder.open(Path("runs", name)).result() for name in ("first", "second")]
    assert results[0].valid == results[1].valid


def test_where_runs_go(run, short):
    assert short("gru", "--out", "other", "--name", "my run").code == 0
    assert RunFolder.open("other/my run").info.recipe.training.epochs == 2
    again = short("gru", "--out", "other", "--name", "my run")
    assert (again.code, again.out.count("epoch")) == (1, 0)
    assert "other/my run is there already" in again.err


def test_a_cell_that_diverges_is_a_result(short):
    done = short("rnn", "--set", "training.optimizer=sgd", "--set", "training.learning_rate=1e6")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"status +diverged in epoch 1: (exploded|loss is nan)", done.out)
    assert re.search(r"^try .* --set training.learning_rate=250000, and", done.out, re.MULTILINE)
    assert "cellwright runs show runs/" in done.out


def test_the_recipes_are_listed(run):
    lines = run("train", "--list-recipes").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == recipe_names()
    assert re.search(r"^laptop +builtin +10 +A small model", "\n".join(lines), re.MULTILINE)


# -- stopping and going on ---------------------------------------------------------------------


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch):
    """Send a signal after a number of events, as somebody at the keyboard would."""
    from cellwright.cli import train_progress

    real = train_progress.shown

    def after(events: int, number: int = signal.SIGINT) -> None:
        from contextlib import contextmanager

        @contextmanager
        def shown(*arguments):
            with real(*arguments) as show:
                seen = 0

                def watch(event: Event) -> None:
                    nonlocal seen
                    seen += 1
                    show(event)
                    if seen == events:
                        signal.raise_signal(number)

                yield watch

        monkeypatch.setattr(train_progress, "shown", shown)

    yield after
    monkeypatch.setattr(train_progress, "shown", real)


def test_stopped_twice_and_resumed_it_is_the_run_without_a_stop(run, trained, short, interrupt):
    whole = trained("gru", "whole")
    interrupt(3)
    stopped = short("gru", "--name", "cut")
    assert stopped.code == 130
    assert "stopped in epoch 1, after step 4 of " in stopped.err
    assert "go on: cellwright train --resume runs/cut" in stopped.err
    assert "status" not in stopped.out
    interrupt(5, signal.SIGTERM)
    assert run("train", "--resume", "runs/cut").code == 143
    interrupt(-1)
    done = run("train", "--resume", "cut", "--checkpoint-every", "0")
    assert done.code == 0, done.err
    assert "going on in runs/cut" in done.out
    assert outcome(RunFolder.open("runs/cut")) == outcome(RunFolder.open(whole))


def test_the_seed_and_the_number_of_threads_are_kept(short, interrupt):
    interrupt(1)
    assert short("gru", "--name", "two", "--seed", "5", "--threads", "2").code == 130
    info = RunFolder.open("runs/two").info
    assert (info.seed, info.threads) == (5, 2)


def test_a_run_that_has_ended_is_not_resumed(run, trained):
    trained("gru", "done")
    again = run("train", "--resume", "done")
    assert (again.code, again.out) == (1, "")
    assert again.err == (
        "error: runs/done has finished, and there is nothing to resume; 'cellwright runs show "
        "runs/done' shows what came out\n"
    )


def test_a_damaged_checkpoint_is_named(run, short, interrupt):
    interrupt(3)
    short("gru", "--name", "cut")
    interrupt(-1)
    path = Path("runs/cut/last.safetensors")
    path.write_bytes(path.read_bytes()[:-100])
    done = run("train", "--resume", "cut")
    assert done.code == 1
    first, second = done.err.splitlines()
    assert first.startswith("error: the checkpoint runs/cut/last.safetensors is damaged: ")
    assert second == "once that is put right: cellwright train --resume runs/cut"


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_on_a_terminal_there_are_bars_until_ctrl_c(folder: Path, corpus: Path):
    endless = ("--set", "training.epochs=100_000")
    words = ("train", "gru", "--data", "text", "--name", "bars", *SHORT, *endless)
    with Terminal(*words, columns=80) as terminal:
        terminal.read_until(r"best valid \d")
        terminal.press_ctrl_c()
        terminal.read_until("go on: cellwright train --resume runs/bars")
        assert terminal.exit_code() == 130
    seen = terminal.seen
    for part in (r"epoch [\d,]+ of 100,000", r"step \d+ of", r"[\d,]+ words/s", r"\d:\d\d left"):
        assert re.search(part, seen), part
    assert RunFolder.open("runs/bars").state == "stopped"


# -- what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ltsm"], 1, "there is no cell 'ltsm'; did you mean 'lstm'"),
        (["missing.json"], 1, "missing.json: no such file or directory"),
        (["gru", "--recipe", "laptp"], 1, "unknown recipe 'laptp'; did you mean 'laptop'?"),
        (["gru", "--recipe", "no/such.toml"], 1, "no/such.toml"),
        (["gru", "--set", "training.epoch=3"], 1, "did you mean 'training.epochs'?"),
        (["gru", "--set", "training.epochs=many"], 1, "training.epochs should be "),
        (["gru", "--set", "epochs"], 1, "a setting looks like training.epochs=3"),
        (["gru", "--data", "pbt"], 1, "unknown corpus 'pbt'"),
        (["gru", "--data", "ptb"], 1, "'cellwright data get ptb' gets it, or says how"),
        (["gru", "--data", "."], 1, "no file for the part 'train'"),
        (["gru", "--data", "text"], 1, "tokens are too few for a batch of "),
        (["supernet.json"], 1, "supernet"),
        (["gru", "--name", "a/b"], 2, "no name for a run's folder"),
        (["gru", "--name", ".."], 2, "no name for a run's folder"),
        (["gru", "--out", "file", "--set", "training.batch=2"], 1, "cannot make file/"),
        (["two.json"], 2, "two.json has 2 cells, and a run trains one"),
        (["gru", "--seed", "-1"], 2, "--seed"),
        (["gru", "--threads", "0"], 2, "--threads"),
        (["gru", "--threads", "99999999999"], 1, "threads should be from 1 to "),
        (["gru", "--data", "whole", "--set", "model.hidden=1000000"], 1, "TB of memory at least"),
        (["gru", "--set", "model.hidden=9999999"], 1, "model.hidden should be at most 1,000,000"),
        (["gru", "--set", "training.learning_rate=inf"], 1, "should be at most 1,000,000, not inf"),
        ([], 2, "a CELL is missing, or --resume RUN"),
        (["--resume", "nothing"], 1, "there is no run nothing; 'cellwright runs list' shows"),
        (["--resume", "text"], 1, "text is not a run: it has no run.json"),
        (["--resume", "file"], 1, "file is a file; a run is a folder"),
        (["gru", "--resume", "x", "--seed", "2"], 2, "leave out CELL, --seed"),
    ],
)  # fmt: skip
def test_errors_are_a_line(run, monkeypatch, arguments: list[str], code: int, message: str):
    monkeypatch.delenv("CELLWRIGHT_DATA", raising=False)
    write_corpus(Path("text"))
    Path("text/valid.txt").write_text("w1 w2 w3\n")
    write_corpus(Path("whole"))
    Path("file").write_text("")
    Path("supernet.json").write_text(darts_supernet(2).cell.to_json())
    run("cells", "convert", "rnn", "gru", "--to", "cellwright", "-o", "two.json")
    done = run("train", *arguments)
    assert done.code == code, done.err
    first = done.err.splitlines()[0]
    assert first.startswith("error: ")
    assert message in first
    assert "epoch" not in done.out
    assert not Path("runs").exists()


def test_a_full_disk_says_how_to_go_on(short):
    from runs.support import largest_file

    with largest_file(5000):
        done = short("gru", "--name", "full")
    assert done.code == 1
    assert done.err.startswith("error: cannot write runs/full/")
    assert done.err.splitlines()[1].endswith("cellwright train --resume runs/full")


def test_json_of_another_version_is_named(run, trained):
    path = trained("gru", "old") / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": "cellwright-run/9"}))
    done = run("train", "--resume", "old")
    assert done.code == 1
    assert "old/run.json is damaged, or of another version" in done.err
