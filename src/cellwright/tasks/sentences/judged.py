"""What a model says of the examples of a part, beside what is true, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import UserError
from cellwright.data.labelled import Examples, Labelled
from cellwright.data.vocabulary import UNK
from cellwright.tasks.details import Subject
from cellwright.tasks.sentences.batches import Batches, from_unit
from cellwright.tasks.sentences.task import SentencesTask
from cellwright.tasks.words.batches import item_lengths

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Judged:
    """Examples and what was said of them.

    `true` and `said` are numbers of labels, or scores as the data has them; `sure` is how likely
    the model found the label that it said, and 1 for scores.
    """

    data: Labelled
    part: Examples
    true: Floats
    said: Floats
    sure: Floats

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which labels were found."""
        return np.asarray(self.true == self.said)

    @property
    def errors(self) -> Floats:
        """How much too high each score is."""
        return self.said - self.true

    def texts(self, number: int) -> list[str]:
        """The sentences of an example, with spaces between the words."""
        sentences, _ = self.part[number]
        return [" ".join(self.data.vocabulary.decode(each)) for each in sentences]

    def named(self, values: Floats) -> Iterator[str | float]:
        """Labels as they are written, or scores as they are."""
        labels = self.data.target.labels
        return (labels[int(each)] if labels else float(each) for each in values)

    @property
    def lengths(self) -> Numbers:
        """How many words each example has."""
        return item_lengths(self.part, self.part.per_example)

    @property
    def unseen(self) -> Floats:
        """The share of each example's words that training does not have."""
        vocabulary, offsets = self.data.vocabulary, np.asarray(self.part.offsets)
        new = vocabulary.counts == 0
        if self.data.options.most_words and UNK in vocabulary:
            new[vocabulary[UNK]] = True
        words = self.part.words[offsets[0] : offsets[-1]]
        before = np.append(0, np.cumsum(new[words]))
        ends = offsets[:: self.part.per_example] - offsets[0]
        return np.asarray((before[ends[1:]] - before[ends[:-1]]) / self.lengths)


def judged(subject: Subject) -> Judged:
    """What a model says of all examples of a part."""
    task, batches = subject.task, subject.batches
    assert isinstance(task, SentencesTask)
    assert isinstance(batches, Batches)
    _, found = task.outputs(subject.model, batches)
    outputs = np.empty_like(found)
    outputs[batches.by_length().order] = found
    true = np.asarray(batches.part.targets, np.float64)
    if not task.data.target.labels:
        said = from_unit(task.data.target, outputs)
        return Judged(task.data, batches.part, true, said, np.ones_like(said))
    shares = _softmax(outputs.astype(np.float64))
    said = outputs.argmax(1).astype(np.float64)
    return Judged(task.data, batches.part, true, said, shares.max(1))


def check_same(first: Judged, second: Judged) -> None:
    """Say so if two models were not asked about the same examples.

    Raises:
        UserError: they were not.
    """
    same = first.data.target == second.data.target and np.array_equal(first.true, second.true)
    if same and first.data.options == second.data.options:
        words = [[each.part.words, each.part.offsets] for each in (first, second)]
        same = all(map(np.array_equal, *words))
    if not same:
        raise UserError(
            "the two models were trained on different examples or labels; only those of the same "
            "data can be compared"
        )


def _softmax(outputs: Floats) -> Floats:
    raised = np.exp(outputs - outputs.max(1, keepdims=True))
    return np.asarray(raised / raised.sum(1, keepdims=True))
