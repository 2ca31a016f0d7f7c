"""Encoders of the package transformers, frozen: hidden layers for each word in its sentence.

Words are cut into pieces by the encoder's own tokenizer, or are such pieces already. What stands
for a word is its first piece, or the mean of its pieces; a word without pieces has zeros. Two
sentences that belong together can be read together, so that each knows of the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cellwright.base.progress import Progress
from cellwright.embeddings import encoder_files
from cellwright.embeddings.encoder_pairs import pairs
from cellwright.embeddings.encoder_pieces import frame_of, pieces_of_words, words_as_pieces
from cellwright.embeddings.encoder_windows import Window, longest_window, windows
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.kept_features import Features, Sentences, put
from cellwright.embeddings.settings import TransformerSettings

PIECES = 2048
"""Pieces that are run together, padding among them: all layers of them are in memory at once."""


class Encoder:
    """Hidden layers of an encoder.

    Args:
        settings: which encoder, and what of it.
        per_example: how many sentences belong together. Of two, `sentences` has the first, the
            second, the first of the next pair, and so on.
        pieces_of: the encoder whose pieces the words are already, if they are.

    Attributes:
        layers: the numbers of the layers; 0 is what enters the first.
        size: numbers of a word in each layer.
        together: whether two sentences are read at once.

    Raises:
        MissingPackageError: transformers is not installed.
        EmbeddingError: the encoder is not here, or cannot be read; it has no such layer;
            words are pieces of an encoder that has others.
    """

    def __init__(
        self, settings: TransformerSettings, per_example: int = 1, pieces_of: str | None = None
    ) -> None:
        encoder_files.transformers()
        self.settings = settings
        self.folder = encoder_files.find_encoder(settings.model)
        self._config = encoder_files.read_config(self.folder)
        self.size = int(self._config.hidden_size)
        self.layers = self._chosen_layers()
        self.together = per_example == 2 and settings.pairs == "together"
        self._own_pieces = pieces_of is not None
        if pieces_of is not None:
            encoder_files.check_same_pieces(self.folder, pieces_of)

    def _chosen_layers(self) -> tuple[int, ...]:
        last, wanted = int(self._config.num_hidden_layers), self.settings.layers
        if isinstance(wanted, str):
            return (last,) if wanted == "last" else tuple(range(last + 1))
        chosen = tuple(number + last + 1 if number < 0 else number for number in wanted)
        for number, said in zip(chosen, wanted, strict=True):
            if not 0 <= number <= last:
                raise EmbeddingError(f"{self.folder} has layers from 0 to {last}, and no {said}")
        if len(set(chosen)) < len(chosen):
            raise EmbeddingError(f"layers of {self.folder} should be given once each: {wanted}")
        return chosen

    @property
    def width(self) -> int:
        """Numbers of a word in all layers together."""
        return len(self.layers) * self.size

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the encoder's files."""
        return encoder_files.fingerprint(self.folder)

    @cached_property
    def _read(self) -> tuple[Any, Any]:
        """Tokenizer and weights, which are read when something is computed for the first time."""
        tokenizer = encoder_files.read_tokenizer(self.folder)
        return tokenizer, encoder_files.read_weights(self.folder)

    def features(self, sentences: Sentences) -> Features:
        """What the encoder has for all words, (words, layers · size), layer after layer."""

        def compute(out: Tensor, progress: Progress | None) -> None:
            self.states(sentences, out, progress)

        if self.together and len(sentences) % 2:
            raise EmbeddingError(f"{len(sentences):,} sentences are no pairs: one is left over")
        chosen = f"layers {self.layers} pieces {self.settings.pieces}"
        about = ["encoder states 1", self.fingerprint, chosen]
        about += [f"pairs of {self.settings.longest} 1"] if self.together else []
        about += ["words are pieces 1"] if self._own_pieces else []
        return Features("transformers", about, sentences, self.width, compute, self.settings.half)

    @torch.no_grad()
    def states(self, sentences: Sentences, out: Tensor, progress: Progress | None = None) -> None:
        """Compute the layers of all words into `out`, which is (words, layers · size) of zeros."""
        tokenizer, model = self._read
        padding = tokenizer.pad_token_id or 0
        cut = sorted(self._windows(sentences, tokenizer), key=lambda one: -len(one.pieces))
        total, done = sum(len(one.pieces) for one in cut), 0
        while cut:
            count = max(1, PIECES // len(cut[0].pieces))
            batch, cut = cut[:count], cut[count:]
            hidden = self._run(model, batch, padding)
            for number, window in enumerate(batch):
                put(out, *self._of_words(hidden[number], window))
            done += sum(len(one.pieces) for one in batch)
            if progress is not None:
                progress("reading sentences by transformers", done, total)

    def _windows(self, sentences: Sentences, tokenizer: Any) -> Iterator[Window]:
        """All that is read, in pieces."""
        longest = longest_window(tokenizer, self._config)
        if self.together and self.settings.longest:
            longest = min(longest, self.settings.longest)
        least = frame_of(tokenizer, 2 if self.together else 1).size + 2
        if longest < least:
            raise EmbeddingError(
                f"{self.folder} reads {longest} pieces at once; too few: it needs {least}"
            )
        cut = words_as_pieces if self._own_pieces else pieces_of_words
        return (pairs if self.together else windows)(sentences, tokenizer, longest, cut)

    def _run(self, model: Any, batch: Sequence[Window], padding: int) -> Tensor:
        """The layers of all pieces, (windows, pieces, layers · size)."""
        longest = len(batch[0].pieces)
        numbers = torch.full((len(batch), longest), padding, dtype=torch.int64)
        mask, types = torch.zeros_like(numbers), torch.zeros_like(numbers)
        for row, window in enumerate(batch):
            numbers[row, : len(window.pieces)] = torch.from_numpy(window.pieces)
            mask[row, : len(window.pieces)] = 1
            if window.types is not None:
                types[row, : len(window.pieces)] = torch.from_numpy(window.types)
        others = {"token_type_ids": types} if self.together and self._has_types(model) else {}
        said = model(input_ids=numbers, attention_mask=mask, output_hidden_states=True, **others)
        return torch.cat([said.hidden_states[layer] for layer in self.layers], -1)

    def _has_types(self, model: Any) -> bool:
        """Whether the encoder tells sentences apart by the types of their pieces."""
        many = getattr(self._config, "type_vocab_size", None) or 0
        return many > 1 and "token_type_ids" in inspect.signature(model.forward).parameters

    def _of_words(self, hidden: Tensor, window: Window) -> tuple[Tensor, Tensor]:
        """The words of a window, and what stands for each."""
        words, first, counts = np.unique(window.words, return_index=True, return_counts=True)
        pieces = hidden[torch.from_numpy(window.places)]
        if self.settings.pieces == "first":
            return torch.from_numpy(words), pieces[torch.from_numpy(first)]
        owners = torch.from_numpy(np.repeat(np.arange(len(words)), counts))
        sums = pieces.new_zeros(len(words), pieces.shape[1]).index_add_(0, owners, pieces)
        return torch.from_numpy(words), sums / torch.from_numpy(counts).unsqueeze(1)
