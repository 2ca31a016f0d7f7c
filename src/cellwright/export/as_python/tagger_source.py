"""A tagger as a class of an exported file."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

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
from cellwright.models.tagger import Tagger

_VITERBI = '''
def best_path(
    scores: Tensor, inside: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    """The best tags of each sentence by a CRF (Viterbi's algorithm), (steps, batch)."""
    if scores.device.type != "mps":  # which has no double precision
        scores, transitions = scores.double(), transitions.double()
    best = start.to(scores.dtype) + scores[0]
    stay = torch.arange(scores.size(2), device=scores.device).expand_as(best)
    origins: List[Tensor] = []
    for t in range(1, scores.size(0)):
        reached, origin = (best.unsqueeze(2) + transitions).max(1)
        here = inside[t].unsqueeze(1)
        best = torch.where(here, reached + scores[t], best)
        origins.append(torch.where(here, origin, stay))
    tag = (best + end.to(scores.dtype)).argmax(1)
    path = [tag]
    for number in range(len(origins) - 1, -1, -1):
        tag = origins[number].gather(1, tag.unsqueeze(1)).squeeze(1)
        path.append(tag)
    path.reverse()
    return torch.stack(path)
'''


def tagger_file(model: Tagger, about: Mapping[str, str], module: str) -> PythonFile:
    """A tagger with its weights.

    Args:
        model: the model.
        about: what the file says of where it comes from.
        module: the name of the file, without ending.
    """
    networks = NetworkSources()
    words = WordsSource(model.embedders, networks)
    network = networks.of(model.recurrent.cell)
    weights = {
        **words.weights,
        **weights_of(model.recurrent, "recurrent."),
        **kept_linear("decision", model.decision),
    }
    init, forward = [*words.init_lines()], [*words.forward_lines()]
    if model.relearn is not None:
        weights |= kept_linear("relearn", model.relearn)
        init.append(f"        self.relearn = {made_linear(model.relearn)}")
        forward.append("        x = self.relearn(x)")
    init += [
        f"        self.recurrent = {made(network, model.recurrent)}",
        f"        self.decision = {made_linear(model.decision)}",
    ]
    best = "scores.argmax(2)"
    if model.settings.crf:
        count = model.decision.out_features
        init += [
            f"        self.transitions = nn.Parameter(torch.zeros({count}, {count}))",
            f"        self.start = nn.Parameter(torch.zeros({count}))",
            f"        self.end = nn.Parameter(torch.zeros({count}))",
        ]
        weights |= _crf_weights(model)
        best = "best_path(scores, inside, self.transitions, self.start, self.end)"
    head = ["self", "lengths: Tensor", *(f"{name}: Tensor" for name in words.arguments)]
    lines = [
        "class Tagger(nn.Module):",
        '    """A tag for each word of a sentence."""',
        "",
        "    def __init__(self) -> None:",
        "        super().__init__()",
        *init,
        "",
        *call("def forward", head, " -> Tuple[Tensor, Tensor]:", 4),
        '        """Scores of tags, (steps, batch, tags), and the best tags, (steps, batch)."""',
        *forward,
        "        lengths = lengths.to(x.device)",
        "        x, _ = self.recurrent(x, None, lengths)",
        "        inside = torch.arange(x.size(0), device=x.device).unsqueeze(1) < lengths",
        "        scores = self.decision(x).masked_fill(~inside.unsqueeze(2), 0.0)",
        f"        tags = {best}",
        "        return scores, tags.masked_fill(~inside, -1)",
    ]
    classes = [networks.text(), *words.classes()]
    classes += [_VITERBI] if model.settings.crf else []
    text = "\n\n\n".join(part.strip("\n") for part in [*classes, "\n".join(lines)])
    said = [
        f"A tagger around {named(model.recurrent.cell)}, as plain PyTorch.",
        "",
        f"    model = {plain_text(module)}.load()  # with the weights of the .safetensors file",
        f"    scores, tags = model(lengths, {', '.join(words.arguments)})",
        "",
        "lengths are those of the sentences, (batch,). Words are (steps, batch), features of words",
        "(steps, batch, width). Tags behind a sentence's end are -1.",
        "",
        *origin(about),
    ]
    return PythonFile(whole_file(said, text, "Tagger", "Tagger()"), weights, "Tagger()")


def _crf_weights(model: Tagger) -> dict[str, Tensor]:
    """The scores of the CRF, with −∞ for what is forbidden."""
    found = {
        name: getattr(model, name).detach().clone() for name in ("transitions", "start", "end")
    }
    if model._allowed is not None:
        for tensor, allowed in zip(found.values(), model._allowed, strict=True):
            if allowed is not None:
                tensor.masked_fill_(~allowed.to(tensor.device), -torch.inf)
    return found
