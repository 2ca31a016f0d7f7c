"""How well a tagger does by how often training has the words: are rare ones where it is better?

ESS argues that cells from a search over several steps help rare words. A span counts for the
rarest of its words, so that "never" are the spans with a word that training has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import UserError
from cellwright.data.tagged import Span, TagSet
from cellwright.data.vocabulary import Vocabulary
from cellwright.tasks.frequency import range_label, ranges
from cellwright.tasks.tagging.guesses import Guesses
from cellwright.tasks.tally import Tally

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SpanClass:
    """Spans whose rarest word training has from `least` to `most` times (None: no end), and words
    that it has so often."""

    least: int
    most: int | None
    spans: Tally
    words: int
    words_right: int

    @property
    def label(self) -> str:
        """For people."""
        return range_label(self.least, self.most)


@dataclass(frozen=True)
class Heard:
    """What a model said of some sentences."""

    tags: TagSet
    vocabulary: Vocabulary
    guesses: Guesses

    @property
    def counts(self) -> Numbers:
        """How often training has each word."""
        return self.vocabulary.counts[self.guesses.words]

    def true(self) -> list[Span]:
        """The true spans; places are counted through all sentences."""
        return self.tags.named(self.tags.spans(self.guesses.true, self.guesses.offsets))

    def said(self) -> list[Span]:
        """The spans that the model has said."""
        return self.tags.named(self.tags.spans(self.guesses.said, self.guesses.offsets))


def by_frequency(heard: Heard) -> list[SpanClass]:
    """The spans and words in classes of tenfold frequency in training, rarest first."""
    counts = heard.counts
    right_words = heard.guesses.true == heard.guesses.said
    said, true = heard.said(), heard.true()
    right = sorted({*said} & {*true})
    rarest = [_rarest(spans, counts) for spans in (right, said, true)]
    classes = []
    for least, most in ranges(int(counts.max(initial=0))):
        here = _inside(counts, least, most)
        tally = Tally(*(int(_inside(each, least, most).sum()) for each in rarest))
        words_right = int((here & right_words).sum())
        classes.append(SpanClass(least, most, tally, int(here.sum()), words_right))
    return classes


def check_same(first: Heard, second: Heard) -> None:
    """Say so if two models were not asked about the same words and spans.

    Raises:
        UserError: they were not.
    """
    same = (
        first.vocabulary.tokens == second.vocabulary.tokens
        and np.array_equal(first.guesses.words, second.guesses.words)
        and np.array_equal(first.guesses.offsets, second.guesses.offsets)
        and first.true() == second.true()
    )
    if not same:
        raise UserError(
            "the two taggers were trained on different sentences or tags; only those of the same "
            "data can be compared"
        )


def _inside(numbers: Numbers, least: int, most: int | None) -> NDArray[np.bool_]:
    return (numbers >= least) & (numbers <= (np.inf if most is None else most))


def _rarest(spans: list[Span], counts: Numbers) -> Numbers:
    """The count of the rarest word of each span."""
    if not spans:
        return np.zeros(0, np.int64)
    edges = np.array([span[:2] for span in spans], np.int64).reshape(-1)
    return np.minimum.reduceat(np.append(counts, 0), edges)[::2]
