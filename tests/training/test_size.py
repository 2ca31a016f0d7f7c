"""What cannot fit into memory is refused before it is made; nothing else is."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from training_support import MODEL, language_task, settings

import cellwright as cw
from cellwright.base.memory import NotEnoughMemoryError
from cellwright.models import AwdSettings, OneLayerSettings
from cellwright.training import size
from cellwright.training.size import check_size
from cellwright.training.training import Training

HUGE = OneLayerSettings(hidden=1_000_000)


def test_a_model_that_is_too_large_says_how_much_it_takes(corpus):
    said = r"takes 48\.0 TB of memory at least \(48\.0 TB for 6,000,.* parameters with gradients"
    with pytest.raises(NotEnoughMemoryError, match=said) as caught:
        Training(cw.zoo["gru"], language_task(corpus), HUGE, settings(), 0)
    assert "choose smaller sizes under [model]" in str(caught.value)
    with pytest.raises(NotEnoughMemoryError, match=r"takes 96\.0 TB"):  # Adam remembers as much
        Training(cw.zoo["gru"], language_task(corpus), HUGE, settings(optimizer="adam"), 0)
    deep = AwdSettings(embedding=8, hidden=100_000, layers=1000)
    with pytest.raises(NotEnoughMemoryError, match="memory at least"):
        Training(cw.zoo["gru"], language_task(corpus), deep, settings(), 0)


def test_what_is_kept_of_a_batch_counts(corpus, monkeypatch):
    task = language_task(corpus)
    cell, batch = cw.zoo["lstm"], task.batches("train", 4, 0, 0)[0]

    def check() -> None:
        check_size(lambda: task.model(cell, MODEL), batch, settings(), "training")

    weights = 2 * 4 * sum(p.numel() for p in task.model(cell, MODEL).parameters())
    linears = sum(node.op == "linear" for node in cell.simplified().nodes)
    whole = weights + 4 * batch.size * MODEL.hidden * (linears + 2)
    monkeypatch.setattr(size, "memory_there", lambda: whole)
    check()
    monkeypatch.setattr(size, "memory_there", lambda: whole - 1)
    with pytest.raises(NotEnoughMemoryError, match=r"choose a smaller training\.batch"):
        check()
    monkeypatch.setattr(size, "memory_there", lambda: None)  # nobody says
    check()


def test_looking_changes_nothing_that_is_drawn(corpus):
    before = torch.random.get_rng_state()
    task = language_task(corpus)
    batch = task.batches("train", 4, 0, 0)[0]
    check_size(lambda: task.model(cw.zoo["gru"], MODEL), batch, settings(), "training")
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_model_that_cannot_be_made_without_memory_is_let_through(corpus):
    def make() -> nn.Module:
        return nn.Linear(2, int(torch.ones(1).item()))  # it looks at a number

    batch = language_task(corpus).batches("train", 4, 0, 0)[0]
    check_size(make, batch, settings(), "training")
