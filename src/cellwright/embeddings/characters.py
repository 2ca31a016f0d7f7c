"""Vectors of words by their characters, trained with the model: a CNN, or a cell in two directions.

| module | paper | sizes there |
|---|---|---|
| `CharacterCNN` | Ma and Hovy, ACL 2016, section 2.1 | characters of 30, 30 filters of width 3 |
| `CharacterCell` | Lample et al., NAACL 2016, section 4.1 | characters of 25, 25 a direction |

Both take the padded numbers of a batch's distinct words (`Alphabet.batch`), so that a word that
occurs ten times is computed once; padding changes neither results nor gradients.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cellwright.cell import Cell
from cellwright.embeddings.errors import EmbeddingError
from cellwright.engine import Recurrent
from cellwright.engine.linear import linear

PADDING, UNKNOWN = 0, 1
"""The numbers of what is behind a word's end, and of characters that are not in the alphabet."""

MOST_CHARACTERS = 100
"""Of a longer word only so many are read, so that one odd word does not fill the memory."""


class CharacterBatch(NamedTuple):
    """The distinct words of a batch as numbers.

    Attributes:
        numbers: (distinct words, longest), padded with `PADDING`.
        lengths: how many of each row are the word's; at least 1.
        rows: for each word of the batch, the row that has it.
    """

    numbers: Tensor
    lengths: Tensor
    rows: Tensor


@dataclass(frozen=True)
class Alphabet:
    """Characters and their numbers, from 2 on.

    >>> Alphabet.of(["cab", "ab"]).characters
    ('a', 'b', 'c')
    """

    characters: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.characters)) != len(self.characters):
            raise EmbeddingError("an alphabet has a character twice")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {character: number for number, character in enumerate(self.characters, 2)}

    @classmethod
    def of(cls, words: Iterable[str]) -> Alphabet:
        """The characters of words, the most frequent first, then as in Unicode."""
        counts: Counter[str] = Counter()
        for word in words:
            counts.update(word)
        return cls(tuple(sorted(counts, key=lambda character: (-counts[character], character))))

    def __len__(self) -> int:
        """How many numbers there are, those of padding and unknown characters among them."""
        return len(self.characters) + 2

    def batch(self, words: Sequence[str]) -> CharacterBatch:
        """The words of a batch, each distinct one once.

        A word without characters is one unknown character.
        """
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(word, len(distinct)) for word in words]
        find = self._numbers.get
        numbers = [
            [find(c, UNKNOWN) for c in word[:MOST_CHARACTERS]] or [UNKNOWN] for word in distinct
        ]
        lengths = [len(row) for row in numbers]
        longest = max(lengths, default=1)
        padded = [row + [PADDING] * (longest - len(row)) for row in numbers]
        return CharacterBatch(
            torch.tensor(padded, dtype=torch.int64).reshape(len(distinct), longest),
            torch.tensor(lengths, dtype=torch.int64),
            torch.tensor(rows, dtype=torch.int64),
        )


class CharacterCNN(nn.Module):
    """Filters over a word's characters; of each filter the largest value over the word's places.

    The word has one zero vector or more at each side, as many as let each filter stand on each of
    its characters (the paper's Figure 1). The paper names no activation, and there is none.

    Args:
        characters: numbers of characters, `len(alphabet)`.
        size: numbers of a character's vector.
        filters: how many, which is the size of a word's vector.
        width: characters that a filter sees; odd.
        dropout: on the characters' vectors (the paper: 0.5).
    """

    def __init__(
        self,
        characters: int,
        size: int = 30,
        filters: int = 30,
        width: int = 3,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if width < 1 or width % 2 == 0:
            raise EmbeddingError(f"the width of a filter has to be odd, not {width}")
        self.size = filters
        self.dropout = dropout
        self.table = _table(characters, size)
        self.filters = nn.Conv1d(size, filters, width, padding=width // 2)

    def forward(self, numbers: Tensor, lengths: Tensor, rows: Tensor | None = None) -> Tensor:
        """A vector for each word.

        Args:
            numbers, lengths, rows: see `CharacterBatch`; without `rows`, one for each row.

        Returns:
            (words, size).
        """
        inside = _inside(numbers, lengths)
        if not len(numbers):
            return self.filters.weight.new_zeros(0, self.size)
        x = F.dropout(self.table(numbers), self.dropout, self.training)
        x = x * inside.unsqueeze(2)  # whatever padding there is, the filters see zeros
        found = self._filtered(x).masked_fill(~inside.unsqueeze(2), -math.inf).amax(1)
        return found if rows is None else _of_rows(found, rows)

    def _filtered(self, x: Tensor) -> Tensor:
        """What each filter says at each place, (words, longest, filters).

        A product of matrices takes as long as a convolution of such small things, and its gradient
        is the same with any number of threads.
        """
        longest, width = x.shape[1], self.filters.kernel_size[0]
        padded = F.pad(x, (0, 0, width // 2, width // 2))
        seen = torch.cat([padded[:, first : first + longest] for first in range(width)], 2)
        weights = self.filters.weight.transpose(1, 2).flatten(1)
        return linear(seen, weights, self.filters.bias)


class CharacterCell(nn.Module):
    """A cell over a word's characters in both directions; its output at the end of each.

    Args:
        cell: any cell; the paper's is the LSTM.
        characters: numbers of characters, `len(alphabet)`.
        size: numbers of a character's vector.
        hidden: numbers of the cell's state, for each direction.
        dropout: on the characters' vectors.
        backend: of the engine.
    """

    def __init__(
        self,
        cell: Cell,
        characters: int,
        size: int = 25,
        hidden: int = 25,
        dropout: float = 0.0,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        self.size = 2 * hidden
        self.dropout = dropout
        self.table = _table(characters, size)
        self.rnn = Recurrent(cell, size, hidden, bidirectional=True, backend=backend)

    def forward(self, numbers: Tensor, lengths: Tensor, rows: Tensor | None = None) -> Tensor:
        """A vector for each word; as `CharacterCNN.forward`."""
        _inside(numbers, lengths)
        if not len(numbers):
            return self.table.weight.new_zeros(0, self.size)
        x = F.dropout(self.table(numbers.t()), self.dropout, self.training)
        output = cast(Tensor, self.rnn(x, lengths=lengths)[0])
        half = self.rnn.hidden_size
        all_rows = torch.arange(len(numbers), device=output.device)
        last = output[lengths.to(output.device) - 1, all_rows, :half]
        found = torch.cat([last, output[0, :, half:]], 1)
        return found if rows is None else _of_rows(found, rows)


def _of_rows(found: Tensor, rows: Tensor) -> Tensor:
    """`found[rows]`, whose gradient is summed in one order; that of torch's indexing is in any."""
    return F.embedding(rows.to(found.device), found)


def _table(characters: int, size: int) -> nn.Embedding:
    """Vectors that start as Ma and Hovy have it: uniform, with variance 1/size."""
    table = nn.Embedding(characters, size, padding_idx=PADDING)
    bound = math.sqrt(3 / size)
    with torch.no_grad():
        table.weight.uniform_(-bound, bound)
        table.weight[PADDING] = 0
    return table


def _inside(numbers: Tensor, lengths: Tensor) -> Tensor:
    """Which places are a word's, (words, longest)."""
    if numbers.dim() != 2 or lengths.shape != numbers.shape[:1]:
        raise EmbeddingError(
            "characters have to be (words, longest) with a length for each word, not "
            f"{tuple(numbers.shape)} with {tuple(lengths.shape)}"
        )
    if len(lengths) and not 1 <= int(lengths.min()) <= int(lengths.max()) <= numbers.shape[1]:
        raise EmbeddingError(f"lengths of words have to be from 1 to {numbers.shape[1]}")
    places = torch.arange(numbers.shape[1], device=numbers.device)
    return places < lengths.to(numbers.device).unsqueeze(1)
