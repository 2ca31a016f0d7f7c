"""Features of frozen models in the tagging task: pooled over batches, mixed, and kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import cellwright as cw
from cellwright.data.tagged import Sentences
from cellwright.embeddings.disk_room import LIMIT
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.flair_lm import CharacterModel
from cellwright.embeddings.pooled import WordMemory
from cellwright.models.settings import TaggerSettings
from cellwright.models.tagger import TaggedBatch
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import load_recipe, opened
from cellwright.runs.trained import load_trained
from cellwright.tasks.registry import open_task, task_kind
from cellwright.tasks.tagging.settings import TaggingSettings
from cellwright.tasks.tagging.task import TaggingTask
from tiny_models import tiny_encoder, tiny_flair

TRAIN = ["ann lives in rome", "bob left", "ann left rome", "rome", "bob lives in oslo . ann left"]
VALID = ["eve left rome", "ann lives", "ann left eve"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    for part, lines in {"train": TRAIN, "valid": VALID, "test": VALID[:1]}.items():
        rows = ["\n".join(f"{word} O" for word in line.split()) for line in lines]
        rows[0] = rows[0].replace("O", "B-X", 1)
        path = tmp_path / "data" / f"{part}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(rows) + "\n")
    return tmp_path


def settings_of(folder: Path, embedding: Any) -> TaggingSettings:
    values = {"data": str(folder / "data"), "embeddings": [embedding]}
    return TaggingSettings.model_validate(values)


def task_of(folder: Path, embedding: Any) -> TaggingTask:
    task = open_task(settings_of(folder, embedding))
    assert isinstance(task, TaggingTask)
    return task


def flair(folder: Path, pooling: str = "min", **others: Any) -> dict[str, Any]:
    return {"kind": "flair", "models": tiny_flair(folder), "pooling": pooling, **others}


def flat(task: TaggingTask, batch: TaggedBatch) -> tuple[list[str], torch.Tensor]:
    """The words of a batch and their features, sentence after sentence."""
    [features] = batch.features.values()
    lengths = batch.lengths.tolist()
    numbers = [int(n) for k, end in enumerate(lengths) for n in batch.words[:end, k]]
    rows = torch.cat([features[:end, k] for k, end in enumerate(lengths)])
    return task.data.vocabulary.decode(numbers), rows


def states(task: TaggingTask, embedding: dict[str, Any], sentences: Sentences) -> torch.Tensor:
    texts = [task.data.vocabulary.decode(words) for words, _ in sentences]
    models = [CharacterModel(path) for path in embedding["models"]]
    return torch.cat([model.states(texts) for model in models], 1)


@pytest.mark.parametrize("pooling", ["min", "max", "mean"])
def test_an_epoch_begins_with_an_empty_memory(folder: Path, pooling: str) -> None:
    task = task_of(folder, flair(folder, pooling))
    for epoch in (0, 1):
        memory = WordMemory(6, pooling)
        for batch in task.batches("train", 2, 1, epoch):
            words, found = flat(task, batch)
            assert torch.equal(found, memory.with_pooled(words, found[:, 6:]))


@pytest.mark.parametrize("pooling", ["min", "max", "mean"])
def test_what_is_measured_begins_with_the_training_part(folder: Path, pooling: str) -> None:
    embedding = flair(folder, pooling)
    task = task_of(folder, embedding)
    memory = WordMemory(6, pooling)
    memory.add(" ".join(TRAIN).split(), states(task, embedding, task.data.train))
    for batch in task.ordered("valid", 2):
        words, found = flat(task, batch)
        expected = memory.with_pooled(words, found[:, 6:])
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


def test_without_pooling_nothing_is_remembered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WordMemory, "add", lambda *_: pytest.fail("added"))
    task = task_of(folder, flair(folder, "none"))
    assert task.ordered("valid", 2)[1].features["0-flair"].shape[-1] == 6
    assert "train" not in task.words._features


def test_a_limited_task_remembers_what_it_has(folder: Path) -> None:
    embedding = flair(folder)
    task = task_of(folder, embedding).limited({"train": 2})
    memory = WordMemory(6)
    memory.add(" ".join(TRAIN[:2]).split(), states(task, embedding, task.data.train)[:6])
    words, found = flat(task, task.ordered("valid", 3)[0])
    assert torch.equal(found, memory.with_pooled(words, found[:, 6:]))


def test_batches_are_the_same_in_any_order_and_in_slices(folder: Path) -> None:
    task = task_of(folder, flair(folder, "mean"))
    batches = task.batches("train", 1, 1, 0)
    expected = [flat(task, batch)[1] for batch in batches]
    for at in (3, 0, 4, 4, 1, -1):
        assert torch.equal(flat(task, task.batches("train", 1, 1, 0)[at])[1], expected[at])
        assert torch.equal(flat(task, batches[at])[1], expected[at])
    some: Sequence[TaggedBatch] = batches[3:0:-2]
    assert [len(flat(task, one)[0]) for one in some] == [len(expected[3]), len(expected[1])]
    assert all(torch.equal(flat(task, some[n])[1], expected[3 - 2 * n]) for n in range(2))


def test_without_the_training_part_a_memory_begins_empty(folder: Path) -> None:
    """As of a run that is used where its data is not; new sentences have features of their own."""
    settings = settings_of(folder, flair(folder))
    whole, kept = open_task(settings), task_kind("tagging").kept
    assert isinstance(whole, TaggingTask)
    assert kept is not None
    restored = kept.restore(settings, kept.take(whole))
    assert isinstance(restored, TaggingTask)
    restored.data = dataclasses.replace(restored.data, test=whole.data.valid)
    memory = WordMemory(6)
    for batch in restored.ordered("test", 2):
        words, found = flat(restored, batch)
        assert torch.equal(found, memory.with_pooled(words, found[:, 6:]))
    model = restored.model(cw.zoo["gru"], TaggerSettings(hidden=4))
    assert len(model.tag(restored.ordered("test", 3)[0])) == 3


def test_short_words_stand_for_pooled_models() -> None:
    values = {"embeddings": ["pooled-flair-news-fast", "flair-news"]}
    pooled, plain = TaggingSettings.model_validate(values).embeddings
    assert (pooled.kind, pooled.pooling, len(pooled.models)) == ("flair", "min", 2)
    assert (plain.kind, plain.pooling) == ("flair", "none")


def test_paths_hold_in_any_working_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of things that are there; names stay names."""
    monkeypatch.chdir(folder)
    (folder / "v.txt").write_text("a 1 2\n")
    (folder / "glove-50d").write_text("a 1 2\n")
    models = [Path(path).name for path in tiny_flair(folder)]
    values = ["v.txt", "glove-50d", {"kind": "flair", "models": [*models, "news-forward"]},
              {"kind": "run", "run": "./data"}, "table"]  # fmt: skip
    settings = TaggingSettings.model_validate({"embeddings": values}).from_anywhere()
    file, name, flair, run, _ = settings.embeddings
    assert (file.name, name.name) == (str(folder / "v.txt"), "glove-50d")
    assert flair.models == (*(str(folder / model) for model in models), "news-forward")
    assert run.run == str(folder / "data")


def test_half_precision_changes_little(folder: Path) -> None:
    full, half = task_of(folder, flair(folder)), task_of(folder, flair(folder, half=True))
    for one, other in zip(full.ordered("valid", 2), half.ordered("valid", 2), strict=True):
        assert other.features["0-flair"].dtype == torch.float32
        torch.testing.assert_close(
            one.features["0-flair"], other.features["0-flair"], atol=1e-3, rtol=1e-3
        )


def test_room_for_all_parts_is_looked_at_before_the_first_is_computed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is enough for valid, and not for all."""
    task = task_of(folder, flair(folder))
    monkeypatch.setenv(LIMIT, "400")
    monkeypatch.setattr(CharacterModel, "states", lambda *_: pytest.fail("computed"))
    says = r"CELLWRIGHT_CACHE_LIMIT is 0 MB; .* \(half = true\)"
    with pytest.raises(EmbeddingError, match=says):
        task.ordered("valid", 2)


def test_layers_are_mixed_by_learned_shares(folder: Path) -> None:
    pytest.importorskip("transformers")
    encoder = {"kind": "transformer", "model": str(tiny_encoder(folder / "encoder"))}
    task = task_of(folder, encoder)
    model = task.model(cw.zoo["gru"], TaggerSettings(hidden=4))
    mixed = model.embedders[0]
    assert (mixed.width, mixed.weights.tolist(), mixed.gamma.item()) == (8, [0, 0, 0], 1)
    batch = task.ordered("train", 5)[0]
    layers = batch.features["0-transformer"].unflatten(-1, (3, 8))
    torch.testing.assert_close(mixed(batch), layers.mean(2))
    with torch.no_grad():
        mixed.weights.copy_(torch.tensor([0.0, 20.0, 0.0]))
        mixed.gamma.fill_(2.0)
    torch.testing.assert_close(mixed(batch), 2 * layers[:, :, 1])
    model.loss(batch, ()).mean.backward()
    assert mixed.gamma.grad is not None
    assert mixed.gamma.grad.item() != 0
    beside = task_of(folder, {**encoder, "mix": False, "layers": [0, -1]})
    assert beside.model(cw.zoo["gru"], TaggerSettings(hidden=4)).embedders[0].width == 16
    found = beside.ordered("train", 5)[0].features["0-transformer"]
    np.testing.assert_array_equal(found.numpy(), layers[:, :, [0, 2]].flatten(2).numpy())


def test_a_run_is_not_used_with_other_models(folder: Path) -> None:
    embedding = flair(folder)
    settings = settings_of(folder, embedding)
    kept = task_kind("tagging").kept
    assert kept is not None
    files = dict(kept.take(open_task(settings)))
    [path, _] = embedding["models"]
    weights = load_file(path)
    save_file({**weights, "encoder.weight": weights["encoder.weight"] + 1}, path)
    with pytest.raises(ValueError, match=r"embedding 1 \(flair\) is not what the run was trained"):
        kept.restore(settings, files)
    files.pop("embeddings.json")  # as of runs that did not keep it yet
    kept.restore(settings, files)


def test_a_training_does_not_go_on_with_other_models(folder: Path) -> None:
    embedding = flair(folder, "none")
    task = {"kind": "tagging", "data": str(folder / "data"), "embeddings": [embedding]}
    recipe = folder / "r.toml"
    recipe.write_text(
        '[task]\nkind = "tagging"\n[model]\nhidden = 4\n[training]\noptimizer = "adam"\n'
        'learning_rate = 0.01\nbatch = 2\nepochs = 2\naverage_after = "none"\n'
    )
    cw.train("gru", task, recipe=recipe, name="tagger", out=folder / "runs", progress=False)
    run = load_trained(folder / "runs" / "tagger")
    assert run.absent is None
    again = load_recipe(folder / "runs" / "tagger" / "recipe.toml")
    assert again.task == opened(run.folder.info.recipe).task  # what is written can be read
    weights = load_file(embedding["models"][0])
    other = {**weights, "encoder.weight": weights["encoder.weight"] + 1}
    save_file(other, embedding["models"][0])
    with pytest.raises(RunError, match=r"(embeddings\.json|embedding 1)"):
        load_trained(folder / "runs" / "tagger")


def test_new_sentences_have_features_without_keeping_them(folder: Path) -> None:
    embedding = flair(folder, "none")
    task = task_of(folder, embedding)
    [source] = task.words.sources
    kept = source.of(task.data.valid)(task.data.valid.words, 0, 8)
    np.testing.assert_allclose(source.rows([line.split() for line in VALID]), kept, atol=1e-6)
    before = sorted((folder / "cache").rglob("*.npy"))
    assert source.rows([["words", "that", "nobody", "knows"]]).shape == (4, 6)
    assert sorted((folder / "cache").rglob("*.npy")) == before
