"""Labels and scores for sentences that are in no data: what a trained model is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.base.errors import UserError, shown
from cellwright.base.progress import Progress
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.tasks.sentences.batches import from_unit
from cellwright.tasks.sentences.task import SentencesTask
from cellwright.tasks.words.together import MOST_WORDS, WINDOW, batched, looked_at, windows

Example = Sequence[str] | str
"""A sentence, or the sentences of a pair."""


@dataclass(frozen=True)
class Prediction:
    """What a model says of an example: a label and how likely each one is, or a score.

    Of a sentence the first 4,000 words were looked at.
    """

    sentences: tuple[str, ...]
    label: str | None
    score: float | None
    probabilities: dict[str, float]

    def __str__(self) -> str:
        return f"{self.score:.3f}" if self.label is None else self.label


class Predictor:
    """A trained model and what it needs to read any sentences.

    Args:
        task: that the model has learned; its data need not be there.
        model: with the weights.
        progress: called while vectors are read for the first time.
    """

    def __init__(
        self, task: SentencesTask, model: SentenceModel, progress: Progress | None = None
    ) -> None:
        self.task, self.model, self._progress = task, model.eval(), progress

    def predict(
        self, examples: Iterable[Example], *, window: int | None = None
    ) -> Iterator[Prediction]:
        """Labels or scores of examples as they come, in their order.

        Args:
            examples: each a sentence, or the sentences of a pair.
            window: examples that are read before the first is told; some thousands unless said.

        Raises:
            UserError: something is no example.
        """
        texts = (self._texts(example) for example in examples)
        for some in windows(texts, _length, window or WINDOW):
            yield from self._predicted(some)

    def _texts(self, example: Example) -> tuple[str, ...]:
        per_example = self.task.data.per_example
        texts = (example,) if isinstance(example, str) else example
        if (
            not isinstance(texts, Sequence)
            or len(texts) != per_example
            or not all(isinstance(text, str) for text in texts)
        ):
            wanted = "a sentence" if per_example == 1 else "a pair of sentences"
            raise UserError(f"an example is {wanted}, not {shown(example)}")
        return tuple(texts)

    def _predicted(self, some: Sequence[tuple[str, ...]]) -> Iterator[Prediction]:
        read = self.task.words_of([text for texts in some for text in texts])
        each = len(read) // len(some)
        examples = [
            [looked_at(words[:MOST_WORDS]) for words in read[at : at + each]]
            for at in range(0, len(read), each)
        ]
        found: dict[int, Prediction] = {}
        lengths = [max(map(len, example)) for example in examples]
        for numbers in batched(lengths):
            outputs = self._outputs([examples[number] for number in numbers])
            for number, row in zip(numbers, outputs, strict=True):
                found[number] = self._prediction(some[number], row)
        return (found[number] for number in range(len(some)))

    @torch.no_grad()
    def _outputs(self, examples: Sequence[Sequence[Sequence[str]]]) -> NDArray[np.float32]:
        """The probabilities of labels, or scores, of a batch."""
        outputs = self.model.outputs(self.task.batch_of(examples, self._progress))
        return (outputs.softmax(-1) if self.task.data.target.labels else outputs).numpy()

    def _prediction(self, texts: tuple[str, ...], row: NDArray[np.float32]) -> Prediction:
        target = self.task.data.target
        if not target.labels:
            return Prediction(texts, None, float(from_unit(target, row)), {})
        shares = dict(zip(target.labels, row.tolist(), strict=True))
        return Prediction(texts, target.labels[int(row.argmax())], None, shares)


def _length(texts: tuple[str, ...]) -> int:
    """About how many words; few are shorter than five characters with the space."""
    return sum(map(len, texts)) // 5 + 1
