"""Small models of both kinds around cells of every kind, for the tests of this folder."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from cellwright.cell import Cell, Node
from cellwright.cell.listings import nas_bench_nlp
from cellwright.cell.zoo import zoo
from cellwright.models import AwdSettings, OneLayerSettings, build_language_model

WORDS = 60

RECIPE = nas_bench_nlp.lower(
    {
        "l1": {"op": "linear", "input": ["x", "h_prev_0"]},
        "a1": {"op": "activation_sigm", "input": ["l1"]},
        "l2": {"op": "linear", "input": ["x", "h_prev_1", "a1"]},
        "a2": {"op": "activation_leaky_relu", "input": ["l2"]},
        "h_new_1": {"op": "activation_tanh", "input": ["l1"]},
        "h_new_0": {"op": "blend", "input": ["a1", "a2", "h_prev_0"]},
    }
)

ADDS_X = Cell(
    [Node("l", "linear", ("x", "h0")), Node("a", "tanh", ("l",)), Node("s", "add", ("a", "x"))],
    ("s",),
)
"""Uses x outside of a product, so that it needs inputs as wide as its state."""

WINDOW = Cell([Node("seen", "identity", ("x",)), Node("s", "linear", ("h0",))], ("s",), "seen")
"""Its output is what it reads."""

SETTINGS = {
    "one-layer": OneLayerSettings(hidden=24, ar=0.5),
    "awd": AwdSettings(embedding=16, hidden=24, dropout_words=0.1),
}
CELLS = {
    "lstm": zoo["lstm"],
    "gru": zoo["gru"],
    "darts-v1": zoo["darts-v1"],
    "recipe": RECIPE,
    "adds x": ADDS_X,
}

both = pytest.mark.parametrize("kind", SETTINGS)
every_cell = pytest.mark.parametrize("cell", CELLS)


def model_of(kind, cell=zoo["darts-v1"], seed=0):
    torch.manual_seed(seed)
    return build_language_model(SETTINGS[kind], cell, WORDS)


def text(steps=9, batch=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(WORDS, (steps + 1, batch), generator=generator)
    return tokens[:-1], tokens[1:]


def thetas(supernet):
    rows = torch.randn(len(supernet.edges), 5, generator=torch.Generator().manual_seed(0))
    leaves = rows.softmax(dim=1).requires_grad_()
    return dict(zip(supernet.edges, leaves, strict=True)), leaves


def tensors(state):
    return [state] if isinstance(state, Tensor) else [t for part in state for t in tensors(part)]


def logits(model, hidden):
    return F.linear(hidden, model.embedding.weight, model.decoder_bias)
