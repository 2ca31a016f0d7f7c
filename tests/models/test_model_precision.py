"""The precision that a model's settings say is that of its products, and float32 unless said."""

import pytest
import sentence_cases
import torch
from model_cases import SETTINGS, WORDS, both, text

from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, WeightBank
from cellwright.engine.cross_entropy import _formula
from cellwright.models import build_language_model
from cellwright.models.settings import TaggerSettings
from cellwright.models.tagger import Tagger


def language_model(kind, precision, backend="torch"):
    torch.manual_seed(0)
    settings = SETTINGS[kind].model_copy(update={"precision": precision})
    return build_language_model(settings, zoo["gru"], WORDS, backend=backend).eval()


def layers(model):
    return [module for module in model.modules() if isinstance(module, Recurrent)]


@both
def test_layers_and_loss_of_a_language_model_have_it(kind):
    model = language_model(kind, "bfloat16")
    assert {layer.precision for layer in layers(model)} == {"bfloat16"}
    assert {layer.precision for layer in layers(model.around(zoo["rnn"], WeightBank()))} == {
        "bfloat16"
    }
    tokens, targets = text()
    losses, _ = model.token_losses(tokens, targets)
    hidden = model(tokens).dropped.flatten(0, 1)
    decoder = model.embedding.weight, model.decoder_bias
    expected = _formula(hidden, *decoder, targets.reshape(-1), "bfloat16")
    torch.testing.assert_close(losses.flatten(), expected, rtol=1e-5, atol=1e-6)
    single, _ = language_model(kind, "float32").token_losses(tokens, targets)
    assert not torch.equal(losses, single)
    torch.testing.assert_close(losses, single, rtol=0.01, atol=0.0)


@pytest.mark.parametrize("kind", sentence_cases.KINDS)
def test_layers_of_a_sentence_model_have_it(kind):
    model = sentence_cases.model_of(kind, precision="bfloat16")
    assert {layer.precision for layer in layers(model)} == {"bfloat16"}
    assert {layer.precision for layer in layers(sentence_cases.model_of(kind))} == {"float32"}


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_layers_of_a_tagger_have_it(precision):
    settings = TaggerSettings(hidden=4, precision=precision)
    tagger = Tagger(settings, zoo["lstm"], [sentence_cases.Table()], 3)
    assert {layer.precision for layer in layers(tagger)} == {precision}
    assert TaggerSettings().precision == "float32"
