"""Frozen recurrent matrices, as NAS-Bench-NLP's release has them: same bits after training as
before, in every layer, and all else has moved."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import torch

import cellwright as cw
from cellwright import zoo
from cellwright.base.errors import UserError
from cellwright.engine import WeightBank
from cellwright.models.awd import Awd
from cellwright.models.settings import AwdSettings
from cellwright.runs.errors import Stopped
from cellwright.runs.recipes import load_recipe
from cellwright.training.results import EpochDone
from runs.support import write_corpus

SMALL = {
    "model.embedding": 8, "model.hidden": 10, "training.batch": 8, "training.evaluation_batch": 4,
    "task.bptt": 7, "task.bptt_spread": 0.0, "training.learning_rate": 0.01,
}  # fmt: skip
CELLS = ["lstm", "nbnlp-lstm", "darts-v1"]


def model(cell: str, recurrent: str = "frozen", backend: str = "auto") -> Awd:
    torch.manual_seed(0)
    settings = AwdSettings(embedding=8, hidden=10, recurrent=recurrent)
    return Awd(settings, zoo[cell], 20, backend)


def is_recurrent(name: str) -> bool:
    """The release's rule: every linear's input other than x."""
    last = name.rpartition(".")[2]
    return name.startswith("recurrent.") and last.startswith("weight_") and last != "weight_x"


@pytest.mark.parametrize("cell", CELLS)
def test_same_bits_after_training_as_before_and_all_else_has_moved(
    cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "text")
    fresh = cw.train(
        cell, str(corpus), recipe="nas-bench-nlp-ptb-as-released", settings=SMALL, epochs=1,
        progress=False, name="one",
    )  # fmt: skip
    more = cw.train(
        cell, str(corpus), recipe="nas-bench-nlp-ptb-as-released", settings=SMALL, epochs=3,
        progress=False, name="three",
    )  # fmt: skip
    before, after = fresh.model.state_dict(), more.model.state_dict()
    frozen = [name for name in before if is_recurrent(name)]
    assert {name.split(".")[1] for name in frozen} == {"0", "1", "2"}  # every layer
    for name in before:
        assert torch.equal(before[name], after[name]) == is_recurrent(name), name


@pytest.mark.parametrize("cell", CELLS)
def test_what_is_learned_has_the_same_gradients(cell: str):
    words = torch.randint(20, (7, 3), generator=torch.Generator().manual_seed(1))
    found = {}
    for backend in ("torch", "auto"):
        for recurrent in ("trained", "frozen"):
            one = model(cell, recurrent, backend).eval()
            one(words[:-1])[0].square().sum().backward()
            found[backend, recurrent] = {n: p.grad for n, p in one.named_parameters()}
    for name, gradient in found["auto", "trained"].items():
        frozen = found["auto", "frozen"][name]
        if gradient is None:  # of the decoder, which is not asked for here
            continue
        assert (frozen is None) == is_recurrent(name)
        if frozen is not None:
            assert torch.allclose(frozen, gradient, rtol=1e-4, atol=1e-6)
            assert torch.allclose(frozen, found["torch", "frozen"][name], rtol=1e-4, atol=1e-5)


def test_masks_are_drawn_all_the_same():
    words = torch.randint(20, (7, 3), generator=torch.Generator().manual_seed(1))
    one = model("lstm").train()
    first, second = (one(words)[0].detach() for _ in range(2))
    assert not torch.allclose(first, second)


def test_weights_that_are_shared_cannot_be_frozen():
    with pytest.raises(UserError, match=r"model.recurrent has to be trained"):
        Awd(AwdSettings(recurrent="frozen"), zoo["lstm"], 20, bank=WeightBank())


def test_the_papers_recipes_train_them():
    for data in ("ptb", "wikitext-2"):
        described = load_recipe(f"nas-bench-nlp-{data}")
        released = load_recipe(f"nas-bench-nlp-{data}-as-released")
        assert (described.model.recurrent, released.model.recurrent) == ("trained", "frozen")
        assert described.training == released.training
        assert described.task == released.task


def test_stopped_and_gone_on_with_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    corpus = str(write_corpus(tmp_path / "text"))
    common = {"recipe": "nas-bench-nlp-ptb-as-released", "settings": SMALL, "epochs": 3}
    whole = cw.train("lstm", corpus, name="whole", progress=False, **common)

    class StopOnce(cw.api.Watcher):
        def training(self, folder, resumed):
            from contextlib import nullcontext

            def watch(event: object) -> None:
                if isinstance(event, EpochDone) and not resumed:
                    os.kill(os.getpid(), signal.SIGINT)

            return nullcontext(watch)

    with pytest.raises(Stopped):
        cw.train("lstm", corpus, name="parts", watcher=StopOnce(), **common)
    parts = cw.train(resume="parts", progress=False)
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, parts.model.state_dict()[name])
