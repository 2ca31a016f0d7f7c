"""What words become, as classes of an exported file: the part of a model before the cell.

Inputs are those of the ONNX graphs (`model_parts`): numbers of words, features that do not change,
characters of the distinct words.
"""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from cellwright.embeddings.characters import CharacterCell, CharacterCNN
from cellwright.export.as_python.python_file import NetworkSources, made, weights_of
from cellwright.export.model_parts import CHARACTERS, feature_input
from cellwright.export.refusal import ExportError
from cellwright.tasks.words.embedders import HandedOn, LearnedOn, Mixed, Spelled, WordTable

_TABLE = '''
class WordTable(nn.Module):
    """A learned vector for each word that has a row of its own, and one for all others."""

    def __init__(self, words: int, vectors: int, width: int) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(words, dtype=torch.long))
        self.table = nn.Embedding(vectors, width)

    def forward(self, words: Tensor) -> Tensor:
        """(steps, batch) to (steps, batch, width)."""
        return self.table(self.rows[words])
'''

_LEARNED = '''
class LearnedVectors(nn.Module):
    """Vectors as they came, and what training has added to them."""

    def __init__(self, words: int, vectors: int, width: int) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(words, dtype=torch.long))
        self.added = nn.Embedding(vectors, width)

    def forward(self, words: Tensor, known: Tensor) -> Tensor:
        """(steps, batch) with (steps, batch, width) to the same."""
        return known + self.added(self.rows[words])
'''

_MIXED = '''
class MixedLayers(nn.Module):
    """One sum of layers that stand side by side, by learned weights."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, known: Tensor) -> Tensor:
        """(steps, batch, layers * width) to (steps, batch, width)."""
        shares = self.gamma * self.weights.softmax(0)
        apart = known.reshape(known.size(0), known.size(1), shares.size(0), -1)
        return (apart * shares.unsqueeze(1)).sum(2)
'''

_FILTERS = '''
class CharacterFilters(nn.Module):
    """Filters over a word's characters; of each the largest value over the word's places."""

    def __init__(self, characters: int, size: int, filters: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(characters, size)
        self.filters = nn.Conv1d(size, filters, width, padding=width // 2)

    def forward(self, numbers: Tensor, lengths: Tensor, rows: Tensor) -> Tensor:
        """Characters of distinct words, and which of these each word is, to vectors of words."""
        places = torch.arange(numbers.size(1), device=numbers.device)
        outside = (places >= lengths.unsqueeze(1)).unsqueeze(2)
        x = self.table(numbers).masked_fill(outside, 0.0)
        x = self.filters(x.transpose(1, 2)).transpose(1, 2)
        return x.masked_fill(outside, float("-inf")).amax(1)[rows]
'''

_READER = '''
class {name}(nn.Module):
    """A cell over a word's characters in both directions; its output at the end of each."""

    def __init__(self, characters: int, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(characters, size)
        self.rnn = {rnn}

    def forward(self, numbers: Tensor, lengths: Tensor, rows: Tensor) -> Tensor:
        """Characters of distinct words, and which of these each word is, to vectors of words."""
        output, _ = self.rnn(self.table(numbers.t()), None, lengths)
        ahead, back = output.split(self.rnn.hidden_size, 2)
        ends = (lengths - 1).view(1, -1, 1).expand(1, -1, ahead.size(2))
        found = torch.cat([ahead.gather(0, ends).squeeze(0), back[0]], 1)
        return found[rows]
'''


class WordsSource:
    """The embedders of a model in an exported file.

    Args:
        embedders: in their order.
        networks: of the file; that of a cell over characters is added.

    Attributes:
        arguments: the inputs of the model beside lengths, in their order.
        weights: by the names of the file's classes.
    """

    def __init__(self, embedders: Iterable[nn.Module], networks: NetworkSources) -> None:
        self._networks = networks
        self._classes: dict[str, str] = {}
        self._made: list[str] = []
        self._calls: list[str] = []
        self.arguments: list[str] = []
        self.weights: dict[str, Tensor] = {}
        for number, embedder in enumerate(embedders):
            self._add(number, embedder)

    def classes(self) -> list[str]:
        """Their classes."""
        return list(self._classes.values())

    def init_lines(self) -> list[str]:
        """The lines that make them."""
        inner = [f"                {each}," for each in self._made]
        return [
            "        self.embedders = nn.ModuleList(",
            "            [",
            *inner,
            "            ]",
            "        )",
        ]

    def forward_lines(self) -> list[str]:
        """The lines that set x: (steps, batch, width)."""
        if len(self._calls) == 1:
            return [f"        x = {self._calls[0]}"]
        inner = [f"            {each}," for each in self._calls]
        return ["        vectors = [", *inner, "        ]", "        x = torch.cat(vectors, 2)"]

    def _add(self, number: int, embedder: nn.Module) -> None:
        expression, given = self._one(number, embedder)
        self.arguments += [name for name in given if name not in self.arguments]
        self._made.append(expression)
        self._calls.append(f"self.embedders[{number}]({', '.join(given)})")

    def _one(self, number: int, embedder: nn.Module) -> tuple[str, list[str]]:
        """The expression that makes an embedder, and what it is called with."""
        at = f"embedders.{number}"
        if isinstance(embedder, HandedOn):
            return "nn.Identity()", [feature_input(embedder.name)]
        if isinstance(embedder, Mixed):
            self._classes["MixedLayers"] = _MIXED
            self._keep(at, weights=embedder.weights, gamma=embedder.gamma)
            return f"MixedLayers({len(embedder.weights)})", [feature_input(embedder.name)]
        if isinstance(embedder, LearnedOn):
            self._classes["LearnedVectors"] = _LEARNED
            self._keep(at, rows=embedder.rows)
            self._keep(f"{at}.added", weight=embedder.added.weight)
            sizes = _sizes(embedder.rows, embedder.added.weight)
            return f"LearnedVectors({sizes})", ["words", feature_input(embedder.name)]
        if isinstance(embedder, WordTable):
            self._classes["WordTable"] = _TABLE
            self._keep(at, rows=embedder.rows)
            self._keep(f"{at}.table", weight=embedder.table.weight)
            return f"WordTable({_sizes(embedder.rows, embedder.table.weight)})", ["words"]
        if isinstance(embedder, Spelled):
            self._keep(f"{at}.table", weight=embedder.module.table.weight)
            return self._spelled(at, number, embedder.module), list(CHARACTERS)
        raise ExportError(f"a {type(embedder).__name__} has no form as a Python file yet")

    def _spelled(self, at: str, number: int, module: CharacterCNN | CharacterCell) -> str:
        characters, size = module.table.weight.shape
        if isinstance(module, CharacterCNN):
            self._classes["CharacterFilters"] = _FILTERS
            filters = module.filters
            assert filters.bias is not None
            self._keep(f"{at}.filters", weight=filters.weight, bias=filters.bias)
            sizes = (characters, size, filters.out_channels, filters.kernel_size[0])
            return f"CharacterFilters({', '.join(map(str, sizes))})"
        name = f"CharacterReader{number}"
        network = made(self._networks.of(module.rnn.cell), module.rnn)
        self._classes[name] = _READER.format(name=name, rnn=network)
        self.weights |= weights_of(module.rnn, f"{at}.rnn.")
        return f"{name}({characters}, {size})"

    def _keep(self, at: str, **tensors: Tensor) -> None:
        self.weights |= {f"{at}.{name}": tensor.detach() for name, tensor in tensors.items()}


def _sizes(rows: Tensor, table: Tensor) -> str:
    return ", ".join(map(str, (len(rows), *table.shape)))


def kept_linear(name: str, layer: nn.Linear) -> dict[str, Tensor]:
    """The weights of a linear layer."""
    found = {f"{name}.weight": layer.weight.detach()}
    return found if layer.bias is None else {**found, f"{name}.bias": layer.bias.detach()}


def made_linear(layer: nn.Linear) -> str:
    """The expression that makes one."""
    return f"nn.Linear({layer.in_features}, {layer.out_features})"
