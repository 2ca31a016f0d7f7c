"""The tagging task: sentences whose words have tags, measured by the F1 of spans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

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
from cellwright.tasks.task import Part, Score
from cellwright.tasks.words.any_words import any_words
from cellwright.tasks.words.features import Texts
from cellwright.tasks.words.known_words import KnownWords
from cellwright.tasks.words.task import WordsTask


class TaggingTask(WordsTask[Tagged, Sentences]):
    """Give each word of a sentence its tag.

    Args:
        data: sentences with tags.
        settings: what words become.
        progress: told while features are computed for the first time.
    """

    items = "sentences"

    def __init__(
        self, data: Tagged, settings: TaggingSettings, progress: Progress | None = None
    ) -> None:
        words = KnownWords(settings.embeddings, data.vocabulary, data.characters, progress)
        super().__init__(data, words)
        self.settings = settings

    @property
    def pools(self) -> bool:
        """Whether features of a word depend on what it was in the training part."""
        return self.words.pools

    @property
    def metric(self) -> Metric:
        """F1 of spans; accuracy where each word has a label of its own."""
        return ACCURACY if self.data.tags.scheme == "plain" else F1

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
        sentences = self.part(part)
        order = np.random.default_rng(seed_for(seed, "sentences", epoch)).permutation(
            len(sentences)
        )
        return Batches(sentences, self.known(part), order, size, self.words.spellings)

    def ordered(self, part: Part, size: int) -> Batches:
        """The sentences one after the other; what is pooled begins with the training part."""
        sentences = self.part(part)
        order = np.arange(len(sentences))
        spellings = self.words.spellings
        return Batches(
            sentences, self.known(part), order, size, spellings, lambda: self.training_memories
        )

    def batch_of(self, sentences: Texts, progress: Progress | None = None) -> TaggedBatch:
        """Any sentences as the model reads them, whether or not the data has their words."""
        words, before = self.words, self.training_memories if self.pools else {}
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
