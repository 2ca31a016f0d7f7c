"""Graphs of ONNX for a network of layers, and for a language model."""

from __future__ import annotations

from cellwright.engine import Recurrent
from cellwright.export.as_onnx.onnx_file import OnnxGraph
from cellwright.export.as_onnx.onnx_graph import Graph, Typed, Value
from cellwright.export.as_onnx.onnx_layer import Rows, recurrent, state_sizes
from cellwright.export.model_parts import NEXT, layer_prefixes, recurrent_layers, state_names
from cellwright.models.language_model import LanguageModel


def recurrent_graph(rnn: Recurrent) -> OnnxGraph:
    """A network: `x`, `lengths` and the state before to `y` and the state behind.

    x is as the network has it, batch first or not.
    """
    graph = Graph()
    order: tuple[str, ...] = ("batch", "steps") if rnn.batch_first else ("steps", "batch")
    x = graph.input("x", (*order, rnn.input_size))
    if rnn.batch_first:
        x = graph.add("Transpose", x, perm=[1, 0, 2])
    lengths = graph.input("lengths", ("batch",), "int64")
    state = state_inputs(graph, rnn)
    y, new = recurrent(graph, rnn, x, Rows.of(graph, lengths, x), state)
    if rnn.batch_first:
        y = graph.add("Transpose", y, perm=[1, 0, 2])
    width = rnn.hidden_size * (2 if rnn.bidirectional else 1)
    graph.output("y", Typed(y, (*order, width)))
    state_outputs(graph, rnn, new)
    return OnnxGraph("network", graph)


def language_graph(model: LanguageModel) -> OnnxGraph:
    """A language model: `tokens`, `lengths` and the state before to `log_probabilities` of each
    next word and the state behind. States of several layers have the layer's number in front."""
    graph, layers = Graph(), recurrent_layers(model)
    tokens = graph.input("tokens", ("steps", "batch"), "int64")
    lengths = graph.input("lengths", ("batch",), "int64")
    befores = layer_prefixes(layers)
    states = [state_inputs(graph, *pair) for pair in zip(layers, befores, strict=True)]
    table = graph.weight(model.embedding.weight, "embedding")
    x = graph.add("Gather", table, tokens, axis=0)
    rows = Rows.of(graph, lengths, x)
    after = []
    for layer, state in zip(layers, states, strict=True):
        x, new = recurrent(graph, layer, x, rows, state)
        after.append(new)
    turned = graph.add("Transpose", table, perm=[1, 0])
    scores = (x @ turned) + graph.weight(model.decoder_bias, "decoder_bias")
    found = graph.add("LogSoftmax", scores, axis=2)
    graph.output("log_probabilities", Typed(found, ("steps", "batch", model.vocabulary_size)))
    for layer, new, before in zip(layers, after, befores, strict=True):
        state_outputs(graph, layer, new, before)
    return OnnxGraph("language_model", graph)


def state_inputs(graph: Graph, rnn: Recurrent, before: str = "") -> list[Value]:
    """The carried state as inputs of the graph."""
    pairs = zip(state_names(rnn, before), state_sizes(rnn), strict=True)
    return [graph.input(name, sizes) for name, sizes in pairs]


def state_outputs(graph: Graph, rnn: Recurrent, state: list[Value], before: str = "") -> None:
    """The new state as outputs of the graph."""
    for name, sizes, value in zip(state_names(rnn, before), state_sizes(rnn), state, strict=True):
        graph.output(NEXT + name, Typed(value, sizes))
