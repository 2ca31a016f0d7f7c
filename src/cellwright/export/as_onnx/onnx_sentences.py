"""Models of sentences and pairs as graphs of ONNX."""

from __future__ import annotations

import numpy as np
import torch

from cellwright.engine import Recurrent
from cellwright.export.as_onnx.onnx_file import OnnxGraph
from cellwright.export.as_onnx.onnx_graph import Graph, Typed, Value
from cellwright.export.as_onnx.onnx_layer import Rows, recurrent, zero_state
from cellwright.export.as_onnx.onnx_tagger import linear
from cellwright.export.as_onnx.onnx_words import WordInputs, embedded
from cellwright.export.refusal import ExportError
from cellwright.models.sentences.esim import Esim
from cellwright.models.sentences.frozen import Frozen
from cellwright.models.sentences.head import Head, LayerNorm
from cellwright.models.sentences.max_pooled import BiRnn, Blm
from cellwright.models.sentences.sentence_model import SentenceModel

BATCH = "sentences"
"""How many sentences there are: of pairs twice as many as examples, first all first ones."""


def sentence_graph(model: SentenceModel) -> OnnxGraph:
    """Words to `outputs`: how much the model is for each label, (examples, labels), with
    `probabilities`; or scores from 0 to 1, (examples,)."""
    graph = Graph()
    made = _Sentences(graph, model)
    if isinstance(model, BiRnn | Blm):
        vector = made.max_pooled(model)
    elif isinstance(model, Esim):
        vector = made.esim(model)
    elif isinstance(model, Frozen):
        vector = made.frozen(model)
    else:
        raise ExportError(f"ONNX graphs have no {type(model).__name__} yet")
    outputs = made.head(model.head, vector)
    shape = ("examples", model.labels) if model.labels else ("examples",)
    graph.output("outputs", Typed(outputs, shape))
    if model.labels:
        shares = graph.add("Softmax", outputs, axis=1)
        graph.output("probabilities", Typed(shares, shape))
    return OnnxGraph("sentence_model", graph)


class _Sentences:
    """A graph that reads sentences."""

    def __init__(self, graph: Graph, model: SentenceModel) -> None:
        self.graph, self.model = graph, model
        inputs = WordInputs(graph, BATCH)
        lengths = inputs.lengths()
        self.x = embedded(inputs, model.embedders)
        self.rows = Rows.of(graph, lengths, self.x, BATCH)

    # -- the models ------------------------------------------------------------------------

    def max_pooled(self, model: BiRnn | Blm) -> Value:
        """BiRNN and BiLSTM-Max."""
        x = self.x
        for number in range(model.settings.depth):
            x = self._recur(number, x)
        pooled = self._largest(x)
        if isinstance(model, BiRnn):
            return self._joined(pooled)
        if model.settings.padding_is_zero:
            pooled = self.graph.add("Max", pooled, self.graph.constant(np.float32(0)))
        return self._joined(pooled, signed=model.settings.signed_difference)

    def esim(self, model: Esim) -> Value:
        """ESIM."""
        graph, x = self.graph, self._recur(0, self.x)
        other = self._attended(x)
        x = graph.concat([x, other, x - other, x * other], 2)
        x = self._recur(1, graph.add("Relu", linear(graph, model.projection, x)))
        pooled = graph.concat([self._mean(x), self._largest(x)], 1)
        return graph.concat(self._halves(pooled), 1)

    def frozen(self, model: Frozen) -> Value:
        """A head on vectors as they are."""
        if model._attends:
            attended = self._attended(self.x)
            x = self._recur(0, self.graph.concat([self.x, attended], 2))
        else:
            x = linear(self.graph, model.projection, self.x)
        largest = model.settings.pooling == "max"
        return self._joined(self._largest(x) if largest else self._mean(x))

    # -- their parts -----------------------------------------------------------------------

    def head(self, head: Head, vector: Value) -> Value:
        """From one vector of an example to its label or score."""
        graph = self.graph
        x = linear(graph, head.feed_forward, vector)
        x = graph.add("Tanh" if head._activation is torch.tanh else "Relu", x)
        if isinstance(head.norm, LayerNorm):
            weight = graph.weight(head.norm.weight, "norm")
            x = graph.add(
                "LayerNormalization", x, weight, graph.weight(head.norm.bias, "bias"), epsilon=1e-5
            )
        x = linear(graph, head.projection, x)
        return graph.squeezed(x, 1) if head._is_score else x

    def _recur(self, number: int, x: Value) -> Value:
        layer = self.model.recurrent[number]
        assert isinstance(layer, Recurrent)
        said, _ = recurrent(self.graph, layer, x, self.rows, zero_state(self.graph, layer, x))
        return said

    def _largest(self, x: Value) -> Value:
        graph = self.graph
        inside = graph.add("Where", self.rows.inside, x, graph.constant(np.float32(-np.inf)))
        return graph.add("ReduceMax", inside, axes=[0], keepdims=0)

    def _mean(self, x: Value) -> Value:
        graph = self.graph
        inside = graph.add("Where", self.rows.inside, x, graph.constant(np.float32(0)))
        total = graph.add("ReduceSum", inside, graph.integers(0), keepdims=0)
        return total / graph.unsqueezed(graph.cast(self.rows.lengths, "float32"), 1)

    def _attended(self, x: Value) -> Value:
        """For each word the mean of the other sentence's words, each as much as it is like it."""
        graph = self.graph
        own = graph.add("Where", self.rows.inside, x, graph.constant(np.float32(0)))
        own = graph.add("Transpose", own, perm=[1, 0, 2])
        other = self._swapped(own)
        alike = own @ graph.add("Transpose", other, perm=[0, 2, 1])
        inside = self._swapped(graph.add("Transpose", self.rows.inside, perm=[1, 2, 0]))
        alike = graph.add("Where", inside, alike, graph.constant(np.float32(-np.inf)))
        found = graph.add("Softmax", alike, axis=2) @ other
        return graph.add("Transpose", found, perm=[1, 0, 2])

    def _swapped(self, value: Value) -> Value:
        """The other sentence's, in the place of each sentence's own."""
        return self.graph.concat(self._halves(value)[::-1], 0)

    def _halves(self, value: Value) -> list[Value]:
        """What belongs to first and to second sentences."""
        return self.graph.several("Split", value, outputs=2, axis=0)

    def _joined(self, vectors: Value, *, signed: bool = False) -> Value:
        if self.model.per_example == 1:
            return vectors
        u, v = self._halves(vectors)
        difference = u - v if signed else self.graph.add("Abs", u - v)
        return self.graph.concat([u, v, difference, u * v], 1)
