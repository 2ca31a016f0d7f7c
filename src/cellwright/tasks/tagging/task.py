"""The tagging task: sentences whose words have tags, measured by the F1 of spans."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from cellwright.base.errors import UserError
from cellwright.base.progress import Progress
from cellwright.base.seeds import seed_for
from cellwright.cell import Cell
from cellwright.data.tagged import Sentences, Tagged
from cellwright.engine import WeightBank
from cellwright.models.cell_model import CellModel, Theta
from cellwright.models.settings import TaggerSettings
from cellwright.models.tagger import TaggedBatch, Tagger
from cellwright.tasks.metric import Metric
from cellwright.tasks.tagging.batches import Batches
from cellwright.tasks.tagging.guesses import guesses
from cellwright.tasks.tagging.legal import legal
from cellwright.tasks.tagging.metric import ACCURACY, F1, NOTHING, count
from cellwright.tasks.tagging.settings import TaggingSettings
from cellwright.tasks.task import PARTS, Part, Score
from cellwright.tasks.words.any_words import any_words
from cellwright.tasks.words.features import Known, Texts
from cellwright.tasks.words.known_words import KnownWords
from cellwright.tasks.words.parts import check_limits
from cellwright.tasks.words.pooling import Memories, remembered


class TaggingTask:
    """Give each word of a sentence its tag.

    Args:
        data: sentences with tags.
        settings: what words become.
        progress: told while features are computed for the first time.
    """

    def __init__(
        self, data: Tagged, settings: TaggingSettings, progress: Progress | None = None
    ) -> None:
        self.data, self.settings = data, settings
        self.words = KnownWords(settings.embeddings, data.vocabulary, data.characters, progress)

    @property
    def pools(self) -> bool:
        """Whether features of a word depend on what it was in the training part."""
        return self.words.pools

    @property
    def metric(self) -> Metric:
        """F1 of spans; accuracy where each word has a label of its own."""
        return ACCURACY if self.data.tags.scheme == "plain" else F1

    @cached_property
    def fingerprint(self) -> str:
        """A hash of words and tags."""
        return self.data.fingerprint

    def describe(self) -> str:
        """The counts of the data."""
        return self.data.describe()

    def model(
        self,
        cell: Cell,
        settings: TaggerSettings,
        *,
        bank: WeightBank | None = None,
        backend: str = "auto",
    ) -> Tagger:
        """A tagger around a cell."""
        embedders = list(self.words.embedders(backend))
        allowed = legal(self.data.tags) if settings.constrained else None
        tags = len(self.data.tags)
        return Tagger(settings, cell, embedders, tags, allowed=allowed, backend=backend, bank=bank)

    def batches(self, part: Part, size: int, seed: int, epoch: int) -> Batches:
        """The sentences in an order that is drawn anew for each epoch; what is pooled begins with
        nothing."""
        sentences = self._sentences(part)
        order = np.random.default_rng(seed_for(seed, "sentences", epoch)).permutation(
            len(sentences)
        )
        return Batches(sentences, self._known(part), order, size, self.words.spellings)

    def ordered(self, part: Part, size: int) -> Batches:
        """The sentences one after the other; what is pooled begins with the training part."""
        sentences = self._sentences(part)
        order = np.arange(len(sentences))
        known, before = self._known(part), self._remembered
        return Batches(sentences, known, order, size, self.words.spellings, before)

    def batch_of(self, sentences: Texts, progress: Progress | None = None) -> TaggedBatch:
        """Any sentences as the model reads them, whether or not the data has their words."""
        words, before = self.words, self._training_memories if self.pools else {}
        read = any_words(
            sentences, self.data.vocabulary, words.sources, words.spellings, before, progress
        )
        none = torch.zeros_like(read.words)
        return TaggedBatch(read.words, read.lengths, read.features, read.characters, tags=none)

    @torch.no_grad()
    def measure(
        self,
        model: CellModel[TaggedBatch],
        batches: Sequence[TaggedBatch],
        *,
        theta: Theta | None = None,
    ) -> Score:
        """1 − F1, with precision, recall and more as figures."""
        assert isinstance(model, Tagger)
        seen, counts = self.data.vocabulary.counts > 0, NOTHING
        shorter_last = batches.by_length() if isinstance(batches, Batches) else batches
        for words, true, said, offsets in guesses(model, shorter_last, theta):
            counts += count(self.data.tags, true, said, offsets, ~seen[words])
        return Score(counts.loss, counts.figures())

    def limited(self, most: Mapping[str, int]) -> TaggingTask:
        """The data with no more sentences in its parts than are wanted."""
        check_limits(most, "sentences")
        changes = {part: _some(getattr(self.data, part), 0, many) for part, many in most.items()}
        return self._with(changes)

    def halves(self) -> tuple[TaggingTask, TaggingTask]:
        """The first and the second half of the training sentences."""
        train = self.data.train
        middle = len(train) // 2
        first, second = _some(train, 0, middle), _some(train, middle, len(train))
        return self._with({"train": first}), self._with({"train": second})

    # -- parts of it -----------------------------------------------------------------------

    def _with(self, changes: Mapping[str, Any]) -> TaggingTask:
        for part in changes:
            self._known(part)  # of the whole part, so that places in it are the same for all
        other = copy.copy(self)
        other.data = dataclasses.replace(self.data, **changes)
        for name in ("fingerprint", "_training_memories"):
            other.__dict__.pop(name, None)
        return other

    def _sentences(self, part: str) -> Sentences:
        sentences: Sentences = getattr(self.data, part)
        if not len(sentences):
            raise UserError(f"{part} has no sentences")
        return sentences

    def _known(self, part: str) -> list[Known]:
        whole = self._sentences(part)
        return self.words.features(part, whole, (getattr(self.data, each) for each in PARTS))

    @cached_property
    def _training_memories(self) -> Memories:
        """What words were in the training part; nothing where it is not at hand."""
        train = self.data.train
        return remembered(train, self._known("train")) if len(train) else {}

    def _remembered(self) -> Memories:
        return self._training_memories


def _some(sentences: Sentences, first: int, end: int) -> Sentences:
    """Sentences of a part; words and tags stay where they are."""
    return dataclasses.replace(sentences, offsets=sentences.offsets[first : end + 1])
