"""Outputs, losses and all gradients against the models as a textbook writes them."""

import pytest
import torch
import torch.nn.functional as F
from plain_sentences import PlainModel, moved, near
from sentence_cases import (
    KINDS,
    MORE,
    RAGGED,
    WIDTH,
    WORDS,
    batch_of,
    examples,
    model_of,
    settings_of,
)

from cellwright.cell.zoo import zoo

CELLS = {"L": "lstm", "E": "sentpair-4"}


def both(kind, layers, labels, per_example, **changes):
    """The package's model, and a plain one whose weights it has."""
    if kind != "esim":
        changes["layers"] = len(layers)
    said = ["*" if each == layers[0] else CELLS[each] for each in layers]
    settings = settings_of(kind, layer_cells=said, **changes)
    torch.manual_seed(0)
    plain = PlainModel(settings, layers, WORDS, WIDTH, MORE, labels, per_example)
    cell = zoo[CELLS[layers[0]]]
    model = model_of(kind, cell, labels, per_example, layer_cells=said, **changes)
    with torch.no_grad():
        for name, value in pairs(model, plain, lambda weight: weight.detach()):
            name.copy_(value)
    return model, plain


def pairs(model, plain, of):
    """Each parameter of the model beside what `of` says of the same of the plain one."""
    yield model.embedders[0].table, of(plain.table)
    for layer, other in zip(model.recurrent, plain.layers, strict=True):
        mine, theirs = dict(layer.named_parameters()), other.weights(of)
        assert mine.keys() == theirs.keys()
        yield from ((mine[name], theirs[name]) for name in mine)
    linears = [
        (model.head.feed_forward, plain.feed_forward),
        (model.head.projection, plain.projection),
    ]
    if plain.enhancement is not None:
        linears.append((model.projection, plain.enhancement))
    for mine, theirs in linears:
        yield from ((mine.weight, of(theirs.weight)), (mine.bias, of(theirs.bias)))


def assert_same(model, plain, batch):
    said = model.outputs(batch)
    wanted = plain(examples(batch))
    assert said.shape == wanted.shape
    assert near(said, wanted)
    model.zero_grad()
    loss = model.loss(batch, ())
    loss.mean.backward()
    expected = plain.loss(wanted, batch.targets)
    expected.backward()
    assert loss.mean.item() == pytest.approx(expected.item(), rel=1e-5)
    assert loss.penalty.item() == 0
    compared = list(pairs(model, plain, lambda weight: weight.grad))
    assert len(compared) == len(list(model.parameters()))
    for weight, gradient in compared:
        assert near(weight.grad, gradient)
    still = [gradient for _, gradient in compared if not gradient.any()]
    alone = int(batch.sentences.lengths.max()) == 1  # no weight of an earlier state is used then
    assert alone or not still


@pytest.mark.parametrize("layers", ["LL", "EE", "LE", "EL"])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_with_labels(kind, layers):
    assert_same(*both(kind, layers, 3, 2), batch_of(*RAGGED, behind=2))


@pytest.mark.parametrize("layers", ["L", "E"])
@pytest.mark.parametrize("kind", ["bi-rnn", "blm"])
def test_single_sentences_through_one_layer(kind, layers):
    assert_same(*both(kind, layers, 2, 1), batch_of((3, 7, 1, 5, 2), labels=2))


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("kind", KINDS)
def test_scores(kind, loss):
    model, plain = both(kind, "EL", 0, 2, loss=loss)
    assert_same(model, plain, batch_of(*RAGGED, labels=0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [((4,), (2,)), ((1,), (1,))], ids=["a pair", "two words"])
def test_one_example_alone(kind, lengths):
    assert_same(*both(kind, "LE", 3, 2), batch_of(*lengths))


@pytest.mark.parametrize("option", ["signed_difference", "padding_is_zero"])
def test_habits_of_public_code(option):
    batch = batch_of(*RAGGED)
    model, plain = both("blm", "L", 3, 2, **{option: True})
    assert_same(model, plain, batch)
    usual, _ = both("blm", "L", 3, 2)
    assert not near(model.outputs(batch), usual.outputs(batch))


RATES = {
    "bi-rnn": {
        "dropout_input": 0.1, "dropout_layers": 0.2, "dropout_output": 0.3,
        "dropout_classifier": 0.4,
    },
    "blm": {"dropout_input": 0.1, "dropout_output": 0.2, "dropout_projection": 0.3},
    "esim": {
        "dropout_input": 0.1, "dropout_composition": 0.2, "dropout_enhancement": 0.3,
        "dropout_pooled": 0.4, "dropout_projection": 0.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_dropouts_are_where_the_papers_have_them(kind, monkeypatch):
    monkeypatch.setattr(F, "dropout", moved)
    model, plain = both(kind, "EL", 3, 2, **RATES[kind])
    assert_same(model, plain, batch_of(*RAGGED))
    plain.zero_grad()
    assert_same(model.eval(), plain.eval(), batch_of(*RAGGED))
