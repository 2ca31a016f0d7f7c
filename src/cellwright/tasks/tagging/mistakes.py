"""What a tagger gets wrong: which spans it missed, invented, gave another type or other borders.

Each span that is not right is paired with at most one of the other side that shares a word with it:
first those of the same borders, then of the same type, then any; of several, the pair that shares
most words. So every true span is right, mistaken or missed, and every one that was said is right,
mistaken or invented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellwright.data.tagged import Span, TagSet
from cellwright.data.vocabulary import Vocabulary
from cellwright.tasks.tagging.guesses import Guesses
from cellwright.tasks.tagging.metric import Counts, count
from cellwright.tasks.tally import Tally

RIGHT = "right"
KINDS = ("missed", "invented", "mistyped", "wrong borders", "borders and type")
"""What can be wrong with a span."""

OUTSIDE = "O"


class Mistake(NamedTuple):
    """A span that is not right: what is wrong, in which sentence, what is true, what was said."""

    kind: str
    sentence: int
    true: Span | None
    said: Span | None

    @property
    def type(self) -> str:
        """The type that it is counted for: the true one, if it has one."""
        span = self.true or self.said
        assert span is not None
        return span.type


@dataclass(frozen=True)
class Mistakes:
    """All that a model gets wrong in some sentences.

    Attributes:
        guesses: what is true, and what was said.
        tags: what the numbers of tags mean.
        vocabulary: the words, with their counts in training.
        found: every span that is not right, in the order of the sentences.
        counts: of spans.
        unseen: those of spans with a word that training has not seen, by type.
        confusion: how many words of each true type (rows) were said to be of each (columns); the
            last row and column are words outside of all spans, unless each word has a label.
    """

    guesses: Guesses
    tags: TagSet
    vocabulary: Vocabulary
    found: Sequence[Mistake]
    counts: Counts
    unseen: dict[str, Tally]
    confusion: NDArray[np.int64]

    @property
    def types(self) -> tuple[str, ...]:
        """Of rows and columns of the confusion."""
        plain = self.tags.scheme == "plain"
        return self.tags.types if plain else (*self.tags.types, OUTSIDE)

    def by_type(self) -> dict[str, Counter[str]]:
        """For each type how many spans are right, and how many are wrong in each way; what was
        invented is counted for the type that was said, all else for the true one."""
        found = {type: Counter({RIGHT: t.right}) for type, t in self.counts.by_type.items()}
        for mistake in self.found:
            found[mistake.type][mistake.kind] += 1
        return found

    def words(self, sentence: int) -> list[str]:
        """The words of a sentence."""
        start, end = self.guesses.offsets[sentence : sentence + 2].tolist()
        return self.vocabulary.decode(self.guesses.words[start:end].tolist())


def mistakes(tags: TagSet, vocabulary: Vocabulary, guesses: Guesses) -> Mistakes:
    """Look at what a model has said."""
    words, true, said, offsets = guesses
    unseen = vocabulary.counts[words] == 0
    return Mistakes(
        guesses,
        tags,
        vocabulary,
        list(_mistakes(tags, guesses)),
        count(tags, true, said, offsets, unseen),
        _of_unseen(tags, guesses, unseen),
        _confusion(tags, true, said),
    )


def paired(true: Sequence[Span], said: Sequence[Span]) -> list[tuple[Span | None, Span | None]]:
    """The spans of a sentence that are not right, in pairs where they share a word, in order.

    >>> for pair in paired([Span(0, 2, "PER"), Span(3, 4, "LOC")], [Span(1, 2, "LOC")]):
    ...     print(pair)
    (Span(start=0, end=2, type='PER'), Span(start=1, end=2, type='LOC'))
    (Span(start=3, end=4, type='LOC'), None)
    """
    right = {*true} & {*said}
    missing, wrong = ([span for span in spans if span not in right] for spans in (true, said))
    pairs: list[tuple[Span | None, Span | None]] = []
    for one, other in sorted(_sharing(missing, wrong), key=lambda pair: _rank(*pair)):
        if one in missing and other in wrong:
            missing.remove(one)
            wrong.remove(other)
            pairs.append((one, other))
    pairs += [(span, None) for span in missing]
    pairs += [(None, span) for span in wrong]
    return sorted(pairs, key=lambda pair: min(span.start for span in pair if span is not None))


def _sharing(true: Sequence[Span], said: Sequence[Span]) -> Iterator[tuple[Span, Span]]:
    """All pairs that share a word; spans of one side do not."""
    here = there = 0
    while here < len(true) and there < len(said):
        one, other = true[here], said[there]
        if max(one.start, other.start) < min(one.end, other.end):
            yield one, other
        if one.end <= other.end:
            here += 1
        else:
            there += 1


def _rank(true: Span, said: Span) -> tuple[bool, bool, int, int]:
    shared = min(true.end, said.end) - max(true.start, said.start)
    return true[:2] != said[:2], true.type != said.type, -shared, true.start


def _mistakes(tags: TagSet, guesses: Guesses) -> Iterator[Mistake]:
    offsets = guesses.offsets
    are, were = (_by_sentence(tags, each, offsets) for each in (guesses.true, guesses.said))
    for sentence, (true, said) in enumerate(zip(are, were, strict=True)):
        if true != said:
            for pair in paired(true, said):
                yield Mistake(_kind(*pair), sentence, *pair)


def _kind(true: Span | None, said: Span | None) -> str:
    if said is None:
        return "missed"
    if true is None:
        return "invented"
    if true[:2] == said[:2]:
        return "mistyped"
    return "wrong borders" if true.type == said.type else "borders and type"


def _by_sentence(
    tags: TagSet, ids: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Iterator[list[Span]]:
    """The spans of each sentence, counted from its first word."""
    spans = tags.spans(ids, offsets)
    named = tags.named(spans)
    first = np.searchsorted(spans.start, offsets).tolist()
    for sentence, begin in enumerate(offsets[:-1].tolist()):
        own = named[first[sentence] : first[sentence + 1]]
        yield [Span(span.start - begin, span.end - begin, span.type) for span in own]


def _of_unseen(tags: TagSet, guesses: Guesses, unseen: NDArray[np.bool_]) -> dict[str, Tally]:
    """The tally of spans with an unseen word, for each type that has any."""
    before = np.append(0, np.cumsum(unseen))
    columns = []
    for ids in (guesses.said, guesses.true):
        named = tags.named(tags.spans(ids, guesses.offsets))
        columns.append({span for span in named if before[span.end] > before[span.start]})
    said, true = columns
    right, were, are = (Counter(span.type for span in each) for each in (said & true, said, true))
    return {type: Tally(right[type], were[type], are[type]) for type in sorted({*were, *are})}


def _confusion(tags: TagSet, true: NDArray[np.int64], said: NDArray[np.int64]) -> NDArray[np.int64]:
    outside = 0 if tags.scheme == "plain" else 1
    size = len(tags.types) + outside
    rows, columns = (tags.tag_types[ids] % size for ids in (true, said))  # O, −1, is the last
    return np.bincount(rows * size + columns, minlength=size * size).reshape(size, size)
