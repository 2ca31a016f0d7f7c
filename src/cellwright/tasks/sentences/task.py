"""The task on sentences: one or two of them, with a label or a score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.base.progress import Progress
from cellwright.base.seeds import seed_for
from cellwright.cell import Cell
from cellwright.data.labelled import Examples, Labelled, Tokenizer
from cellwright.data.vocabulary import UNK
from cellwright.engine import WeightBank
from cellwright.models.cell_model import CellModel, Theta
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.build import build_sentence_model
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.models.sentences.settings import SentenceSettings
from cellwright.tasks.metric import Metric
from cellwright.tasks.sentences.batches import Batches, bucketed
from cellwright.tasks.sentences.metrics import (
    METRICS,
    MetricKind,
    check_kind,
    main_metric,
    measure,
)
from cellwright.tasks.sentences.settings import SentencesSettings
from cellwright.tasks.task import Part, Score
from cellwright.tasks.words.any_words import any_words
from cellwright.tasks.words.batches import item_lengths
from cellwright.tasks.words.known_words import KnownWords
from cellwright.tasks.words.task import WordsTask

Outputs = NDArray[np.float32]


class SentencesTask(WordsTask[Labelled, Examples]):
    """Give a sentence, or two of them, a label or a score.

    Args:
        data: sentences with labels or scores.
        settings: what words become, and what is measured.
        progress: told while features are computed for the first time.
    """

    items = "examples"

    def __init__(
        self, data: Labelled, settings: SentencesSettings, progress: Progress | None = None
    ) -> None:
        words = KnownWords(
            settings.embeddings,
            data.vocabulary,
            data.characters,
            progress,
            per_example=data.per_example,
            pieces_of=settings.encoder or None,
        )
        super().__init__(data, words)
        self.settings = settings
        labels = len(data.target.labels)
        self.measured: MetricKind = main_metric(data.name, labels)
        if settings.metric != "auto":
            check_kind(settings.metric, labels)
            self.measured = settings.metric

    @property
    def metric(self) -> Metric:
        """What papers report of the data, unless the settings say another one."""
        return METRICS[self.measured]

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self.data.tokenizer

    def model(
        self,
        cell: Cell,
        settings: SentenceSettings,
        *,
        bank: WeightBank | None = None,
        backend: str = "auto",
    ) -> SentenceModel:
        """A model around a cell."""
        return build_sentence_model(
            settings,
            cell,
            list(self.words.embedders(backend)),
            len(self.data.target.labels),
            self.data.per_example,
            backend=backend,
            bank=bank,
        )

    def batches(self, part: Part, size: int, seed: int, epoch: int) -> Batches:
        """The examples in an order that is drawn anew for each epoch; those of a batch are of like
        lengths."""
        rng = np.random.default_rng(seed_for(seed, "examples", epoch))
        lengths = item_lengths(self.part(part), self.data.per_example)
        return self._batches(part, bucketed(lengths, size, self.settings.buckets, rng), size, dict)

    def ordered(self, part: Part, size: int) -> Batches:
        """The examples one after the other; what is pooled begins with the training part."""
        order = np.arange(len(self.part(part)))
        return self._batches(part, order, size, lambda: self.training_memories)

    def batch_of(
        self, examples: Sequence[Sequence[Sequence[str]]], progress: Progress | None = None
    ) -> SentenceBatch:
        """Any examples as the model reads them: each the words of its sentences."""
        words, per_example = self.words, self.data.per_example
        read = any_words(
            [sentence for example in examples for sentence in example],
            self.data.vocabulary,
            words.sources,
            words.spellings,
            self.training_memories if words.pools else {},
            progress,
            per_example=per_example,
        )
        return SentenceBatch(read, per_example, torch.zeros(len(examples)))

    def words_of(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of any sentences, as those of the data became words."""
        read, known = self._tokenizer.limited(texts), self.data.vocabulary
        if not self.data.options.most_words:
            return read
        return [[word if word in known else UNK for word in words] for words in read]

    @torch.no_grad()
    def measure(
        self,
        model: CellModel[SentenceBatch],
        batches: Sequence[SentenceBatch],
        *,
        theta: Theta | None = None,
    ) -> Score:
        """1 − the metric on all examples together, with others as figures."""
        targets, outputs = self.outputs(model, batches, theta=theta)
        return Score(*measure(self.measured, targets, outputs))

    @torch.no_grad()
    def outputs(
        self,
        model: CellModel[SentenceBatch],
        batches: Sequence[SentenceBatch],
        *,
        theta: Theta | None = None,
    ) -> tuple[Outputs, Outputs]:
        """The targets of all examples, and what a model has for each; in any order."""
        assert isinstance(model, SentenceModel)
        model.eval()
        some = batches.by_length() if isinstance(batches, Batches) else batches
        pairs = [(batch.targets, model.outputs(batch, theta)) for batch in some]
        targets, outputs = (torch.cat(column).numpy() for column in zip(*pairs, strict=True))
        return targets, outputs

    def _batches(self, part: str, order: NDArray[np.int64], size: int, before: Any) -> Batches:
        return Batches(
            self.part(part),
            self.known(part),
            order,
            size,
            self.words.spellings,
            before,
            self.data.per_example,
            target=self.data.target,
        )
