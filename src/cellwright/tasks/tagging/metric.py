"""The F1 of spans, as conlleval counts them: a span is right if its first word, its last word and
its type are.

Counts add up, so that a model is measured a batch at a time: the F1 of the sum is the one of all
sentences together (micro), which is not the mean of the batches'. What spans tags have, broken
sequences included, `data/tagged/spans.py` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import UserError
from cellwright.data.tagged.schemes import TagSet
from cellwright.data.tagged.spans import Numbers, Spans
from cellwright.tasks.metric import Metric
from cellwright.tasks.tally import NONE, Tally

F1 = Metric(name="F1", form="percent", unit="", items="sentences")

ACCURACY = Metric(name="accuracy", form="percent", unit="", items="sentences")
"""For labels of single words (the scheme `plain`), where F1 is the same."""


@dataclass(frozen=True)
class Counts:
    """What was counted on some sentences. `a + b` is what would be counted on both.

    `unseen` are spans with a word that training has not seen: true and guessed ones alike.

    >>> tags = TagSet("IOB2", ("LOC", "PER"))
    >>> true = tags.encode(["B-PER", "I-PER", "O", "B-LOC"])
    >>> guessed = tags.encode(["B-PER", "I-PER", "O", "B-PER"])
    >>> counts = count(tags, true, guessed, [0, 3, 4])
    >>> counts.total, round(counts.loss, 2), counts.accuracy
    (Tally(right=1, guessed=2, true=2), 0.5, 0.75)
    >>> (counts + counts).by_type["PER"]
    Tally(right=2, guessed=4, true=2)
    """

    by_type: dict[str, Tally]
    unseen: Tally = NONE
    words: int = 0
    words_right: int = 0

    def __add__(self, other: Counts) -> Counts:
        types = {*self.by_type, *other.by_type}
        by_type = {
            type: _sum(self.by_type.get(type, NONE), other.by_type.get(type, NONE))
            for type in sorted(types)
        }
        return Counts(
            by_type,
            _sum(self.unseen, other.unseen),
            self.words + other.words,
            self.words_right + other.words_right,
        )

    @property
    def total(self) -> Tally:
        """Of spans of all types."""
        return _sum(*self.by_type.values())

    @property
    def f1(self) -> float:
        """Micro F1."""
        return self.total.f1

    @property
    def loss(self) -> float:
        """1 − F1, as everything that is compared is lower for the better."""
        return 1 - self.f1

    @property
    def accuracy(self) -> float:
        """The share of words whose tag is right; 0 where there are none."""
        return self.words_right / self.words if self.words else 0.0

    def figures(self) -> dict[str, float]:
        """All shares by name: those that a score keeps beside the loss.

        The F1 of each type is there as `F1 of PER`.
        """
        total = self.total
        return {
            "precision": total.precision,
            "recall": total.recall,
            "accuracy": self.accuracy,
            "F1 of unseen words": self.unseen.f1,
            **{f"F1 of {type or 'spans'}": tally.f1 for type, tally in self.by_type.items()},
        }


NOTHING = Counts({})
"""What was counted before the first batch."""


def count(
    tags: TagSet,
    true: NDArray[np.integer],
    guessed: NDArray[np.integer],
    offsets: NDArray[np.integer] | Sequence[int],
    unseen: NDArray[np.bool_] | None = None,
) -> Counts:
    """Compare tags of some sentences with the true ones.

    Args:
        tags: what the numbers of tags mean.
        true: the true tags of all words, one sentence after another.
        guessed: those of a model.
        offsets: where each sentence starts, and at last the number of words.
        unseen: for each word, whether training has not seen it: `vocabulary.counts[words] == 0`.

    Raises:
        UserError: there are not as many tags of one as of the other.
    """
    starts = np.asarray(offsets, np.int64)
    if not len(true) == len(guessed) == starts[-1]:
        raise UserError(
            f"{len(guessed):,} tags were guessed for {len(true):,} words in sentences of "
            f"{int(starts[-1]):,}; each word has one"
        )
    are, were = tags.spans(true, starts), tags.spans(guessed, starts)
    right = _right(are, were)
    of_unseen = NONE
    if unseen is not None:
        of_unseen = Tally(*(_touching(spans, unseen) for spans in (right, were, are)))
    words_right = int((np.asarray(true) == np.asarray(guessed)).sum())
    return Counts(_by_type(tags, right, were, are), of_unseen, len(true), words_right)


def _sum(*tallies: Tally) -> Tally:
    return Tally(*(sum(column) for column in zip(*tallies, strict=True))) if tallies else NONE


def _right(true: Spans, guessed: Spans) -> Spans:
    """The guessed spans that are true; of each, no two begin with the same word."""
    _, a, b = np.intersect1d(true.start, guessed.start, assume_unique=True, return_indices=True)
    same = (true.end[a] == guessed.end[b]) & (true.type[a] == guessed.type[b])
    return Spans(*(column[a[same]] for column in true))


def _by_type(tags: TagSet, *spans: Spans) -> dict[str, Tally]:
    columns = [np.bincount(each.type, minlength=len(tags.types)).tolist() for each in spans]
    rows = zip(tags.types, *columns, strict=True)
    return {type: Tally(*row) for type, *row in sorted(rows) if any(row)}


def _touching(spans: Spans, unseen: NDArray[np.bool_]) -> int:
    """How many spans have such a word."""
    before: Numbers = np.append(0, np.cumsum(unseen))
    return int((before[spans.end] > before[spans.start]).sum())
