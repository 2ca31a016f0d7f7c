"""Tags for sentences that are in no data: what a trained tagger is for.

Words that the run's data does not have get features as all others do: their own vectors, their own
spelling, their own states. Only in a learned table do they share the vector of rare words.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from cellwright.base.errors import UserError, shown
from cellwright.base.progress import Progress
from cellwright.data.tagged import Span
from cellwright.data.tagged.words_of_text import words_of
from cellwright.models.tagger import Tagger
from cellwright.tasks.tagging.task import TaggingTask
from cellwright.tasks.words.together import MOST_WORDS, WINDOW, batched, looked_at, windows

Words = tuple[str, ...]


@dataclass(frozen=True)
class TaggedSentence:
    """A sentence, its tags, and what they mark.

    `probabilities` has, for each word, how likely its tag is, whatever those of the others are;
    None if it was not asked for.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    spans: tuple[Span, ...]
    probabilities: tuple[float, ...] | None = None

    def text(self, span: Span) -> str:
        """The words of a span."""
        return " ".join(self.words[span.start : span.end])

    def __str__(self) -> str:
        ends = {span.end: span for span in self.spans}
        starts = {span.start for span in self.spans}
        parts = []
        for place, word in enumerate(self.words):
            behind = ends.get(place + 1)
            mark = "" if behind is None else f"]{behind.type}"
            parts.append(f"{'[' if place in starts else ''}{word}{mark}")
        return " ".join(parts)


class SentenceTagger:
    """A trained model and what it needs to read any words.

    Args:
        task: that the model has learned; its data need not be there.
        model: with the weights.
        progress: called while vectors are read for the first time.
    """

    def __init__(self, task: TaggingTask, model: Tagger, progress: Progress | None = None) -> None:
        self.task, self.model, self._progress = task, model.eval(), progress

    def tag(
        self,
        sentences: Iterable[Sequence[str] | str],
        *,
        probabilities: bool = False,
        window: int | None = None,
    ) -> Iterator[TaggedSentence]:
        """Tag sentences as they come, in their order.

        Args:
            sentences: each a list of words, or a text, which is split into words.
            probabilities: whether to say how likely each tag is.
            window: sentences that are read before the first is tagged; some thousands unless said.

        Raises:
            UserError: something is no sentence.
        """
        for some in windows(map(_as_words, sentences), len, window or WINDOW):
            yield from self._tagged(some, probabilities)

    def _tagged(self, sentences: list[Words], likely: bool) -> Iterator[TaggedSentence]:
        pieces = [
            words[at : at + MOST_WORDS]
            for words in sentences
            for at in range(0, len(words), MOST_WORDS)
        ]
        found: dict[int, _Found] = {}
        for numbers in batched([len(piece) for piece in pieces]):
            found.update(zip(numbers, self._run([pieces[n] for n in numbers], likely), strict=True))
        in_order = (found[number] for number in range(len(pieces)))
        for words in sentences:
            own = list(itertools.islice(in_order, -(-len(words) // MOST_WORDS)))
            tags = [tag for piece in own for tag in piece.tags]
            shares = tuple(share for piece in own for share in piece.shares)
            yield self._sentence(words, tags, shares if likely else None)

    @torch.no_grad()
    def _run(self, sentences: Sequence[Words], likely: bool) -> list[_Found]:
        """The tags of a batch, and if wanted how likely each is."""
        batch = self.task.batch_of([looked_at(words) for words in sentences], self._progress)
        scores = self.model.scores(batch)
        tags = self.model.best(scores, batch.lengths)
        if not likely:
            return [_Found(own, []) for own in tags]
        all_shares = self.model.probabilities(scores, batch.lengths)
        return [
            _Found(own, shares[torch.arange(len(own)), torch.tensor(own)].tolist())
            for own, shares in zip(tags, all_shares, strict=True)
        ]

    def _sentence(
        self, words: Words, tags: list[int], likely: tuple[float, ...] | None
    ) -> TaggedSentence:
        known = self.task.data.tags
        spans = known.spans(np.array(tags, np.int64), np.array([0, len(tags)]))
        return TaggedSentence(words, tuple(known.decode(tags)), tuple(known.named(spans)), likely)


class _Found(NamedTuple):
    """The numbers of the tags of a sentence, or of a piece of one, and how likely they are."""

    tags: list[int]
    shares: list[float]


def _as_words(sentence: Sequence[str] | str) -> Words:
    if isinstance(sentence, str):
        return tuple(words_of(sentence))
    if not isinstance(sentence, Sequence) or not all(isinstance(word, str) for word in sentence):
        raise UserError(f"a sentence is a text or a list of words, not {shown(sentence)}")
    return tuple(sentence)
