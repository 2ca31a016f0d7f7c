"""Loss and all gradients against models written with nn.LSTM, F.linear and F.cross_entropy."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cellwright.cell.zoo import zoo
from cellwright.engine.from_torch import parameters
from cellwright.models import AwdSettings, OneLayerSettings, build_language_model

WORDS = 50
ONE = OneLayerSettings(
    hidden=20, dropout_output=0, dropout_x=0, dropout_hidden=0, dropout_embedding=0,
    dropout_words=0, ar=0.7, tar=0.3,
)  # fmt: skip
STACK = AwdSettings(
    embedding=12, hidden=20, dropout_output=0, dropout_between=0, dropout_input=0,
    weight_dropout=0,
)  # fmt: skip


class Plain(nn.Module):
    """The language model as a textbook writes it, in double precision."""

    def __init__(self, sizes, ar, tar):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, sizes[0][0])
        self.layers = nn.ModuleList(nn.LSTM(*size) for size in sizes)
        self.bias = nn.Parameter(torch.randn(WORDS))
        self.ar, self.tar = ar, tar
        self.double()

    def forward(self, tokens, targets):
        h = self.embedding(tokens)
        for layer in self.layers:
            h, _ = layer(h)
        scores = h @ self.embedding.weight.t() + self.bias
        cross_entropy = F.cross_entropy(scores.view(-1, WORDS), targets.reshape(-1))
        changes = (h[1:] - h[:-1]).pow(2).mean()
        return cross_entropy, self.ar * h.pow(2).mean() + self.tar * changes


def named(gradients):
    return {name: value.float() for name, value in gradients.items()}


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [(ONE, [(20, 20)]), (STACK, [(12, 20), (20, 20), (20, 12)])],
    ids=["one-layer", "awd"],
)
def test_loss_and_gradients(settings, sizes):
    torch.manual_seed(0)
    plain = Plain(sizes, settings.ar, settings.tar)
    model = build_language_model(settings, zoo["lstm"], WORDS)
    layers = [model.recurrent] if settings.kind == "one-layer" else list(model.recurrent)
    with torch.no_grad():
        model.embedding.weight.copy_(plain.embedding.weight)
        model.decoder_bias.copy_(plain.bias)
    for layer, lstm in zip(layers, plain.layers, strict=True):
        layer.load_state_dict(named(parameters(lstm)))
    tokens = torch.randint(WORDS, (10, 6))
    mean, penalty, _ = model.text_loss(tokens[:-1], tokens[1:])
    (mean + penalty).backward()
    expected = plain(tokens[:-1], tokens[1:])
    sum(expected).backward()
    assert mean.item() == pytest.approx(expected[0].item(), rel=1e-5)
    assert penalty.item() == pytest.approx(expected[1].item(), rel=1e-5)
    assert_near(model.embedding.weight.grad, plain.embedding.weight.grad)
    assert_near(model.decoder_bias.grad, plain.bias.grad)
    for layer, lstm in zip(layers, plain.layers, strict=True):
        for name, value in lstm.named_parameters():  # so that `parameters` hands out gradients
            setattr(lstm, name, nn.Parameter(value.grad))
        gradients = parameters(lstm)
        found = dict(layer.named_parameters())
        assert set(found) == set(gradients)
        for name, gradient in gradients.items():
            assert_near(found[name].grad, gradient)


def assert_near(found, wanted):
    scale = wanted.abs().max().item()
    assert scale > 0
    assert (found.double() - wanted).abs().max().item() < 1e-5 * max(scale, 1e-2)
