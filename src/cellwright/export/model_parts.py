"""What exported models have in common, whatever their form: names of inputs, parts of states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from cellwright.engine import Recurrent
from cellwright.engine.state import StateShape
from cellwright.models.words import Embedder
from cellwright.tasks.words.embedders import Mixed

NEXT = "next_"
"""What stands before the names of states that come out."""

PADDING = -1
"""The tag behind the end of a sentence."""

CHARACTERS = ("characters", "character_lengths", "character_rows")
"""The inputs of models that read words by their characters."""


def feature_input(name: str) -> str:
    """The input that has the features of a name.

    >>> feature_input("0-vectors")
    'features_0_vectors'
    """
    return "features_" + re.sub(r"\W", "_", name)


def feature_width(embedder: Embedder) -> int:
    """How many numbers of a word an embedder is given."""
    return embedder.width * (len(embedder.weights) if isinstance(embedder, Mixed) else 1)


def recurrent_layers(model: nn.Module) -> list[Recurrent]:
    """The networks of a model, in their order."""
    recurrent = model.recurrent
    layers = [recurrent] if isinstance(recurrent, Recurrent) else list(recurrent)  # type: ignore[arg-type]
    return [layer for layer in layers if isinstance(layer, Recurrent)]


def is_stack(model: nn.Module) -> bool:
    """Whether a model's state is a tuple of those of its networks, also if it has but one."""
    return not isinstance(model.recurrent, Recurrent)


def layer_prefixes(layers: Sequence[Recurrent]) -> list[str]:
    """What stands before the names of each network's states."""
    return [""] if len(layers) == 1 else [f"layer{number}_" for number in range(len(layers))]


def state_shape(rnn: Recurrent) -> StateShape:
    """The shape of a network's carried state."""
    return rnn._shape


def state_names(rnn: Recurrent, before: str = "") -> list[str]:
    """What the tensors of the carried state are called."""
    shape = state_shape(rnn)
    names = [f"h{number}" for number in range(shape.states)]
    if shape.state_history > 1:
        names += [f"h{number}_older" for number in range(shape.states)]
    if shape.input_history:
        names += [f"x_past{layer}" for layer in range(shape.layers)]
    return [f"{before}{name}" for name in names]


def as_state(rnn: Recurrent, tensors: list[Tensor]) -> Any:
    """The tensors as a network takes them."""
    return tensors[0] if state_shape(rnn).is_tensor else tuple(tensors)


def as_tensors(state: Any) -> list[Tensor]:
    """The tensors of a carried state, also of several layers' states in a tuple."""
    if isinstance(state, Tensor):
        return [state]
    return [tensor for part in state for tensor in as_tensors(part)]
