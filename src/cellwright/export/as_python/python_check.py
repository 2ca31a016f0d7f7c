"""Whether the classes of an exported Python file give what the original gives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cellwright.engine import Recurrent
from cellwright.export.as_python.python_file import PythonFile
from cellwright.export.model_parts import (
    NEXT,
    as_state,
    as_tensors,
    is_stack,
    layer_prefixes,
    recurrent_layers,
    state_names,
)
from cellwright.export.refusal import ExportError
from cellwright.export.samples import Arrays, largest_difference, sample_of
from cellwright.models.language_model import LanguageModel

TOLERANCE = 1e-4


def checked(file: PythonFile, model: nn.Module) -> float:
    """How far the file's outputs are from the model's on a random batch.

    Args:
        file: the file.
        model: the original, in main memory, which does not learn.

    Raises:
        ExportError: they are not the same.
    """
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(file.source, "exported.py", "exec"), names)
    with torch.random.fork_rng(devices=()):
        made: nn.Module = eval(file.expression, names)
    made.load_state_dict(file.weights)
    sample = sample_of(model)
    given = {name: torch.from_numpy(array) for name, array in sample.inputs.items()}
    with torch.no_grad():
        found = _outputs(made.eval(), model, given, list(sample.outputs))
    worst = largest_difference(found, sample.outputs)
    if not worst <= TOLERANCE:
        raise ExportError(
            f"the Python file's outputs differ from the model's by up to {worst:.2g}, so nothing "
            "was written"
        )
    return worst


def _outputs(
    made: nn.Module, model: nn.Module, given: dict[str, Tensor], wanted: list[str]
) -> Arrays:
    if isinstance(model, Recurrent | LanguageModel):
        layers = [model] if isinstance(model, Recurrent) else recurrent_layers(model)
        names = [
            state_names(layer, before)
            for layer, before in zip(layers, layer_prefixes(layers), strict=True)
        ]
        states = [
            as_state(layer, [given[name] for name in own])
            for layer, own in zip(layers, names, strict=True)
        ]
        stacked = isinstance(model, LanguageModel) and is_stack(model)
        first = given["x" if isinstance(model, Recurrent) else "tokens"]
        output, after = made(first, states if stacked else states[0], given["lengths"])
        found = [output, *as_tensors(after)]
        assert wanted[1:] == [NEXT + name for own in names for name in own]
    else:
        said = made(**given)
        found = list(said) if isinstance(said, tuple) else [said]
        if "probabilities" in wanted:
            found.append(found[0].softmax(1))
    return {name: tensor.numpy() for name, tensor in zip(wanted, found, strict=True)}
