"""What cells are worth with the shared weights: their losses on the validation data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cellwright.models.cell_model import AnyBatch
from cellwright.search.sharing.children import Children
from cellwright.search.sharing.listings import Listing
from cellwright.search.sharing.settings import SharingSettings
from cellwright.tasks.task import Task, whole_batches


class Validation:
    """The validation data, whole and as the minibatches that rewards come from.

    A loss that is no finite number is infinite.
    """

    def __init__(self, task: Task[Any], settings: SharingSettings, children: Children) -> None:
        self._task, self._children = task, children
        self._whole = task.ordered("valid", settings.evaluation_batch)
        self.minibatches = whole_batches(task.ordered("valid", settings.batch))
        """Without a rest that is smaller than the first."""
        self.size = sum(batch.size for batch in self._whole)
        """Items of the whole data."""

    def loss(self, listing: Listing) -> float:
        """Of a cell on the whole data."""
        return self.loss_on(listing, self._whole)

    def loss_on(self, listing: Listing, batches: Sequence[AnyBatch]) -> float:
        """Of a cell on batches that follow each other, from a state of zero."""
        mean = self._task.measure(self._children.child(listing), batches).loss
        return mean if math.isfinite(mean) else math.inf
