"""A tagger as a graph of ONNX, with the search for the best tags in it."""

from __future__ import annotations

import numpy as np
from torch import nn

from cellwright.export.as_onnx.onnx_file import OnnxGraph
from cellwright.export.as_onnx.onnx_graph import Graph, Typed, Value
from cellwright.export.as_onnx.onnx_layer import Rows, recurrent, zero_state
from cellwright.export.as_onnx.onnx_words import WordInputs, embedded
from cellwright.export.model_parts import PADDING
from cellwright.models.tagger import Tagger


def tagger_graph(model: Tagger) -> OnnxGraph:
    """Words to `scores` of tags, (steps, batch, tags), and to the best `tags`, (steps, batch)."""
    graph = Graph()
    inputs = WordInputs(graph, "batch")
    lengths = inputs.lengths()
    x = embedded(inputs, model.embedders)
    rows = Rows.of(graph, lengths, x)
    if model.relearn is not None:
        x = linear(graph, model.relearn, x)
    said, _ = recurrent(graph, model.recurrent, x, rows, zero_state(graph, model.recurrent, x))
    scores = linear(graph, model.decision, said)
    scores = graph.add("Where", rows.inside, scores, graph.constant(np.float32(0)))
    count = model.decision.out_features
    best = _viterbi(graph, model, scores, rows) if model.settings.crf else None
    if best is None:
        best = graph.add("ArgMax", scores, axis=2, keepdims=0)
    inside = graph.squeezed(rows.inside, 2)
    tags = graph.add("Where", inside, best, graph.constant(np.int64(PADDING)))
    graph.output("scores", Typed(scores, ("steps", "batch", count)))
    graph.output("tags", Typed(tags, ("steps", "batch"), "int64"))
    return OnnxGraph("tagger", graph)


def linear(graph: Graph, layer: nn.Linear, x: Value) -> Value:
    """A linear layer."""
    product = x @ graph.weight(layer.weight, "weight", transposed=True)
    return product if layer.bias is None else product + graph.weight(layer.bias, "bias")


def _viterbi(graph: Graph, model: Tagger, scores: Value, rows: Rows) -> Value:
    """The best path of each sentence, in double precision as the CRF has it.

    Forward, the best score of a path that ends in each tag, and where it came from; behind a
    sentence's end each tag comes from itself. Then backwards from the best last tag.
    """
    count = model.decision.out_features
    between, start, end = (
        tensor.detach().double().cpu().numpy().copy()
        for tensor in (model.transitions, model.start, model.end)
    )
    if model._allowed is not None:
        for array, allowed in zip(
            (between, start, end),
            (model._allowed.transitions, model._allowed.starts, model._allowed.ends),
            strict=True,
        ):
            if allowed is not None:
                array[~allowed.cpu().numpy()] = -np.inf
    exact = graph.cast(scores, "float64")
    zero, one = (graph.constant(np.int64(number)) for number in (0, 1))
    last = graph.squeezed(graph.size(scores, 0), 0)
    first = graph.add("Equal", graph.add("Range", zero, last, one), zero)
    before = graph.add(
        "Expand",
        graph.constant(np.zeros((1, 1))),
        graph.concat([graph.size(scores, 1), graph.integers(count)], 0),
    )
    stay = graph.constant(np.arange(count).reshape(1, count))
    passing = graph.constant(between.reshape(1, count, count), "transitions")
    starting, ending = (graph.constant(each.reshape(1, count)) for each in (start, end))

    def forward(
        inner: Graph, known: list[Value], now: list[Value]
    ) -> tuple[list[Value], list[Typed]]:
        [best], (own, inside, begins) = known, now
        ways = inner.add("Add", inner.unsqueezed(best, 2), passing)  # (batch, from, to)
        reached = inner.add("ReduceMax", ways, axes=[1], keepdims=0)
        origin = inner.add("ArgMax", ways, axis=1, keepdims=0)
        so_far = inner.add("Where", begins, starting, reached)
        new = inner.add("Where", inside, inner.add("Add", so_far, own), best)
        origin = inner.add("Where", inside, origin, stay)
        return [new], [Typed(origin, ("batch", count), "int64")]

    [reached], [origins] = graph.scan(
        [Typed(before, ("batch", count), "float64")],
        [
            Typed(exact, ("batch", count), "float64"),
            Typed(rows.inside, ("batch", 1), "bool"),
            Typed(first, (), "bool"),
        ],
        forward,
    )
    state = graph.add("ArgMax", graph.add("Add", reached, ending), axis=1, keepdims=1)

    def back(inner: Graph, known: list[Value], now: list[Value]) -> tuple[list[Value], list[Typed]]:
        [tag], [origin] = known, now
        earlier = inner.add("GatherElements", origin, tag, axis=1)
        return [earlier], [Typed(tag, ("batch", 1), "int64")]

    _, [path] = graph.scan(
        [Typed(state, ("batch", 1), "int64")],
        [Typed(origins, ("batch", count), "int64")],
        back,
        backwards=True,
    )
    return graph.squeezed(path, 2)
