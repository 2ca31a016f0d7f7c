"""The dropouts: what is removed, what is kept, and how much of each."""

import pytest
import torch
from torch import nn

from cellwright.models.dropout import embed, locked_dropout


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_locked_dropout_is_the_same_at_every_step_and_different_for_every_sequence():
    x = torch.rand(7, 40, 50) + 0.5
    factor = locked_dropout(x, 0.25, True) / x
    assert torch.allclose(factor, factor[:1].expand_as(factor))
    kept = factor[0] != 0
    assert torch.allclose(factor[0][kept], torch.tensor(1 / 0.75))
    assert float(kept.float().mean()) == pytest.approx(0.75, abs=0.03)
    assert len({tuple(row.tolist()) for row in kept}) == 40


def test_words_are_removed_whole_wherever_they_occur():
    words = nn.Embedding(500, 6)
    tokens = torch.randint(500, (30, 60))
    factor = (embed(tokens, words, 0.4, True) / words(tokens)).detach()
    assert torch.allclose(factor, factor[..., :1].expand_as(factor))  # whole vectors
    of_word: dict[int, float] = {}
    for word, value in zip(tokens.flatten().tolist(), factor[..., 0].flatten(), strict=True):
        assert of_word.setdefault(word, float(value)) == pytest.approx(float(value))
    values = torch.tensor(list(of_word.values()))
    kept = values != 0
    assert torch.allclose(values[kept], torch.tensor(1 / 0.6))
    assert float(kept.float().mean()) == pytest.approx(0.6, abs=0.07)


def test_word_dropout_has_the_gradient_of_removed_rows():
    words = nn.Embedding(20, 3)
    tokens = torch.randint(20, (8, 4))
    upstream = torch.randn(8, 4, 3)
    torch.manual_seed(1)
    vectors = embed(tokens, words, 0.5, True)
    scale = (vectors / words(tokens)).detach()
    vectors.backward(upstream)
    expected = torch.zeros(20, 3)
    expected.index_add_(0, tokens.flatten(), (scale * upstream).flatten(0, 1))
    assert torch.allclose(words.weight.grad, expected)
    assert torch.equal(embed(tokens, words, 0.0, True), words(tokens))  # the matrix is untouched


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.5, False)])
def test_without_dropout_nothing_is_drawn(p, training):
    words = nn.Embedding(20, 3)
    tokens = torch.randint(20, (8, 4))
    before = torch.get_rng_state()
    x = words(tokens)
    assert locked_dropout(x, p, training) is x
    assert torch.equal(embed(tokens, words, p, training), x)
    assert torch.equal(torch.get_rng_state(), before)
