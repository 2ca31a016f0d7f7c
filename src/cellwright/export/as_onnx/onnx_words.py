"""What words become, as graphs of ONNX: the part of taggers and sentence models before the cell.

What is learned is inside of the graph: tables, characters, sums of layers. Features that do not
change, such as pretrained vectors, are inputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor, nn

from cellwright.embeddings.characters import CharacterCell, CharacterCNN
from cellwright.export.as_onnx.onnx_graph import Graph, Value
from cellwright.export.as_onnx.onnx_layer import Rows, recurrent, zero_state
from cellwright.export.model_parts import CHARACTERS, feature_input
from cellwright.export.refusal import ExportError
from cellwright.tasks.words.embedders import HandedOn, LearnedOn, Mixed, Spelled, WordTable


@dataclass
class WordInputs:
    """The inputs of a graph that say which words there are; made where something asks for them.

    Args:
        graph: that has them.
        batch: the word for how many sentences there are.
    """

    graph: Graph
    batch: str
    _known: dict[str, Value] = field(default_factory=dict)

    def words(self) -> Value:
        """The numbers of the words."""
        return self._input("words", ("steps", self.batch), "int64")

    def lengths(self) -> Value:
        """Those of the sentences."""
        return self._input("lengths", (self.batch,), "int64")

    def features(self, name: str, width: int) -> Value:
        """What is known of each word."""
        return self._input(feature_input(name), ("steps", self.batch, width), "float32")

    def characters(self) -> tuple[Value, Value, Value]:
        """Of the distinct words: numbers and lengths; and which of them each word is."""
        return (
            self._input(CHARACTERS[0], ("distinct", "longest"), "int64"),
            self._input(CHARACTERS[1], ("distinct",), "int64"),
            self._input(CHARACTERS[2], ("steps", self.batch), "int64"),
        )

    def _input(self, name: str, shape: tuple[int | str, ...], dtype: str) -> Value:
        if name not in self._known:
            self._known[name] = self.graph.input(name, shape, dtype)
        return self._known[name]


def embedded(inputs: WordInputs, embedders: Iterable[nn.Module]) -> Value:
    """What all embedders say of each word, side by side: (steps, batch, width).

    Raises:
        ExportError: one is of a kind that is not known here.
    """
    graph = inputs.graph
    return graph.concat([_embedded(inputs, graph, each) for each in embedders], 2)


def _embedded(inputs: WordInputs, graph: Graph, embedder: nn.Module) -> Value:
    if isinstance(embedder, HandedOn):
        return inputs.features(embedder.name, embedder.width)
    if isinstance(embedder, LearnedOn):
        known = inputs.features(embedder.name, embedder.width)
        return known + _looked_up(graph, inputs, embedder.rows, embedder.added.weight)
    if isinstance(embedder, WordTable):
        return _looked_up(graph, inputs, embedder.rows, embedder.table.weight)
    if isinstance(embedder, Mixed):
        layers = len(embedder.weights)
        known = inputs.features(embedder.name, layers * embedder.width)
        apart = graph.add("Reshape", known, graph.integers(0, 0, layers, embedder.width))
        shares = (embedder.gamma * embedder.weights.softmax(0)).detach().cpu().numpy()
        weighed = apart * graph.constant(shares.reshape(layers, 1).astype(np.float32))
        return graph.add("ReduceSum", weighed, graph.integers(2), keepdims=0)
    if isinstance(embedder, Spelled):
        numbers, lengths, rows = inputs.characters()
        spelled = _by_cnn if isinstance(embedder.module, CharacterCNN) else _by_cell
        found = spelled(graph, embedder.module, numbers, lengths)  # type: ignore[arg-type]
        return graph.add("Gather", found, rows, axis=0)
    raise ExportError(f"ONNX graphs have no {type(embedder).__name__} yet")


def _looked_up(graph: Graph, inputs: WordInputs, rows: Tensor, table: Tensor) -> Value:
    """The vectors of words in a learned table."""
    which = graph.constant(rows.cpu().numpy(), "rows")
    row = graph.add("Gather", which, inputs.words(), axis=0)
    return graph.add("Gather", graph.weight(table, "table"), row, axis=0)


def _by_cnn(graph: Graph, module: CharacterCNN, numbers: Value, lengths: Value) -> Value:
    x = graph.add("Gather", graph.weight(module.table.weight, "characters"), numbers, axis=0)
    turned = graph.add("Transpose", numbers, perm=[1, 0])
    inside = graph.add("Transpose", Rows.of(graph, lengths, turned).inside, perm=[1, 0, 2])
    x = graph.add("Where", inside, x, graph.constant(np.float32(0)))
    width = module.filters.kernel_size[0]
    assert module.filters.bias is not None
    said = graph.add(
        "Conv",
        graph.add("Transpose", x, perm=[0, 2, 1]),
        graph.weight(module.filters.weight, "filters"),
        graph.weight(module.filters.bias, "bias"),
        pads=[width // 2, (width - 1) // 2],
    )
    said = graph.add("Transpose", said, perm=[0, 2, 1])
    said = graph.add("Where", inside, said, graph.constant(np.float32(-np.inf)))
    return graph.add("ReduceMax", said, axes=[1], keepdims=0)


def _by_cell(graph: Graph, module: CharacterCell, numbers: Value, lengths: Value) -> Value:
    table, half = graph.weight(module.table.weight, "characters"), module.rnn.hidden_size
    x = graph.add("Gather", table, graph.add("Transpose", numbers, perm=[1, 0]), axis=0)
    rows = Rows.of(graph, lengths, x, "distinct")
    output, _ = recurrent(graph, module.rnn, x, rows, zero_state(graph, module.rnn, x))
    first, second = graph.several("Split", output, graph.integers(half, half), outputs=2, axis=2)
    ends = graph.add("Sub", lengths, graph.constant(np.int64(1)))
    index = graph.unsqueezed(graph.unsqueezed(ends, 0), 2)
    sizes = [graph.integers(1), graph.size(x, 1), graph.integers(half)]
    index = graph.add("Expand", index, graph.concat(sizes, 0))
    last = graph.squeezed(graph.add("GatherElements", first, index, axis=0), 0)
    return graph.concat([last, graph.taken(second, 0)], 1)
