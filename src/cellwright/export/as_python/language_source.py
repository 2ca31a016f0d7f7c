"""A language model as a class of an exported file."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.engine import Recurrent
from cellwright.export.as_python.python_file import (
    NetworkSources,
    PythonFile,
    made,
    named,
    origin,
    weights_of,
    whole_file,
)
from cellwright.export.as_python.source_text import plain_text
from cellwright.export.model_parts import recurrent_layers
from cellwright.models.language_model import LanguageModel

_MODEL = '''
class LanguageModel(nn.Module):
    """From words to how likely each word is to come next; one matrix reads and says words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding({words}, {width})
        self.recurrent = {recurrent}
        self.decoder_bias = nn.Parameter(torch.zeros({words}))

    def forward(
        self,
        tokens: Tensor,
        state: Optional[{state}] = None,
        lengths: Optional[Tensor] = None,
    ) -> Tuple[Tensor, {state}]:
        """Read the numbers of words, (steps, batch).

        Gives log-probabilities of the words that may come next, (steps, batch, words), and the
        state behind the last step. lengths are those of the texts of a padded batch.
        """
        x = self.embedding(tokens)
{layers}
        scores = F.linear(x, self.embedding.weight, self.decoder_bias)
        return F.log_softmax(scores, 2), after
'''

_ONE = "        x, after = self.recurrent(x, state, lengths)"

_SEVERAL = """        after: {state} = []
        for number, layer in enumerate(self.recurrent):
            before = state[number] if state is not None else None
            x, new = layer(x, before, lengths)
            after.append(new)"""


def language_file(model: LanguageModel, about: Mapping[str, str], module: str) -> PythonFile:
    """A language model with its weights.

    Args:
        model: the model.
        about: what the file says of where it comes from.
        module: the name of the file, without ending.
    """
    sources = NetworkSources()
    layers = recurrent_layers(model)
    networks = [sources.of(layer.cell) for layer in layers]
    weights = {
        "embedding.weight": model.embedding.weight.detach(),
        "decoder_bias": model.decoder_bias.detach(),
    }
    if isinstance(model.recurrent, Recurrent):
        state, body = networks[0].state, _ONE
        recurrent = made(networks[0], layers[0])
        weights |= weights_of(layers[0], "recurrent.")
    else:
        state = f"List[{networks[0].state}]"
        body = _SEVERAL.format(state=state)
        each = [made(*pair) for pair in zip(networks, layers, strict=True)]
        inner = "".join(f"                {one},\n" for one in each)
        recurrent = f"nn.ModuleList(\n            [\n{inner}            ]\n        )"
        for number, layer in enumerate(layers):
            weights |= weights_of(layer, f"recurrent.{number}.")
    words, width = model.embedding.weight.shape
    text = _MODEL.format(words=words, width=width, recurrent=recurrent, state=state, layers=body)
    cell = layers[0].cell
    lines = [
        f"A language model around {named(cell)}, as plain PyTorch.",
        "",
        f"    model = {plain_text(module)}.load()  # with the weights of the .safetensors file",
        "    chances, state = model(torch.tensor([[0], [1], [2]]))  # numbers of words",
        "",
        *origin(about),
    ]
    classes = f"{sources.text()}\n\n\n{text.strip()}"
    made_by = "LanguageModel()"
    return PythonFile(whole_file(lines, classes, "LanguageModel", made_by), weights, made_by)
