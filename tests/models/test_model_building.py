"""How the two language models are built, where they drop, and what they refuse."""

import math
from dataclasses import replace
from itertools import combinations

import pytest
import torch
from model_cases import ADDS_X, SETTINGS, WINDOW, WORDS, both, model_of, text

from cellwright.cell import Cell
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, WeightBank
from cellwright.models import AwdSettings, OneLayerSettings, build_language_model

# -- how they are built --------------------------------------------------------------------


@both
def test_embedding_and_decoder_are_one_tensor(kind):
    model = model_of(kind)
    large = [p for p in model.parameters() if p.shape[0] == WORDS and p.dim() == 2]
    assert len(large) == 1
    assert large[0] is model.embedding.weight
    assert model.vocabulary_size == WORDS


@both
def test_weights_start_in_their_range(kind):
    model = model_of(kind).requires_grad_(False)
    assert 0.099 < float(model.embedding.weight.abs().max()) <= 0.1
    assert not model.decoder_bias.any()
    for name, parameter in model.named_parameters():
        if name.startswith("recurrent"):
            bound = 0.04 if kind == "one-layer" else 1 / math.sqrt(parameter.shape[0])
            assert 0.95 * bound < float(parameter.abs().max()) <= bound, name


def test_names_of_weights_are_stable():
    one = build_language_model(OneLayerSettings(hidden=4), zoo["rnn"], WORDS)
    stack = build_language_model(AwdSettings(embedding=4, hidden=6, layers=2), zoo["rnn"], WORDS)
    cell = [name.removeprefix("recurrent.") for name in one.state_dict() if "recurrent" in name]
    assert all(name.startswith("layer0.") for name in cell)
    assert set(one.state_dict()) - {f"recurrent.{name}" for name in cell} == {
        "embedding.weight",
        "decoder_bias",
    }
    assert set(stack.state_dict()) == {
        "embedding.weight",
        "decoder_bias",
        *(f"recurrent.{layer}.{name}" for layer in (0, 1) for name in cell),
    }


@pytest.mark.parametrize(
    ("layers", "widths"),
    [
        (1, [(16, 16)]),
        (2, [(16, 24), (24, 16)]),
        (4, [(16, 24), (24, 24), (24, 24), (24, 16)]),
    ],
)
def test_awd_has_any_number_of_layers(layers, widths):
    settings = AwdSettings(embedding=16, hidden=24, layers=layers)
    model = build_language_model(settings, ADDS_X, WORDS)
    parts = list(model.recurrent)
    assert [(part.input_size, part.hidden_size) for part in parts] == widths
    projected = [part.projection is not None for part in parts]
    assert projected == [width != hidden for width, hidden in widths]
    assert math.isfinite(model.text_loss(*text()).mean.item())


SHARED = ess_supernet(2, 1).cell
FEWER = darts_supernet(1, edges="plain", norm=False).cell
"""Its weights are among those of `SHARED`."""


@both
def test_cells_share_a_bank(kind):
    bank = WeightBank(0.5)
    small = SETTINGS[kind].model_copy(update={"hidden": 16})
    one, other = (build_language_model(small, cell, WORDS, bank=bank) for cell in (SHARED, FEWER))
    known = dict(one.named_parameters())
    for name, parameter in other.named_parameters():
        assert (parameter is known[name]) == name.startswith("recurrent"), name
    cells = [p for name, p in known.items() if name.startswith("recurrent")]
    assert 0.4 < max(p.abs().max().item() for p in cells) <= 0.5


def recurrent(model):
    return [part for part in model.modules() if isinstance(part, Recurrent)]


@both
def test_a_model_around_another_cell_learns_the_same_weights(kind):
    """In every layer; what the other cell does not read has no gradient."""
    bank = WeightBank()
    one = build_language_model(SETTINGS[kind], SHARED, WORDS, bank=bank)
    known, in_bank = dict(one.named_parameters()), {id(p) for p in bank.parameters()}
    other = one.around(FEWER, bank)
    assert type(other) is type(one)
    assert dict(other.named_parameters()).keys() == known.keys()
    assert all(parameter is known[name] for name, parameter in other.named_parameters())
    assert {id(p) for p in bank.parameters()} == in_bank  # nothing new was made
    assert len(known) == len(in_bank) + 2  # embeddings, and the decoder's bias
    for mine, its in zip(recurrent(one), recurrent(other), strict=True):
        assert (mine.cell, its.cell) == (SHARED, FEWER)
        for what in ("input_size", "hidden_size", "backend", "training", "init_range"):
            assert getattr(mine, what) == getattr(its, what)
        for what in ("input_dropout", "hidden_dropout", "weight_dropout"):
            assert getattr(mine, what) == getattr(its, what)
    theta = {"theta_1_0": torch.full((5,), 0.2)}
    other.text_loss(*text(), theta=theta).mean.backward()
    idle = [name.split(".")[-1] for name, p in known.items() if p.grad is None]
    assert sorted(idle) == sorted(["f_1_w", "g_1_w", "w_1"] * len(recurrent(one)))


@both
def test_a_model_around_the_same_cell_computes_the_same(kind):
    bank = WeightBank()
    one = build_language_model(SETTINGS[kind], FEWER, WORDS, bank=bank)
    other = one.around(FEWER, bank)
    theta = {"theta_1_0": torch.linspace(0.1, 0.3, 5)}
    found = []
    for model in (one, other):
        torch.manual_seed(5)  # with the same dropouts, too
        found.append(model.text_loss(*text(), theta=theta))
    assert torch.equal(found[0].mean, found[1].mean)
    assert torch.equal(found[0].penalty, found[1].penalty)
    assert not any(layer.training for layer in recurrent(one.eval().around(FEWER, bank)))


def test_each_layer_has_its_own_part_of_the_bank():
    bank = WeightBank()
    settings = AwdSettings(embedding=16, hidden=16, layers=3)  # so that sizes would not tell
    model = build_language_model(settings, SHARED, WORDS, bank=bank)
    keys = {"f_1_w", "g_1_w", "w_in_x", "w_in_h", "w_0", "w_1"}
    assert {name for name, _ in bank.named_parameters()} == {
        f"recurrent{layer}.layer0.{key}" for layer in range(3) for key in keys
    }
    weights = [{id(p) for p in layer.parameters()} for layer in model.recurrent]
    assert all(one.isdisjoint(other) for one, other in combinations(weights, 2))
    around = model.around(FEWER, bank)
    assert [{id(p) for p in layer.parameters()} for layer in around.recurrent] == weights


def test_projections_are_shared_as_well():
    """A cell that uses x outside of products, in layers whose width changes."""
    linear, *rest = ADDS_X.nodes
    keyed = Cell([replace(linear, keys=("k_x", "k_h")), *rest], ADDS_X.states)
    bank = WeightBank()
    settings = AwdSettings(embedding=8, hidden=12, layers=2)
    model = build_language_model(settings, keyed, WORDS, bank=bank)
    other = model.around(keyed, bank)
    for mine, its in zip(model.recurrent, other.recurrent, strict=True):
        assert mine.projection is not None
        assert its.projection is mine.projection


def test_papers_sizes():
    def layers(settings: OneLayerSettings | AwdSettings) -> list[Recurrent]:
        return recurrent(build_language_model(settings, zoo["lstm"], 10))

    [one] = layers(OneLayerSettings())
    assert (one.input_size, one.hidden_size) == (850, 850)
    assert (one.input_dropout, one.hidden_dropout, one.weight_dropout) == (0.75, 0.25, 0)
    three = layers(AwdSettings())
    assert [(r.input_size, r.hidden_size) for r in three] == [(400, 600), (600, 600), (600, 400)]
    assert {(r.input_dropout, r.hidden_dropout, r.weight_dropout) for r in three} == {(0, 0, 0.1)}


# -- dropout in its places -----------------------------------------------------------------


def seen_by_window(settings, steps=6, batch=40):
    torch.manual_seed(0)
    model = build_language_model(settings, WINDOW, WORDS)
    tokens, _ = text(steps, batch)
    raw, dropped, _ = model(tokens)
    return raw / model.embedding(tokens), dropped / raw, tokens


OFF = {
    "dropout_output": 0.0, "dropout_x": 0.0, "dropout_hidden": 0.0, "dropout_embedding": 0.0,
    "dropout_words": 0.0,
}  # fmt: skip
AWD_OFF = {
    "embedding": 16, "hidden": 16, "dropout_output": 0.0, "dropout_between": 0.0,
    "dropout_input": 0.0, "weight_dropout": 0.0,
}  # fmt: skip


def assert_locked(factor, kept):
    assert torch.allclose(factor, factor[:1].expand_as(factor))
    alive = factor[0] != 0
    assert float(alive.float().mean()) == pytest.approx(kept, abs=0.06)
    assert torch.allclose(factor[0][alive], torch.tensor(1 / kept), atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        (OneLayerSettings(hidden=16, **{**OFF, "dropout_embedding": 0.3}), 0.7),
        (AwdSettings(**{**AWD_OFF, "dropout_input": 0.3}), 0.7),
        (AwdSettings(**{**AWD_OFF, "dropout_between": 0.3}), 0.7 * 0.7),  # twice, in 3 layers
    ],
)
def test_locked_dropout_before_the_last_layer(settings, kept):
    into, out, _ = seen_by_window(settings)
    assert_locked(into, kept)
    assert torch.allclose(out[into != 0], torch.tensor(1.0))


@pytest.mark.parametrize(
    "settings",
    [
        OneLayerSettings(hidden=16, **{**OFF, "dropout_output": 0.6}),
        AwdSettings(**{**AWD_OFF, "dropout_output": 0.6}),
    ],
)
def test_locked_dropout_on_the_output(settings):
    into, out, _ = seen_by_window(settings)
    assert torch.allclose(into, torch.tensor(1.0))
    assert_locked(out, 0.4)


@pytest.mark.parametrize(
    "settings",
    [
        OneLayerSettings(hidden=16, **{**OFF, "dropout_words": 0.5}),
        AwdSettings(**AWD_OFF, dropout_words=0.5),
    ],
)
def test_words_are_dropped_for_the_whole_batch(settings):
    into, _, tokens = seen_by_window(settings)
    for word in tokens.unique():
        factors = into[tokens == word]
        assert torch.allclose(factors, factors.flatten()[0].expand_as(factors), atol=1e-4)
    assert 0.3 < float((into == 0).float().mean()) < 0.7


# -- bad input -----------------------------------------------------------------------------


def test_bad_input_is_named():
    model = model_of("awd")
    tokens, targets = text()
    with pytest.raises(ValueError, match=r"tokens must be \(steps, batch\).*not \(9,\)"):
        model(tokens[:, 0])
    with pytest.raises(ValueError, match=r"tokens must be \(steps, batch\).*not \(0, 5\)"):
        model(tokens[:0])
    with pytest.raises(ValueError, match="a token is outside of the 60 words"):
        model(tokens + WORDS)
    with pytest.raises(ValueError, match=r"targets must have the shape of tokens, \(9, 5\)"):
        model.text_loss(tokens, targets.t())
    with pytest.raises(ValueError, match="a target is outside of the 60 words"):
        model.text_loss(tokens, targets - WORDS)
    with pytest.raises(ValueError, match="a tuple of 3 parts"):
        model(tokens, torch.zeros(1, 5, 24))
    with pytest.raises(ValueError, match="vocabulary_size must be greater than zero"):
        build_language_model(AwdSettings(), zoo["rnn"], 0)
