"""The task on sentences: one or two of them, with a label or a score."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.base.errors import UserError
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
from cellwright.tasks.task import PARTS, Part, Score
from cellwright.tasks.words.any_words import any_words
from cellwright.tasks.words.batches import item_lengths
from cellwright.tasks.words.features import Known
from cellwright.tasks.words.known_words import KnownWords
from cellwright.tasks.words.parts import check_limits
from cellwright.tasks.words.pooling import Memories, remembered

Outputs = NDArray[np.float32]


class SentencesTask:
    """Give a sentence, or two of them, a label or a score.

    Args:
        data: sentences with labels or scores.
        settings: what words become, and what is measured.
        progress: told while features are computed for the first time.
    """

    def __init__(
        self, data: Labelled, settings: SentencesSettings, progress: Progress | None = None
    ) -> None:
        self.data, self.settings = data, settings
        self.words = KnownWords(
            settings.embeddings,
            data.vocabulary,
            data.characters,
            progress,
            per_example=data.per_example,
            pieces_of=settings.encoder or None,
        )
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

    @cached_property
    def fingerprint(self) -> str:
        """A hash of words and targets."""
        return self.data.fingerprint

    def describe(self) -> str:
        """The counts of the data."""
        return self.data.describe()

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
        lengths = item_lengths(self._examples(part), self.data.per_example)
        return self._batches(part, bucketed(lengths, size, self.settings.buckets, rng), size, dict)

    def ordered(self, part: Part, size: int) -> Batches:
        """The examples one after the other; what is pooled begins with the training part."""
        order = np.arange(len(self._examples(part)))
        return self._batches(part, order, size, lambda: self._training_memories)

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
            self._training_memories if words.pools else {},
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

    def limited(self, most: Mapping[str, int]) -> SentencesTask:
        """The data with no more examples in its parts than are wanted."""
        check_limits(most, "examples")
        return self._with(
            {part: getattr(self.data, part).some(0, many) for part, many in most.items()}
        )

    def halves(self) -> tuple[SentencesTask, SentencesTask]:
        """The first and the second half of the training examples."""
        train = self.data.train
        middle = len(train) // 2
        if not middle:
            raise UserError("train has too few examples for two halves")
        first, second = train.some(0, middle), train.some(middle, len(train))
        return self._with({"train": first}), self._with({"train": second})

    # -- parts of it -----------------------------------------------------------------------

    def _with(self, changes: Mapping[str, Any]) -> SentencesTask:
        for part in changes:
            self._known(part)  # of the whole part, so that places in it are the same for all
        other = copy.copy(self)
        other.data = dataclasses.replace(self.data, **changes)
        for name in ("fingerprint", "_training_memories"):
            other.__dict__.pop(name, None)
        return other

    def _batches(self, part: str, order: NDArray[np.int64], size: int, before: Any) -> Batches:
        return Batches(
            self._examples(part),
            self._known(part),
            order,
            size,
            self.words.spellings,
            before,
            self.data.per_example,
            target=self.data.target,
        )

    def _examples(self, part: str) -> Examples:
        examples: Examples = getattr(self.data, part)
        if not len(examples):
            raise UserError(f"{part} has no examples")
        return examples

    def _known(self, part: str) -> list[Known]:
        whole = self._examples(part)
        return self.words.features(part, whole, (getattr(self.data, each) for each in PARTS))

    @cached_property
    def _training_memories(self) -> Memories:
        """What words were in the training part; nothing where it is not at hand."""
        train = self.data.train
        return remembered(train, self._known("train")) if len(train) else {}
