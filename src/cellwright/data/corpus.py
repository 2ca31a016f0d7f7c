"""A corpus: three streams of tokens and the vocabulary they are numbers of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cellwright.base.amounts import percent
from cellwright.base.progress import Progress
from cellwright.data import cache
from cellwright.data.registry import KNOWN, Known
from cellwright.data.sources import PARTS, Source, locate
from cellwright.data.vocabulary import Vocabulary, from_text


@dataclass(frozen=True, eq=False)
class Corpus:
    """A corpus in memory that is mapped from files, read-only.

    A word of valid or test that train does not have is `<unk>` there; `unknown` says how many
    there were. Words are numbered as they first occur in train.
    """

    name: str
    where: str
    train: NDArray[np.int32] = field(repr=False)
    valid: NDArray[np.int32] = field(repr=False)
    test: NDArray[np.int32] = field(repr=False)
    vocabulary: Vocabulary
    lines: Mapping[str, int]
    unknown: Mapping[str, int]
    prepared: str | None = None
    """Why the token files were made by this very call; None if they were there."""

    @property
    def tokens(self) -> dict[str, int]:
        """How many tokens each part has, with one `<eos>` a line."""
        return {part: len(getattr(self, part)) for part in PARTS}

    @property
    def known(self) -> Known | None:
        """The entry of the registry with this corpus's name."""
        return KNOWN.get(self.name)

    @property
    def as_published(self) -> bool | None:
        """Are the counts those of the literature? None where it has none."""
        published = None if self.known is None else self.known.published
        if published is None:
            return None
        counts = (*self.tokens.values(), len(self.vocabulary))
        return counts == (published.train, published.valid, published.test, published.types)

    def describe(self) -> str:
        """What is in the corpus, for people."""
        rows = [f"{self.name}: {len(self.vocabulary):,} types, from {self.where}"]
        widths = [
            max(len(f"{many[part]:,}") for part in PARTS) for many in (self.tokens, self.lines)
        ]
        for part in PARTS:
            tokens, unknown = self.tokens[part], self.unknown[part]
            row = (
                f"  {part:5}  {tokens:>{widths[0]},} tokens  {self.lines[part]:>{widths[1]},} lines"
            )
            if unknown:
                share = percent(unknown, tokens)
                row += f"  {unknown:,} words that train does not have ({share})"
            rows.append(row)
        if self.as_published is False:
            rows.append(f"  these are not the published counts of {self.name}: another text?")
        return "\n".join(rows)


def load(
    name: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Corpus:
    """Open a corpus; on the first use, or after its text has changed, make its token files.

    Args:
        name: `builtin`, `ptb`, `wikitext-2`, `wikitext-103`, or a folder with train, valid and
            test text.
        folder: where a named corpus is, if not in `CELLWRIGHT_DATA` and not downloaded.
        progress: called while text is read, with what is done, bytes done, and bytes in all.

    Raises:
        DataError: the corpus is not there, its text is not what it should be, or the token files
            cannot be kept. The message says what to do.
    """
    source = locate(name, folder)
    return opened(source, cache.fetch(source, progress))


def without_text(name: str, vocabulary: Vocabulary) -> Corpus:
    """A corpus of which only the words are left."""
    none, nowhere = np.empty(0, np.int32), dict.fromkeys(PARTS, 0)
    return Corpus(name, "a run's folder", none, none, none, vocabulary, nowhere, nowhere)


def opened(source: Source, entry: cache.Entry) -> Corpus:
    """The corpus of token files that have been checked."""
    parts = entry.metadata.parts
    return Corpus(
        name=source.name,
        where=source.where,
        train=entry.tokens["train"],
        valid=entry.tokens["valid"],
        test=entry.tokens["test"],
        vocabulary=from_text(entry.vocabulary),
        lines={part: parts[part].lines for part in PARTS},
        unknown={part: parts[part].unknown for part in PARTS},
        prepared=entry.why,
    )
