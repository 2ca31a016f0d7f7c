"""DARTS' language model as DARTS' code writes it, and whether ours computes the same.

The loop over time steps multiplies x and every value that a product reads by its mask at each
step; word dropout masks the whole embedding matrix; the decoder is an `nn.Linear` that makes all
scores at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from contenders import SUBJECTS, UnequalError
from plain import EngineWeights, PlainLoop, States
from torch import Tensor, nn

import cellwright as cw
from cellwright.models import OneLayerSettings, build_language_model
from cellwright.models.one_layer import OneLayer

NO_DROPOUT = {
    "dropout_output": 0.0,
    "dropout_x": 0.0,
    "dropout_hidden": 0.0,
    "dropout_embedding": 0.0,
    "dropout_words": 0.0,
}


class LoopLayer(nn.Module):
    """A plain loop called like `nn.LSTM`. Masks are drawn once per call, as DARTS does.

    The loop of a supernet has a row of `alpha` for each pair of nodes.
    """

    def __init__(
        self, loop: PlainLoop, settings: OneLayerSettings, alpha: nn.Parameter | None = None
    ) -> None:
        super().__init__()
        self.loop = loop
        self.settings = settings
        self.alpha = alpha

    def forward(self, x: Tensor, states: States | None = None) -> tuple[Tensor, States]:
        """The outputs and the last states."""
        states = self.loop.zero_states(x) if states is None else states
        mask_x = _mask(x, (x.shape[1], x.shape[2]), self.settings.dropout_x)
        self.loop.mask_hidden = _mask(
            x, (x.shape[1], self.loop.hidden_size), self.settings.dropout_hidden
        )
        outputs = []
        for now in x.unbind(0):
            states = self.loop.step(now if mask_x is None else now * mask_x, states, self.alpha)
            outputs.append(states[0])
        return torch.stack(outputs), states


class PlainLanguageModel(nn.Module):
    """The model with any layer that is called like `nn.LSTM`, and the weights of ours."""

    def __init__(self, model: OneLayer, layer: nn.Module) -> None:
        super().__init__()
        self.settings = model.settings
        words, width = model.embedding.weight.shape
        self.layer = layer
        self.decoder = nn.Linear(width, words)
        with torch.no_grad():
            self.decoder.weight.copy_(model.embedding.weight)
            self.decoder.bias.copy_(model.decoder_bias)
        self.encoder = nn.Embedding(words, width, _weight=self.decoder.weight.detach())
        self.encoder.weight = self.decoder.weight

    def forward(
        self, tokens: Tensor, targets: Tensor, state: Any, penalty: bool = True
    ) -> tuple[Tensor, Any]:
        """What training minimises, with or without the penalty on activations, and the state."""
        settings = self.settings
        raw, state = self.layer(_locked(self._embedded(tokens), settings.dropout_embedding), state)
        dropped = _locked(raw, settings.dropout_output)
        scores = self.decoder(dropped.flatten(0, 1))
        loss = F.cross_entropy(scores, targets.flatten())
        if not penalty:
            return loss, state
        if settings.ar:
            loss = loss + settings.ar * dropped.pow(2).mean()
        if settings.tar:
            loss = loss + settings.tar * (raw[1:] - raw[:-1]).pow(2).mean()
        return loss, state

    def _embedded(self, tokens: Tensor) -> Tensor:
        weight = self.encoder.weight
        mask = _mask(weight, (len(weight), 1), self.settings.dropout_words)
        return F.embedding(tokens, weight if mask is None else mask * weight)


def _mask(like: Tensor, size: tuple[int, ...], rate: float) -> Tensor | None:
    return like.new_empty(size).bernoulli_(1 - rate).div_(1 - rate) if rate else None


def _locked(x: Tensor, rate: float) -> Tensor:
    mask = _mask(x, (1, x.shape[1], x.shape[2]), rate)
    return x if mask is None else mask * x


def plain_layer(cell: str, model: OneLayer) -> nn.Module:
    """The layer of ours as a plain loop; on the torch backend, if nobody has published a loop."""
    if has_loop(cell):
        return LoopLayer(SUBJECTS[cell]().plain(model.recurrent), model.settings)
    twin = build_language_model(model.settings, cw.zoo[cell], 1, backend="torch")
    assert isinstance(twin, OneLayer)
    twin.recurrent.load_state_dict(model.recurrent.state_dict())
    return twin.recurrent


def has_loop(cell: str) -> bool:
    """Whether `plain.py` has the cell; else the torch backend stands in for a loop."""
    return cell in SUBJECTS


# -- are they equal? -----------------------------------------------------------------------


def same_as_plain(
    cell: str, settings: OneLayerSettings, tokens: Tensor, words: int, tolerance: float = 1e-5
) -> float:
    """Compare loss and all gradients; the largest difference relative to the largest value.

    The plain model runs in double precision (see `same_as_engine`). With dropout, both draw the
    same masks from the same seed, so that these are compared, too.

    Raises:
        UnequalError: if that is above `tolerance`.
    """
    torch.manual_seed(0)
    ours = build_language_model(settings, cw.zoo[cell], words)
    assert isinstance(ours, OneLayer)
    with torch.no_grad():  # so large that every term of the cell shows
        for parameter in ours.parameters():
            parameter.uniform_(-0.2, 0.2)
    plain = PlainLanguageModel(ours, plain_layer(cell, ours)).double()
    torch.manual_seed(1)
    mean, penalty, _ = ours.text_loss(tokens[:-1], tokens[1:])
    (mean + penalty).backward()
    torch.manual_seed(1)
    loss, _ = plain(tokens[:-1], tokens[1:], None)
    loss.backward()
    found = {"loss": (mean + penalty).detach(), **gradients_like(plain, ours)}
    expected = {"loss": loss.detach(), **{n: p.grad for n, p in plain.named_parameters()}}
    return largest_difference(cell, found, expected, tolerance)


def largest_difference(
    what: str, found: Mapping[str, Tensor], expected: Mapping[str, Tensor], tolerance: float
) -> float:
    """How far our loss and gradients are from those of the plain model, of the largest value.

    Raises:
        UnequalError: if that is above `tolerance`.
    """
    worst = 0.0
    for name, value in expected.items():
        difference = float((found[name] - value).abs().max() / value.abs().max().clamp_min(1e-12))
        worst = max(worst, difference)
        if not difference <= tolerance:
            raise UnequalError(
                f"{what}: {name if name == 'loss' else f'the gradient of {name}'} of the plain "
                f"language model and of ours differ by {difference:.2g} of the largest value; "
                f"at most {tolerance:g} is right"
            )
    return worst


def gradients_like(plain: PlainLanguageModel, ours: OneLayer) -> dict[str, Tensor]:
    """Our gradients under the names of the plain model's parameters."""
    found = {"decoder.weight": ours.embedding.weight.grad, "decoder.bias": ours.decoder_bias.grad}
    if isinstance(plain.layer, LoopLayer):
        gathered = plain.layer.loop.gathered(EngineWeights(ours.recurrent, gradients=True))
        return found | {f"layer.loop.{name}": value for name, value in gathered.items()}
    of_cell = ours.recurrent.named_parameters()
    return found | {f"layer.{name}": parameter.grad for name, parameter in of_cell}
