"""`cellwright generate`, and the same from Python: a run's folder alone is enough."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.runs.runner import train
from cli.terminal import Terminal
from runs.support import small_run, write_corpus
from tiny_sentences import RECIPE, films


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model whose text is gone, one that has no weights, and a model of sentences."""
    root = tmp_path_factory.mktemp("writers")
    corpus = write_corpus(root / "text")
    run = small_run(corpus, root / "runs" / "words", "training.learning_rate=0.05")
    train(run.folder, run.training)
    small_run(corpus, root / "runs" / "new")
    (root / "films.toml").write_text(RECIPE.format(data=films(root / "films"), batch=80, epochs=1))
    cw.train("rnn", recipe=root / "films.toml", name="films", out=root / "runs", progress=False)
    shutil.rmtree(corpus)
    return root / "runs"


@pytest.fixture
def generate(run, runs: Path):
    return lambda *arguments: run("generate", *arguments, "--runs", str(runs))


def test_the_text_follows_the_prompt(generate, runs: Path) -> None:
    done = generate("words", "--prompt", "w1 w2", "--words", "60", "--seed", "4")
    assert (done.code, done.err) == (0, "")
    words = list(cw.load("words", runs=runs).generate("w1 w2", words=60, seed=4))
    assert len(words) == 60
    assert "\n" in words
    assert done.out == "w1 w2 " + " ".join(words).replace(" \n ", "\n") + "\n"
    assert generate("words", "-p", "w1 w2", "-n", "60", "--seed", "4").out == done.out
    assert generate("words", "--prompt", "w1 w2", "--words", "60").out != done.out


def test_json_has_all_that_decides_the_text(generate, runs: Path) -> None:
    prompt = "W1 ann bob ann"
    line = f"words --prompt '{prompt}' --samples 2 --seed 3 -n 6 --top-k 4 --top-p 0.9"
    arguments = [*shlex.split(line), "--temperature", "0.8"]
    done = generate(*arguments, "--json")
    found = json.loads(done.out)
    settings = {"words": 6, "temperature": 0.8, "top_k": 4, "top_p": 0.9, "unk": False}
    assert settings.items() <= found.items()
    assert found["unknown"] == ["ann", "bob"]
    assert done.err.count("ann, bob") == 1
    model = cw.load("words", runs=runs)
    for number, sample in enumerate(found["samples"]):
        assert sample["seed"] == 3 + number
        assert sample["words"] == list(model.generate(prompt, seed=3 + number, **settings))
        assert sample["text"].startswith(prompt)
    one, other = found["samples"]
    assert one["words"] != other["words"]
    text = generate(*arguments).out
    assert text == f"== seed 3\n{one['text']}\n\n== seed 4\n{other['text']}\n"


def test_greedy_is_one_text_for_all_seeds(generate) -> None:
    ways = ["--temperature 0", "--temperature 0 --seed 1", "--top-k 1", "--top-p 0"]
    assert len({generate("words", *way.split()).out for way in ways}) == 1


def test_from_python(runs: Path) -> None:
    model = cw.load("words", runs=runs)
    chances = model.next_word_probabilities("w1 w2", top=3)
    assert len(chances) == 3
    everything = model.next_word_probabilities("w1 w2", top=None)
    assert set(everything) == set(model.vocabulary)
    assert list(everything.items())[:3] == list(chances.items())
    with pytest.raises(UserError, match="only language models"):
        cw.load("films", runs=runs).next_word_probabilities("good")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["films"], "films has learned the task 'sentences', and only language models (the task "
                    "'language') write text; cellwright predict uses this one"),
        (["nobody"], "there is no run nobody"),
        (["new"], "no weights yet"),
        (["words", "--temperature", "-1"], "--temperature"),
        (["words", "--temperature", "nan"], "--temperature"),
        (["words", "--temperature", "inf"], "a temperature is a number from 0 on, not inf"),
        (["words", "--top-p", "1.5"], "--top-p"),
        (["words", "--top-p", "nan"], "--top-p"),
        (["words", "--top-k", "-2"], "--top-k"),
        (["words", "--words", "0"], "--words"),
        (["words", "--samples", "0"], "--samples"),
        (["words", "--seed", "-1"], "--seed"),
    ],
)  # fmt: skip
def test_errors_are_a_line(generate, arguments: list[str], message: str) -> None:
    done = generate(*arguments)
    assert done.code != 0
    assert done.out == ""
    assert message in done.err.splitlines()[0]


def test_a_run_that_has_not_kept_its_words_needs_its_text(run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "text")
    made = small_run(corpus, tmp_path / "old", "training.epochs=1")
    train(made.folder, made.training)
    wanted = run("generate", "old", "--runs", str(tmp_path)).out
    (tmp_path / "old" / "vocabulary.txt").unlink()
    info = json.loads((tmp_path / "old" / "run.json").read_text())
    del info["data"]["kept"]
    (tmp_path / "old" / "run.json").write_text(json.dumps(info))
    assert run("generate", "old", "--runs", str(tmp_path)).out == wanted
    shutil.rmtree(corpus)
    done = run("generate", "old", "--runs", str(tmp_path))
    assert done.code == 1
    assert "text" in done.err.splitlines()[0]
    assert "kept" in done.err


def test_words_appear_as_they_come_and_ctrl_c_ends_it(folder, runs: Path) -> None:
    with Terminal("generate", str(runs / "words"), "-p", "w1\x1b[2J", "-n", "9999") as screen:
        screen.read_until(r"w1\\x1b\[2J(\s+w\d+){3}\s")
        screen.press_ctrl_c()
        screen.read_until("error: interrupted")
        assert screen.exit_code() == 130


def test_a_piece_is_flushed_before_the_next_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    from cellwright.cli import generate

    seen: list[str] = []

    class Stream:
        buffer = property(lambda self: self)

        def isatty(self) -> bool:
            return False

        def write(self, data: bytes) -> None:
            seen.append(data.decode())

        def flush(self) -> None:
            seen.append("flush")

    def pieces():
        for word in ("a", " b"):
            seen.append("draw")
            yield word

    monkeypatch.setattr(sys, "stdout", Stream())
    generate._write(pieces())
    assert seen == ["draw", "a", "flush", "draw", " b", "flush"]


def test_the_examples_of_the_help_run(run, runs: Path) -> None:
    shutil.copytree(runs / "words", Path("runs") / "gru")
    text = run("generate", "--help").out
    lines = [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]
    assert len(lines) >= 4
    for line in lines[1:]:
        done = run(*shlex.split(line)[1:])
        assert done.code == 0, done.err
