"""A run's folder is enough to use what was trained, without the text that it was trained on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.data.word_pairs import WordPairs
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.run import reopen
from cellwright.runs.runner import train
from cellwright.runs.trained import load_trained
from cellwright.runs.word_similarity import embedding_of, similarities
from cellwright.tasks.language.skip_gram import SkipGramSettings
from cellwright.tasks.registry import TaskError
from runs.support import small_run, write_corpus


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose text is gone, in another place than it was made in."""
    folder = tmp_path_factory.mktemp("kept")
    corpus = write_corpus(folder / "text")
    run = small_run(corpus, folder / "run", "training.epochs=1")
    train(run.folder, run.training)
    shutil.copytree(corpus, folder / "text-elsewhere")
    shutil.rmtree(corpus)
    (folder / "run").rename(folder / "moved")
    return folder / "moved"


def test_the_model_and_its_words_are_there(finished: Path):
    run = cw.load(finished)
    words = run.vocabulary
    assert words.tokens[: len(words)] == tuple(
        line.split("\t")[0] for line in (finished / "vocabulary.txt").read_text().splitlines()
    )
    tokens = torch.tensor(words.encode(["w1", "w2", "nobody"]), dtype=torch.long).unsqueeze(1)
    assert words.token(int(tokens[-1])) == "<unk>"
    chances, state = run.model.next_words(tokens)
    assert chances.shape == (3, 1, len(words))
    torch.testing.assert_close(chances.sum(-1), torch.ones(3, 1))
    losses, _ = run.model.token_losses(tokens[:-1], tokens[1:])
    picked = chances[:-1].gather(2, tokens[1:].unsqueeze(2)).squeeze(2)
    torch.testing.assert_close(-picked.log(), losses, rtol=1e-4, atol=1e-5)
    ahead, _ = run.model.next_words(tokens[:1], state)
    assert not torch.equal(ahead[0], chances[0])


def test_it_is_measured_on_other_texts_and_on_its_own_elsewhere(finished: Path, tmp_path: Path):
    elsewhere = str(finished.parent / "text-elsewhere")
    assert cw.evaluate(finished, "test", data=elsewhere).value == cw.load(finished).test
    other = write_corpus(tmp_path / "other")
    (other / "test.txt").write_text("w1 w2 unheard w3\n" * 20)
    assert cw.evaluate(finished, "test", data=str(other)).loss > 0


def test_its_own_text_is_missed_where_it_is_asked_for(finished: Path):
    with pytest.raises(UserError, match=r"without its data.*may name any text"):
        cw.evaluate(finished)
    trained = load_trained(finished)
    with pytest.raises(RunError, match="not measured on it"):
        trained.score("valid")
    assert embedding_of(trained).words == cw.load(finished).vocabulary.tokens
    pairs = WordPairs("pairs", (("w1", "w2"),) * 3, np.array([1.0, 2.0, 3.0]))
    with pytest.raises(RunError, match="not measured on it"):
        similarities([trained], [pairs], SkipGramSettings())


def test_its_own_text_is_used_where_it_is(tmp_path: Path):
    run = small_run(write_corpus(tmp_path / "text"), tmp_path / "run", "training.epochs=1")
    train(run.folder, run.training)
    trained = load_trained(tmp_path / "run")
    assert trained.absent is None
    assert trained.score("test").loss == pytest.approx(cw.load(tmp_path / "run").curve[-1].test)


def test_another_text_in_its_place_does_not_matter(finished: Path, tmp_path: Path):
    folder = shutil.copytree(finished, tmp_path / "run")
    place = Path(json.loads((folder / "run.json").read_text())["data"]["name"])
    write_corpus(place)
    (place / "train.txt").write_text("quite another text\n" * 50)
    try:
        assert "w1" in cw.load(folder).vocabulary
        assert load_trained(folder).absent is not None
    finally:
        shutil.rmtree(place)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "cannot read"),
        (lambda path: path.write_text("w1\t3\n"), "not what the run has kept"),
        (lambda path: path.write_bytes(path.read_bytes()[:-5]), "not what the run has kept"),
    ],
)
def test_damage_is_told(finished: Path, tmp_path: Path, damage, message: str):
    folder = shutil.copytree(finished, tmp_path / "run")
    damage(folder / "vocabulary.txt")
    with pytest.raises(UserError, match=message):
        cw.load(folder).model  # noqa: B018


def test_what_is_no_vocabulary_is_told_whatever_the_hash(finished: Path, tmp_path: Path):
    import hashlib

    folder = shutil.copytree(finished, tmp_path / "run")
    for text in (b"w1\t3\nw1\t2\n", b"\xff\xfe", b"<eos>\t1\n<unk>\tmany\n", b""):
        (folder / "vocabulary.txt").write_bytes(text)
        info = json.loads((folder / "run.json").read_text())
        info["data"]["kept"]["vocabulary.txt"] = hashlib.sha256(text).hexdigest()
        (folder / "run.json").write_text(json.dumps(info))
        with pytest.raises(UserError, match=r"vocabulary.txt cannot be used"):
            cw.load(folder).model  # noqa: B018


def test_a_name_that_leads_elsewhere_is_refused(finished: Path, tmp_path: Path):
    folder = shutil.copytree(finished, tmp_path / "run")
    info = json.loads((folder / "run.json").read_text())
    info["data"]["kept"] = {"../../secret.txt": "00"}
    (folder / "run.json").write_text(json.dumps(info))
    with pytest.raises(RunError, match="no name"):
        cw.load(folder).model  # noqa: B018


def test_a_run_of_an_earlier_version_keeps_its_words_when_it_goes_on(tmp_path: Path):
    corpus = write_corpus(tmp_path / "text")
    run = small_run(corpus, tmp_path / "run", "training.epochs=1")
    folder = tmp_path / "run"
    (folder / "vocabulary.txt").unlink()
    info = json.loads((folder / "run.json").read_text())
    del info["data"]["kept"]
    (folder / "run.json").write_text(json.dumps(info))
    assert RunFolder.open(folder).info.data.kept == {}
    again = reopen(folder)
    train(again.folder, again.training)
    shutil.rmtree(corpus)
    assert cw.load(folder).vocabulary.tokens == run.task.corpus.vocabulary.tokens


def test_a_task_keeps_only_files_with_plain_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import dataclasses

    import cellwright.runs.kept as kept
    from cellwright.tasks.registry import Kept, task_kind

    kind = task_kind("language")
    bad = dataclasses.replace(
        kind, kept=Kept(lambda task: {"../x.txt": b""}, lambda settings, files: None)
    )
    monkeypatch.setattr(kept, "task_kind", lambda name: bad)
    with pytest.raises(TaskError, match="no name"):
        small_run(write_corpus(tmp_path / "text"), tmp_path / "run")
    assert not (tmp_path / "run").exists()
