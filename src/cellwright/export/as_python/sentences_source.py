"""Models of sentences and pairs as classes of an exported file."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from cellwright.export.as_python.python_file import (
    NetworkSources,
    PythonFile,
    made,
    named,
    origin,
    weights_of,
    whole_file,
)
from cellwright.export.as_python.source_text import call, plain_text
from cellwright.export.as_python.words_source import WordsSource, kept_linear, made_linear
from cellwright.export.model_parts import recurrent_layers
from cellwright.export.refusal import ExportError
from cellwright.models.sentences.esim import Esim
from cellwright.models.sentences.frozen import Frozen
from cellwright.models.sentences.head import Head, LayerNorm
from cellwright.models.sentences.max_pooled import BiRnn, Blm
from cellwright.models.sentences.sentence_model import SentenceModel

_LARGEST = '''
def largest(x: Tensor, inside: Tensor) -> Tensor:
    """Of each feature the largest value over a sentence's words."""
    return x.masked_fill(~inside, float("-inf")).amax(0)
'''

_MEAN = '''
def mean(x: Tensor, inside: Tensor) -> Tensor:
    """The mean of a sentence's words."""
    return x.masked_fill(~inside, 0.0).sum(0) / inside.sum(0)
'''

_ATTENDED = '''
def attended(x: Tensor, inside: Tensor) -> Tensor:
    """For each word the mean of the other sentence's words, each as much as it is like it."""
    first, second = x.masked_fill(~inside, 0.0).transpose(0, 1).chunk(2)
    one, two = inside.permute(1, 2, 0).chunk(2)
    own, other = torch.cat([first, second]), torch.cat([second, first])
    alike = own.bmm(other.transpose(1, 2)).masked_fill(~torch.cat([two, one]), float("-inf"))
    return alike.softmax(2).bmm(other).transpose(0, 1)
'''

_HEAD = '''
class Head(nn.Module):
    """From one vector of an example to its label or score."""

    def __init__(self) -> None:
        super().__init__()
        self.feed_forward = {feed_forward}
{norm}        self.projection = {projection}

    def forward(self, x: Tensor) -> Tensor:
        """(examples, width) to {shape}."""
        x = torch.{activation}(self.feed_forward(x))
{normed}        return self.projection(x){squeezed}
'''


def sentences_file(model: SentenceModel, about: Mapping[str, str], module: str) -> PythonFile:
    """A model of sentences with its weights.

    Args:
        model: the model.
        about: what the file says of where it comes from.
        module: the name of the file, without ending.
    """
    networks = NetworkSources()
    words = WordsSource(model.embedders, networks)
    layers = recurrent_layers(model)
    each = [made(networks.of(layer.cell), layer) for layer in layers]
    weights = dict(words.weights)
    for number, layer in enumerate(layers):
        weights |= weights_of(layer, f"recurrent.{number}.")
    init = words.init_lines()
    if each:
        inner = [f"            [{each[0]}]"] if len(each) == 1 else []
        if not inner:
            inner = ["            [", *(f"                {one}," for one in each), "            ]"]
        init += ["        self.recurrent = nn.ModuleList(", *inner, "        )"]
    projection = getattr(model, "projection", None)
    if projection is not None:
        init.append(f"        self.projection = {made_linear(projection)}")
        weights |= kept_linear("projection", projection)
    init.append("        self.head = Head()")
    assert isinstance(model.head, Head)
    head, of_head = _head(model.head)
    weights |= of_head
    given = ["self", "lengths: Tensor", *(f"{name}: Tensor" for name in words.arguments)]
    shape = "(examples, labels)" if model.labels else "(examples,)"
    what = "How much the model is for each label" if model.labels else "Scores from 0 to 1"
    lines = [
        "class SentenceModel(nn.Module):",
        '    """A label or a score for each example."""',
        "",
        "    def __init__(self) -> None:",
        "        super().__init__()",
        *init,
        "",
        *call("def forward", given, " -> Tensor:", 4),
        f'        """{what}, {shape}."""',
        *words.forward_lines(),
        "        lengths = lengths.to(x.device)",
        "        steps = torch.arange(x.size(0), device=x.device).unsqueeze(1)",
        "        inside = (steps < lengths).unsqueeze(2)",
        *_body(model),
        "        return self.head(x)",
    ]
    body = "\n".join(lines)
    helpers = {"largest(": _LARGEST, "mean(": _MEAN, "attended(": _ATTENDED}
    used = [text for name, text in helpers.items() if name in body]
    parts = [networks.text(), *words.classes(), *used, head, body]
    text = "\n\n\n".join(part.strip("\n") for part in parts)
    cell = f" around {named(layers[0].cell)}" if layers else ""
    said = [
        f"A model of sentences{cell}, as plain PyTorch.",
        "",
        f"    model = {plain_text(module)}.load()  # with the weights of the .safetensors file",
        f"    outputs = model(lengths, {', '.join(words.arguments)})",
        "",
        "lengths are those of the sentences. Words are (steps, sentences), features of words",
        "(steps, sentences, width). Of pairs there are first all first sentences, then all second",
        "ones.",
        "",
        *origin(about),
    ]
    made_by = "SentenceModel()"
    return PythonFile(whole_file(said, text, "SentenceModel", made_by), weights, made_by)


def _body(model: SentenceModel) -> list[str]:
    """The lines from vectors of words, x, to one vector of an example."""
    if isinstance(model, BiRnn | Blm):
        lines = [_recurred(number) for number in range(model.settings.depth)]
        lines.append("        x = largest(x, inside)")
        if isinstance(model, BiRnn):
            return lines + _joined(model)
        if model.settings.padding_is_zero:
            lines.append("        x = x.clamp(min=0.0)")
        return lines + _joined(model, signed=model.settings.signed_difference)
    if isinstance(model, Esim):
        return [
            _recurred(0),
            "        other = attended(x, inside)",
            "        x = torch.cat([x, other, x - other, x * other], 2)",
            "        x = torch.relu(self.projection(x))",
            _recurred(1),
            "        pooled = torch.cat([mean(x, inside), largest(x, inside)], 1)",
            "        u, v = pooled.chunk(2)",
            "        x = torch.cat([u, v], 1)",
        ]
    if isinstance(model, Frozen):
        lines = ["        x = self.projection(x)"]
        if model._attends:
            lines = ["        x = torch.cat([x, attended(x, inside)], 2)", _recurred(0)]
        pool = "largest" if model.settings.pooling == "max" else "mean"
        return [*lines, f"        x = {pool}(x, inside)", *_joined(model)]
    raise ExportError(f"a {type(model).__name__} has no form as a Python file yet")


def _recurred(number: int) -> str:
    return f"        x, _ = self.recurrent[{number}](x, None, lengths)"


def _joined(model: SentenceModel, *, signed: bool = False) -> list[str]:
    if model.per_example == 1:
        return []
    difference = "u - v" if signed else "(u - v).abs()"
    return [
        "        u, v = x.chunk(2)",
        f"        x = torch.cat([u, v, {difference}, u * v], 1)",
    ]


def _head(head: Head) -> tuple[str, dict[str, torch.Tensor]]:
    weights = {
        **kept_linear("head.feed_forward", head.feed_forward),
        **kept_linear("head.projection", head.projection),
    }
    norm = normed = ""
    if isinstance(head.norm, LayerNorm):
        norm = f"        self.norm = nn.LayerNorm({head.feed_forward.out_features})\n"
        normed = "        x = self.norm(x)\n"
        weights["head.norm.weight"] = head.norm.weight.detach()
        weights["head.norm.bias"] = head.norm.bias.detach()
    text = _HEAD.format(
        feed_forward=made_linear(head.feed_forward),
        projection=made_linear(head.projection),
        norm=norm,
        normed=normed,
        activation="tanh" if head._activation is torch.tanh else "relu",
        shape="(examples,)" if head._is_score else "(examples, labels)",
        squeezed=".squeeze(1)" if head._is_score else "",
    )
    return text, weights
