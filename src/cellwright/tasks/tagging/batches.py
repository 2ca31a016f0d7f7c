"""Tagged sentences side by side."""

from __future__ import annotations

import torch

from cellwright.data.tagged import Sentences
from cellwright.models.tagger import TaggedBatch
from cellwright.models.words import WordBatch
from cellwright.tasks.words.batches import Numbers, WordBatches
from cellwright.tasks.words.side_by_side import Layout


class Batches(WordBatches[Sentences, TaggedBatch]):
    """The sentences of a part in some order, so many at a time."""

    def made(self, items: Numbers, layout: Layout, read: WordBatch) -> TaggedBatch:
        """A batch with its tags."""
        tags = torch.from_numpy(layout.padded(self.part.tags[layout.at]))
        return TaggedBatch(read.words, read.lengths, read.features, read.characters, tags=tags)
