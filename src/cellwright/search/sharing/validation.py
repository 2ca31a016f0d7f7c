"""What cells are worth with the shared weights: their losses on the validation text."""

from __future__ import annotations

import math

import numpy as np

from cellwright.cell.listings import EnasListing
from cellwright.data import Corpus, batchify
from cellwright.search.sharing.children import Children
from cellwright.search.sharing.settings import SharingSettings
from cellwright.tasks.language.measuring import Tokens, text_losses
from cellwright.tasks.language.segments import Segment, even_segments


class Validation:
    """The validation text, whole and as the minibatches that rewards come from.

    A loss that is no finite number is infinite.
    """

    def __init__(self, corpus: Corpus, settings: SharingSettings, children: Children) -> None:
        self._whole = batchify(corpus.valid, settings.evaluation_batch)
        self._cut = batchify(corpus.valid, settings.batch)
        self._children, self._length = children, settings.bptt
        segments = even_segments(len(self._cut), settings.bptt)
        self.minibatches = [s for s in segments if s.length == segments[0].length]
        """All of one length; a shorter rest is left out."""

    @property
    def words(self) -> int:
        """That the whole text predicts."""
        return int(self._whole[1:].size)

    def words_in(self, minibatches: list[Segment]) -> int:
        """That minibatches predict."""
        return sum(segment.length for segment in minibatches) * int(self._cut.shape[1])

    def loss(self, listing: EnasListing) -> float:
        """Nats per word of a cell on the whole text."""
        return self._loss(listing, self._whole)

    def loss_on(self, listing: EnasListing, minibatches: list[Segment]) -> float:
        """Nats per word of a cell on minibatches that follow each other, from a state of zero."""
        first, last = minibatches[0], minibatches[-1]
        return self._loss(listing, self._cut[first.start : last.start + last.length + 1])

    def _loss(self, listing: EnasListing, text: Tokens) -> float:
        mean = float(np.mean(text_losses(self._children.child(listing), text, self._length)))
        return mean if math.isfinite(mean) else math.inf
