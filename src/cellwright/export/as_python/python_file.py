"""A Python file with a cell, or a model around one, that needs torch and nothing of cellwright."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from torch import Tensor

from cellwright.cell import Cell
from cellwright.cell.ops import Kind
from cellwright.engine import Recurrent
from cellwright.export.as_python.cell_source import WEIGHTS, cell_class
from cellwright.export.as_python.identifiers import class_name
from cellwright.export.as_python.network_source import (
    HELPERS,
    LAST_STEPS,
    network_class,
    state_type,
)
from cellwright.export.as_python.source_text import plain_text
from cellwright.export.as_python.step_source import Names
from cellwright.export.refusal import exportable

_IMPORTS = """
from pathlib import Path
from typing import List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
"""

_LOAD = '''
def load(path: Optional[str] = None) -> {returned}:
    """The model with its weights, which are beside this file unless a path is given."""
    from safetensors.torch import load_file

    model = {made}
    model.load_state_dict(load_file(path or Path(__file__).with_suffix(".safetensors")))
    return model.eval()
'''


@dataclass(frozen=True)
class PythonFile:
    """A file's source, and weights under the names that its classes have for them.

    `expression` makes the network or model in it. Without weights it is a cell alone, of any sizes.
    """

    source: str
    weights: dict[str, Tensor]
    expression: str = ""


@dataclass(frozen=True)
class NetworkSource:
    """The classes of a cell in a file.

    Attributes:
        called: the class of a network.
        cell: as the engine runs it.
        text: the source of both classes.
    """

    called: str
    cell: Cell
    text: str

    @property
    def state(self) -> str:
        """The type of the carried state."""
        return state_type(self.cell)


class NetworkSources:
    """The classes of all cells of a file, each cell once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], NetworkSource] = {}

    def of(self, cell: Cell) -> NetworkSource:
        """The classes of a cell.

        Raises:
            ExportError: it is a supernet.
        """
        live = exportable(cell)
        key = (live.nodes, live.states, live.output)
        if key not in self._known:
            known = [each.called for each in self._known.values()]
            taken = {*known, *(f"{name}Cell" for name in known)}
            base = class_name(cell.name)
            called = next(
                name
                for number in count(1)
                if taken.isdisjoint({name := base + str(number) * (number > 1), f"{name}Cell"})
            )
            one_layer = f"{called}Cell"
            text = cell_class(live, Names(live), one_layer)
            text += "\n\n" + network_class(
                live, called, one_layer, projects=live.needs_equal_widths
            )
            self._known[key] = NetworkSource(called, live, text)
        return self._known[key]

    def text(self) -> str:
        """The source of all of them, with what they share."""
        cells = [each.cell for each in self._known.values()]
        linear = any(node.spec.kind is Kind.LINEAR for cell in cells for node in cell.nodes)
        parts = [WEIGHTS.strip("\n")] if linear else []
        parts.append(HELPERS.strip("\n"))
        parts += [LAST_STEPS.strip("\n")] if any(cell.input_history for cell in cells) else []
        parts += [each.text.strip("\n") for each in self._known.values()]
        return "\n\n\n".join(parts)


def made(network: NetworkSource, rnn: Recurrent) -> str:
    """The expression that makes a network of a `Recurrent`'s sizes."""
    given = [str(rnn.input_size), str(rnn.hidden_size)]
    usual = {"num_layers": 1, "batch_first": False, "bidirectional": False, "dropout": 0.0}
    given += [
        f"{name}={value!r}"
        for name, default in usual.items()
        if (value := getattr(rnn, name)) != default
    ]
    given += ["project_input=True"] if rnn.projection is not None else []
    return f"{network.called}({', '.join(given)})"


def weights_of(rnn: Recurrent, before: str = "") -> dict[str, Tensor]:
    """The weights of a `Recurrent` under the names of the exported class."""
    live = exportable(rnn.cell)
    names, known = Names(live), rnn.state_dict()
    directions = 2 if rnn.bidirectional else 1
    found: dict[str, Tensor] = {}
    if rnn.projection is not None:
        found[f"{before}projection.weight"] = known["projection.weight"]
    for layer in range(rnn.num_layers):
        for direction in range(directions):
            ours = f"layer{layer}{'_reverse' * direction}"
            theirs = f"{before}layers.{layer * directions + direction}"
            for engine, exported in weight_names(live, names).items():
                found[f"{theirs}.{exported}"] = known[f"{ours}.{engine}"]
    return found


def weight_names(cell: Cell, names: Names) -> dict[str, str]:
    """What `Recurrent` calls the weights of a layer, and what an exported file does."""
    found: dict[str, str] = {}
    for node in cell.nodes:
        if node.spec.kind is not Kind.LINEAR:
            continue
        for position in range(len(node.inputs)):
            found[names.engine_weight(node, position)] = ".".join(names.weight(node, position))
        if node.bias:
            found[f"{node.name}.bias"] = ".".join(names.bias(node))
    return found


def whole_file(about: Sequence[str], classes: str, returned: str = "", expression: str = "") -> str:
    """The source of a file.

    Args:
        about: the lines of its docstring.
        classes: what is in it.
        returned, expression: the class of what `load` gives, and what makes it; none: no `load`.
    """
    text = "\n".join(about)
    imports = _IMPORTS if expression else _IMPORTS.replace("from pathlib import Path\n", "")
    parts = [f'"""{text}\n"""\n{imports}', classes.strip("\n")]
    if expression:
        parts.append(_LOAD.format(returned=returned, made=expression).strip("\n"))
    return "\n\n".join([parts[0], "\n\n\n".join(parts[1:])]) + "\n"


def cell_file(cell: Cell, about: Mapping[str, str]) -> PythonFile:
    """A cell alone, of any sizes, with weights that are yet to be learned.

    Raises:
        ExportError: it is a supernet.
    """
    sources = NetworkSources()
    network = sources.of(cell)
    lines = [
        f"{named(cell, 'The')} as plain PyTorch.",
        "",
        f"    rnn = {network.called}(input_size=300, hidden_size=300)",
        "    y, state = rnn(torch.randn(35, 16, 300))",
        "",
        *origin(about),
    ]
    return PythonFile(whole_file(lines, sources.text()), {})


def recurrent_file(rnn: Recurrent, about: Mapping[str, str], module: str) -> PythonFile:
    """A network with its weights.

    Args:
        rnn: the network.
        about: what the file says of where it comes from.
        module: the name of the file, without ending.

    Raises:
        ExportError: its cell is a supernet.
    """
    sources = NetworkSources()
    network = sources.of(rnn.cell)
    lines = [
        f"{named(rnn.cell, 'The')} as plain PyTorch, with its weights in the file beside it.",
        "",
        f"    rnn = {plain_text(module)}.load()",
        f"    y, state = rnn(torch.randn({_example(rnn)}))",
        "",
        *origin(about),
    ]
    expression = made(network, rnn)
    source = whole_file(lines, sources.text(), network.called, expression)
    return PythonFile(source, weights_of(rnn), expression)


def origin(about: Mapping[str, str]) -> list[str]:
    """Where a file comes from, for its docstring."""
    return [f"{name}: {plain_text(value)}" for name, value in about.items()]


def named(cell: Cell, article: str = "the") -> str:
    """What a docstring calls a cell."""
    return f"{article} recurrent cell {plain_text(cell.name or cell.id)}"


def _example(rnn: Recurrent) -> str:
    sizes = ["16", "35"] if rnn.batch_first else ["35", "16"]
    return ", ".join([*sizes, str(rnn.input_size)])
