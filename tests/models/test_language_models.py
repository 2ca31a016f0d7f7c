"""What the two language models compute, with cells of every kind."""

import math
import re

import pytest
import torch
import torch.nn.functional as F
from model_cases import (
    CELLS,
    SETTINGS,
    WORDS,
    both,
    every_cell,
    logits,
    model_of,
    tensors,
    text,
    thetas,
)

from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import native_backend
from cellwright.models import build_language_model
from cellwright.models.cell_model import detached
from cellwright.models.language_model import TextBatch

needs_core = pytest.mark.skipif(not native_backend.available(), reason="the core is not built")


def with_large_weights(model):
    """Weights so large that a state matters."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(8)
    return model


# -- what they compute ---------------------------------------------------------------------


@both
@every_cell
def test_shapes_and_a_gradient_for_every_parameter(kind, cell):
    model = model_of(kind, CELLS[cell])
    tokens, targets = text()
    width = SETTINGS[kind].hidden if kind == "one-layer" else SETTINGS[kind].embedding
    raw, dropped, _ = model(tokens)
    assert raw.shape == dropped.shape == (9, 5, width)
    mean, penalty, state = model.text_loss(tokens, targets, model.zero_state(5))
    assert mean.shape == penalty.shape == ()
    assert mean.item() == pytest.approx(math.log(WORDS), rel=0.1)
    (mean + penalty).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.any()), name
    zeros = tensors(model.zero_state(5))
    assert [tuple(t.shape) for t in tensors(state)] == [tuple(t.shape) for t in zeros]
    assert all(t.requires_grad for t in tensors(state))
    assert not any(t.requires_grad for t in tensors(detached(state)))


@both
@every_cell
def test_loss_is_that_of_plain_logits(kind, cell):
    model = model_of(kind, CELLS[cell]).eval()
    tokens, targets = text()
    expected = F.cross_entropy(
        logits(model, model(tokens).dropped).flatten(0, 1), targets.flatten(), reduction="none"
    ).view(9, 5)
    mean, penalty, _ = model.text_loss(tokens, targets)
    assert mean.item() == pytest.approx(expected.mean().item(), rel=1e-5)
    assert penalty.item() == 0
    losses, _ = model.token_losses(tokens, targets)
    assert not losses.requires_grad
    assert torch.allclose(losses, expected, atol=1e-5)


@both
def test_loss_and_penalty_in_training_by_hand(kind):
    model = model_of(kind)
    tokens, targets = text()
    torch.manual_seed(7)
    raw, dropped, _ = model(tokens)
    torch.manual_seed(7)
    mean, penalty, _ = model.text_loss(tokens, targets)
    expected = F.cross_entropy(logits(model, dropped).flatten(0, 1), targets.flatten())
    assert mean.item() == pytest.approx(expected.item(), rel=1e-5)
    squares = sum(v.item() ** 2 for v in dropped.flatten())
    changes = sum(v.item() ** 2 for v in (raw[1:] - raw[:-1]).flatten())
    settings = SETTINGS[kind]
    by_hand = settings.ar * squares / dropped.numel()
    by_hand += settings.tar * changes / raw[1:].numel()
    assert penalty.item() == pytest.approx(by_hand, rel=1e-4)
    assert not torch.equal(raw, dropped)


@both
def test_a_batch_is_words_and_what_comes_after_each(kind):
    model = with_large_weights(model_of(kind).eval())
    tokens, targets = text()
    batch = TextBatch(tokens, targets, 9)
    state = model.begin(batch)
    assert all(not bool(part.any()) and part.shape[-2] == 5 for part in tensors(state))
    one, other = model.loss(batch, state), model.text_loss(tokens, targets)
    assert torch.equal(one.mean, other.mean)
    for mine, its in zip(tensors(one.carried), tensors(other.carried), strict=True):
        assert torch.equal(mine, its)
    assert model.loss(batch, one.carried).mean != one.mean
    assert batch.size == 45
    assert (batch.rate(20.0), TextBatch(tokens, targets, 36).rate(20.0)) == (20.0, 5.0)


@both
def test_one_step_has_no_temporal_penalty(kind):
    torch.manual_seed(0)
    settings = SETTINGS[kind].model_copy(update={"ar": 0.0, "tar": 1.0})
    model = build_language_model(settings, zoo["gru"], WORDS)
    assert model.text_loss(*text(steps=1)).penalty.item() == 0
    assert model.text_loss(*text(steps=2)).penalty.item() > 0


@both
@every_cell
def test_two_halves_are_the_whole(kind, cell):
    model = with_large_weights(model_of(kind, CELLS[cell]).eval())
    tokens, targets = text(steps=11)
    whole, end = model.token_losses(tokens, targets)
    first, state = model.token_losses(tokens[:4], targets[:4], model.zero_state(5))
    second, final = model.token_losses(tokens[4:], targets[4:], state)
    assert torch.allclose(torch.cat([first, second]), whole, atol=1e-5)
    for one, other in zip(tensors(final), tensors(end), strict=True):
        assert torch.allclose(one, other, atol=1e-5)
    forgetful, _ = model.token_losses(tokens[4:], targets[4:])
    assert float((forgetful - second)[0].abs().max()) > 1e-3


@both
@pytest.mark.parametrize("supernet", [darts_supernet(2), ess_supernet(2, 2)], ids=["darts", "ess"])
def test_supernets_pass_theta_to_every_layer(kind, supernet):
    model = model_of(kind, supernet.cell)
    tokens, targets = text()
    theta, leaves = thetas(supernet)
    mean, penalty, state = model.text_loss(tokens, targets, theta=theta)
    (mean + penalty).backward()
    assert bool(leaves.grad.any())
    model.eval()
    whole, _ = model.token_losses(tokens, targets, theta=theta)
    first, state = model.token_losses(tokens[:4], targets[:4], theta=theta)
    second, _ = model.token_losses(tokens[4:], targets[4:], state, theta=theta)
    assert torch.allclose(torch.cat([first, second]), whole, atol=1e-5)
    with pytest.raises(ValueError, match="theta has no weights"):
        model(tokens)


# -- the same again ------------------------------------------------------------------------


@both
def test_a_seed_decides_every_bit_for_any_number_of_threads(kind):
    def trained(threads):
        torch.set_num_threads(threads)
        model = model_of(kind, seed=3)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        state = model.zero_state(5)
        losses = []
        for step in range(3):
            optimizer.zero_grad()
            mean, penalty, state = model.text_loss(*text(seed=step), detached(state))
            (mean + penalty).backward()
            optimizer.step()
            losses.append((mean.item(), penalty.item()))
        return losses, model.state_dict()

    before = torch.get_num_threads()
    try:
        losses, weights = trained(1)
        runs = [trained(threads) for threads in (1, 2, 3)]
    finally:
        torch.set_num_threads(before)
    for again, same in runs:
        assert losses == again
        for name, weight in weights.items():
            assert torch.equal(weight, same[name]), name


def products(model):
    """Torch's own matrix products, whose last bits may differ from run to run.

    A profiler sees them; a mode that does, too, would be given all of the engine's work as well.
    """
    with torch.autograd.profiler.profile() as profile:
        mean, penalty, state = model.text_loss(*text())
        (mean + penalty).backward()
        model.token_losses(*text(), detached(state))
    names = {event.key for event in profile.key_averages() if event.key.startswith("aten::")}
    assert "aten::embedding" in names
    return {name for name in names if re.search("mm|matmul|linear|dot|mv", name)}


@needs_core
@both
@pytest.mark.parametrize("cell", ["lstm", "gru", "darts-v1", "recipe"])
def test_all_products_are_the_engines(kind, cell):
    assert products(model_of(kind, CELLS[cell])) == set()
