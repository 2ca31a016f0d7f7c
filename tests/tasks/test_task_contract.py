"""The tasks that come with cellwright hold what every task has to hold."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cellwright.tasks.registry import BUILT_IN
from cellwright.testing import TASK_CHECKS, TaskCase
from tiny_models import tiny_encoder, tiny_flair, tiny_run

WORDS = [f"w{number}" for number in range(12)]

MODELS: dict[str, dict[str, Any]] = {
    "one-layer": {"kind": "one-layer", "hidden": 6, "dropout_x": 0.1, "dropout_output": 0.1},
    "awd": {"kind": "awd", "hidden": 6, "embedding": 5, "layers": 2, "weight_dropout": 0.1},
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text in which each word follows from the one before."""
    folder = tmp_path_factory.mktemp("text")
    for part, lines in (("train", 12), ("valid", 6), ("test", 6)):
        rows = [
            " ".join(WORDS[(5 * line + 7 * at) % 12] for at in range(8)) for line in range(lines)
        ]
        (folder / f"{part}.txt").write_text("\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: check.__name__)
def test_language(check: Callable[[TaskCase], None], model: str, text: Path) -> None:
    check(TaskCase("language", {"data": str(text), "bptt": 7}, MODELS[model], batch=3))


NAMES = ("Ann", "Bob", "Eve", "Rome", "Oslo", "Lima")


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences in which a name is a person before "lives", and a place behind "in"."""
    folder = tmp_path_factory.mktemp("sentences")
    for part, count in (("train", 30), ("valid", 9), ("test", 9)):
        rows = []
        for number in range(count):
            who, where = NAMES[number % 6], NAMES[(number // 2 + 3) % 6]
            rows += [f"{who} B-PER", "lives O", "in O", f"{where} B-LOC", f"{where} I-LOC"]
            rows += [". O"] * (number % 3) + [""]
        (folder / f"{part}.txt").write_text("\n".join(rows))
    return folder


@pytest.mark.parametrize("crf", [True, False], ids=["crf", "softmax"])
@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: check.__name__)
def test_tagging(check: Callable[[TaskCase], None], crf: bool, sentences: Path) -> None:
    words: list[Any] = [{"kind": "table", "width": 5}]
    if crf:
        words += [{"kind": "characters", "size": 4, "width": 3, "dropout": 0.0}]
    model = {"hidden": 6, "layers": 2 if crf else 1, "dropout_input": 0.1, "crf": crf,
             "constrained": crf}  # fmt: skip
    check(TaskCase("tagging", {"data": str(sentences), "embeddings": words}, model, batch=4))


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Embeddings by frozen models, pooled and mixed."""
    folder = tmp_path_factory.mktemp("frozen")
    found: dict[str, dict[str, Any]] = {
        "pooled": {"kind": "flair", "models": tiny_flair(folder / "flair"), "pooling": "mean"},
        "run": {"kind": "run", "run": str(tiny_run(folder / "lm")), "half": True},
    }
    if find_spec("transformers") is not None:
        found["mixed"] = {"kind": "transformer", "model": str(tiny_encoder(folder / "encoder"))}
    return found


@pytest.mark.parametrize("kind", ["pooled", "run", "mixed"])
@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: check.__name__)
def test_tagging_by_frozen_models(
    check: Callable[[TaskCase], None],
    kind: str,
    sentences: Path,
    frozen: dict[str, dict[str, Any]],
) -> None:
    if kind not in frozen:
        pytest.skip("transformers is not installed")
    settings = {"data": str(sentences), "embeddings": [frozen[kind]]}
    check(TaskCase("tagging", settings, {"hidden": 6, "dropout_input": 0.1}, batch=4))


SENTENCE_MODELS: dict[str, dict[str, Any]] = {
    "bi-rnn": {"kind": "bi-rnn", "hidden": 5, "feed_forward": 4},
    "blm": {
        "kind": "blm",
        "hidden": 5,
        "feed_forward": 4,
        "layers": 2,
        "layer_cells": ["*", "gru"],
    },
    "esim": {"kind": "esim", "hidden": 4, "hidden_composition": 3, "projection": 5},
}


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Sentences with labels that follow from their first word, and pairs with scores that follow
    from the words that both have."""
    made = {what: tmp_path_factory.mktemp(what) for what in ("labels", "scores")}
    for part, count in (("train", 30), ("valid", 9), ("test", 9)):
        labels, scores = ["sentence\tlabel"], ["sentence1\tsentence2\tscore"]
        for number in range(count):
            first = [NAMES[number % 6], "lives", "in", NAMES[(number // 2 + 3) % 6]]
            second = [NAMES[number % 4], "left"] + ["."] * (number % 3)
            labels.append(f"{' '.join(first)}\t{'even' if number % 2 else 'odd'}")
            both = len({*first} & {*second})
            scores.append(f"{' '.join(first)}\t{' '.join(second)}\t{both + number % 2 / 2}")
        for what, rows in (("labels", labels), ("scores", scores)):
            (made[what] / f"{part}.tsv").write_text("\n".join(rows) + "\n")
    return made


@pytest.mark.parametrize(
    ("model", "what"),
    [("bi-rnn", "labels"), ("bi-rnn", "scores"), ("blm", "scores"), ("esim", "scores")],
)
@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: check.__name__)
def test_sentences(
    check: Callable[[TaskCase], None], model: str, what: str, examples: dict[str, Path]
) -> None:
    words: list[Any] = [{"kind": "table", "width": 5}]
    if model == "blm":
        words += [{"kind": "characters", "size": 4, "width": 3, "dropout": 0.0}]
    settings = {"data": str(examples[what]), "embeddings": words}
    check(TaskCase("sentences", settings, SENTENCE_MODELS[model], batch=4))


@pytest.mark.parametrize("kind", ["pooled", "run", "mixed"])
@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: check.__name__)
def test_pairs_by_frozen_models(
    check: Callable[[TaskCase], None],
    kind: str,
    examples: dict[str, Path],
    frozen: dict[str, dict[str, Any]],
) -> None:
    if kind not in frozen:
        pytest.skip("transformers is not installed")
    settings = {"data": str(examples["scores"]), "embeddings": [frozen[kind]]}
    check(TaskCase("sentences", settings, SENTENCE_MODELS["blm"], batch=4))


def test_every_task_is_tested() -> None:
    assert set(BUILT_IN) == {"language", "tagging", "sentences"}
