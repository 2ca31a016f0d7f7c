"""The language task: running text, read by many readers side by side, a segment at a time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.base.errors import shown
from cellwright.cell import Cell
from cellwright.data import Corpus, batchify
from cellwright.data.errors import DataError
from cellwright.data.fingerprint import fingerprint
from cellwright.data.word_pairs import WordPairs
from cellwright.engine import WeightBank
from cellwright.models.build import build_language_model
from cellwright.models.cell_model import Theta
from cellwright.models.language_model import LanguageModel, TextBatch
from cellwright.models.settings import ModelSettings, OneLayerSettings
from cellwright.tasks.language.measuring import segment_losses
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.language.segments import Segment, even_segments, training_segments
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.language.similarity import agreement, embedding_vectors
from cellwright.tasks.metric import Metric
from cellwright.tasks.task import PARTS, Part, Score

Tokens = NDArray[np.int32]


class LanguageTask:
    """Predict each next word of running text.

    Args:
        corpus: training, validation and test text.
        settings: how the text is cut.
        pairs: sets of word pairs; how well a model's embeddings agree with people on each of them
            is a figure of the model.
    """

    metric: Metric = PERPLEXITY

    def __init__(
        self,
        corpus: Corpus,
        settings: LanguageSettings | None = None,
        pairs: Sequence[WordPairs] = (),
    ) -> None:
        self.corpus = corpus
        self.settings = LanguageSettings.model_validate({}) if settings is None else settings
        self.pairs = pairs
        self._columns: dict[tuple[str, int], Tokens] = {}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of tokens and vocabulary."""
        return fingerprint(self.corpus)

    def describe(self) -> str:
        """The counts of the corpus."""
        return self.corpus.describe()

    def model(
        self,
        cell: Cell,
        settings: ModelSettings,
        *,
        bank: WeightBank | None = None,
        backend: str = "auto",
    ) -> LanguageModel:
        """One of the papers' language models around a cell."""
        vocabulary = self.corpus.vocabulary
        model = build_language_model(settings, cell, len(vocabulary), backend, bank)
        if isinstance(settings, OneLayerSettings) and settings.bias_start == "frequency":
            with torch.no_grad():
                model.decoder_bias.copy_(torch.from_numpy(vocabulary.log_shares()))
        return model

    def batches(self, part: Part, size: int, seed: int, epoch: int) -> Sequence[TextBatch]:
        """The text from beginning to end, in segments of random lengths."""
        text = self._batched(part, size)
        segments = training_segments(len(text), self.settings, seed, epoch)
        return _Segments(text, segments, self.settings.bptt)

    def ordered(self, part: Part, size: int) -> Sequence[TextBatch]:
        """The text in segments of one length; the last may be shorter."""
        text = self._batched(part, size)
        return _Segments(text, even_segments(len(text), self.settings.bptt), self.settings.bptt)

    def measure(
        self, model: Any, batches: Sequence[TextBatch], *, theta: Theta | None = None
    ) -> Score:
        """Nats a word, each read with all before it; Pearson's correlation on each set of pairs."""
        parts = [part.losses for part in segment_losses(model, batches, theta)]
        return Score(float(np.mean(np.concatenate(parts))), self._agreements(model))

    def _agreements(self, model: LanguageModel) -> dict[str, float]:
        if not self.pairs:
            return {}
        vectors = embedding_vectors("", self.corpus.vocabulary, model)
        found = {pairs.name: agreement(vectors, pairs).pearson for pairs in self.pairs}
        return {name: value for name, value in found.items() if math.isfinite(value)}

    def limited(self, most: Mapping[str, int]) -> LanguageTask:
        """The corpus with no more tokens in its parts than are wanted; the same vocabulary."""
        changes = {}
        for part, tokens in most.items():
            if part not in PARTS:
                raise DataError(f"a corpus has the parts {', '.join(PARTS)}, not {shown(part)}")
            if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
                raise DataError(f"the tokens of {part} must be a whole number, not {shown(tokens)}")
            changes[part] = getattr(self.corpus, part)[:tokens]
        return self._of(dataclasses.replace(self.corpus, **changes))

    def halves(self) -> tuple[LanguageTask, LanguageTask]:
        """The first and the second half of the training text."""
        train = self.corpus.train
        middle = len(train) // 2
        return (
            self._of(dataclasses.replace(self.corpus, train=train[:middle])),
            self._of(dataclasses.replace(self.corpus, train=train[middle:])),
        )

    def _of(self, corpus: Corpus) -> LanguageTask:
        return LanguageTask(corpus, self.settings, self.pairs)

    def _batched(self, part: Part, size: int) -> Tokens:
        """A part as so many columns, made once."""
        key = (part, size)
        if key not in self._columns:
            self._columns[key] = batchify(getattr(self.corpus, part), size)
        return self._columns[key]


def segments_of(tokens: Tokens, size: int, length: int) -> Sequence[TextBatch]:
    """A text as so many columns, in segments of one length."""
    text = batchify(tokens, size)
    return _Segments(text, even_segments(len(text), length), length)


class _Segments(Sequence[TextBatch]):
    """Segments of a batched text; the tensors of each are made when it is asked for."""

    def __init__(self, text: Tokens, segments: Sequence[Segment], full: int) -> None:
        self._text, self._segments, self._full = text, segments, full

    def __len__(self) -> int:
        return len(self._segments)

    @overload
    def __getitem__(self, at: int) -> TextBatch: ...

    @overload
    def __getitem__(self, at: slice) -> _Segments: ...

    def __getitem__(self, at: int | slice) -> TextBatch | _Segments:
        if isinstance(at, slice):
            return _Segments(self._text, self._segments[at], self._full)
        start, length = self._segments[at]
        rows = np.ascontiguousarray(self._text[start : start + length + 1])
        tokens = torch.from_numpy(rows.astype(np.int64))
        return TextBatch(tokens[:-1], tokens[1:], self._full)
