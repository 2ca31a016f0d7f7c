"""Tagged sentences: three parts of words and tags, and what their numbers mean."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellwright.base.amounts import percent
from cellwright.base.progress import Progress
from cellwright.data.kept import Entry, fingerprint_of
from cellwright.data.registry import TAGGED, KnownTagged
from cellwright.data.sentence_files import CUT_SEED
from cellwright.data.sources import PARTS, Source
from cellwright.data.tagged.files import locate
from cellwright.data.tagged.options import Options
from cellwright.data.tagged.prepare import SHELF, Metadata, PartFacts, prepare
from cellwright.data.tagged.rows import Found
from cellwright.data.tagged.schemes import TagSet
from cellwright.data.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences one after another: the numbers of their words and tags, and where each starts.

    `offsets` has one number more than there are sentences: the number of all words.
    """

    words: NDArray[np.int32] = field(repr=False)
    tags: NDArray[np.int32] = field(repr=False)
    offsets: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The words and the tags of one sentence."""
        at = range(len(self))[index]
        start, end = self.offsets[at], self.offsets[at + 1]
        return self.words[start:end], self.tags[start:end]

    def __iter__(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        return (self[index] for index in range(len(self)))

    def some(self, first: int, end: int) -> Sentences:
        """The sentences from one on to before another; words and tags stay where they are."""
        return replace(self, offsets=self.offsets[first : end + 1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each sentence has."""
        return np.diff(self.offsets)


@dataclass(frozen=True, eq=False)
class Tagged:
    """Sentences with tags, in memory that is mapped from files, read-only.

    `vocabulary` has the words of all parts, as they are written, with their counts in train: what
    has the count 0 was not seen in training. So has `characters`, for their characters.
    """

    name: str
    where: str
    train: Sentences = field(repr=False)
    valid: Sentences = field(repr=False)
    test: Sentences = field(repr=False)
    vocabulary: Vocabulary
    characters: Vocabulary
    tags: TagSet
    parts: Mapping[str, PartFacts] = field(repr=False)
    found: Mapping[str, Found] = field(repr=False)
    """How the tags of each file were written, and what was wrong with them."""
    cut: bool
    """Whether valid was taken from train, since there was no file for it."""
    options: Options
    prepared: str | None = None
    """Why the token files were made by this very call; None if they were there."""

    @property
    def known(self) -> KnownTagged | None:
        """The entry of the registry with this name."""
        return TAGGED.get(self.name)

    @property
    def as_published(self) -> bool | None:
        """Are the numbers of sentences those of the literature? None where it has none."""
        if self.known is None or self.options.documents != "drop":
            return None
        counts = [self.parts[part].sentences for part in PARTS]
        if self.cut:
            counts = [counts[0] + counts[1], counts[2]]
        return tuple(counts) == self.known.sentences

    @property
    def fingerprint(self) -> str:
        """A hash of words and tags, wherever the files are; of large parts samples are read."""
        parts = (self.train, self.valid, self.test)
        arrays = (each for part in parts for each in (part.words, part.tags, part.offsets))
        return fingerprint_of(self.tags.names, self.vocabulary, arrays)

    def unseen_types(self, part: str) -> dict[str, int]:
        """The types of spans of a part that train does not have, and how many of them there are."""
        train = self.parts["train"].spans
        return {type: n for type, n in self.parts[part].spans.items() if type not in train}

    def describe(self) -> str:
        """What is in it, for people."""
        rows = [
            f"{self.name}: {len(self.vocabulary):,} types, {len(self.tags):,} tags in "
            f"{self.tags.scheme}, {len(self.characters):,} characters, from {self.where}"
        ]
        facts = [self.parts[part] for part in PARTS]
        widths = [
            max(len(f"{many:,}") for many in column)
            for column in zip(
                *((each.sentences, each.words, sum(each.spans.values())) for each in facts),
                strict=True,
            )
        ]
        for part, each in zip(PARTS, facts, strict=True):
            spans = sum(each.spans.values())
            row = (
                f"  {part:5}  {each.sentences:>{widths[0]},} sentences  "
                f"{each.words:>{widths[1]},} words  {spans:>{widths[2]},} spans"
            )
            if each.unseen:
                share = percent(each.unseen, each.words)
                row += f"  {each.unseen:,} words that train does not have ({share})"
            rows.append(row)
            if self.tags.scheme != "plain":
                rows.append(f"    {_by_type(each.spans) or 'no spans: every tag is O'}")
        return "\n".join([*rows, *(f"  {note}" for note in self.notes())])

    def notes(self) -> Iterator[str]:
        """What should be known about it, for people."""
        schemes = {part: found.scheme for part, found in self.found.items() if found.scheme}
        if len(set(schemes.values())) == 1:
            yield f"the files' tags are {schemes['train']}"
        else:
            each = ", ".join(f"{part} {scheme}" for part, scheme in schemes.items())
            yield f"the files' tags are of several schemes: {each}"
        if self.cut:
            yield (
                f"valid is a tenth of train's sentences, drawn at random with seed {CUT_SEED}: "
                "there is no file for it"
            )
        for part, found in self.found.items():
            if found.contradictions:
                yield (
                    f"{part}: {found.contradictions:,} tags contradict {found.scheme}, the first "
                    f"on {found.example}; they are read as conlleval reads them"
                )
        for part in PARTS[1:]:
            if unseen := self.unseen_types(part):
                yield f"{part} has spans of types that train does not have: {_by_type(unseen)}"
        documents = sum(found.documents for found in self.found.values())
        if documents:
            what = "are sentences" if self.options.documents == "keep" else "were left out"
            yield f"{documents:,} -DOCSTART- lines {what}"
        if self.as_published is False:
            yield f"these are not the published counts of {self.name}: another text?"


def _by_type(spans: Mapping[str, int]) -> str:
    return ", ".join(f"{type or '(no type)'} {many:,}" for type, many in spans.items())


def load(
    name: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    columns: str | None = None,
    word: str | int | None = None,
    tag: str | int | None = None,
    separator: str = "spaces",
    comment: str = "",
    scheme: str = "IOBES",
    source: str = "auto",
    documents: str = "drop",
    strict: bool = False,
    progress: Progress | None = None,
) -> Tagged:
    """Open tagged sentences; on the first use, or after a file has changed, make their token files.

    Args:
        name: `conll2003`, `conll2000`, `wnut17`, or a folder with train, valid and test files.
            Where there is no file for valid, it is a tenth of train's sentences.
        folder: where data of that name is, if not in `CELLWRIGHT_DATA` and not downloaded.
        columns: names of all columns, such as `"word pos chunk ner"`. Every row then has to have as
            many; otherwise as many as the first.
        word: the words' column by name or by number, from 1 on; the first unless said.
        tag: the tags' column; the last unless said. Negative numbers count from the last.
        separator: `spaces`, any white space, or `tabs`, one tab, so that words may have spaces.
        comment: a line before a sentence that begins so is left out, such as `"# "`.
        scheme: what the tags are to be: IOB1, IOB2, IOBES, or `plain`, a label for each word.
        source: the scheme that the files are written in; `auto` finds it out.
        documents: `drop` the lines -DOCSTART-, or `keep` each as a sentence, as Flair 0.4.1 did.
        strict: refuse tags that contradict each other; otherwise they are read as conlleval reads
            them, and counted.
        progress: called while files are read, with what is done, bytes done, and bytes in all.

    Raises:
        DataError: it is not there, or the files are not what they should be. The message names the
            line and says what to do.
    """
    options = options_for(
        os.fspath(name),
        columns=columns,
        word=word,
        tag=tag,
        separator=separator,
        comment=comment,
        scheme=scheme,
        source=source,
        documents=documents,
        strict=strict,
    )
    found = locate(name, folder)
    entry = SHELF.fetch(
        found, asdict(options), lambda new: prepare(found, options, new, progress), progress
    )
    return opened(found, options, entry)


def options_for(
    name: str,
    *,
    columns: str | None = None,
    word: str | int | None = None,
    tag: str | int | None = None,
    **others: Any,
) -> Options:
    """How data is read: as said, else as the registry has it, else the first and last column."""
    known = TAGGED.get(name)
    plain = Options()
    if known is not None and columns is None:
        columns = known.columns
        word, tag = "word" if word is None else word, known.tag if tag is None else tag
    return replace(
        plain,
        columns=columns or "",
        word=plain.word if word is None else word,
        tag=plain.tag if tag is None else tag,
        **others,
    )


def opened(source: Source, options: Options, entry: Entry[Metadata]) -> Tagged:
    """The sentences of token files that have been checked."""
    arrays, facts = entry.arrays, entry.metadata
    parts = {
        part: Sentences(arrays[part, "words"], arrays[part, "tags"], arrays[part, "offsets"])
        for part in PARTS
    }
    return Tagged(
        name=source.name,
        where=source.where,
        train=parts["train"],
        valid=parts["valid"],
        test=parts["test"],
        vocabulary=entry.words,
        characters=entry.characters,
        tags=TagSet(facts.scheme, tuple(facts.types)),
        parts=facts.parts,
        found=facts.found,
        cut=facts.cut,
        options=options,
        prepared=entry.why,
    )


def without_sentences(
    name: str, vocabulary: Vocabulary, characters: Vocabulary, tags: TagSet
) -> Tagged:
    """Data of which only words, characters and tags are known: all parts are empty."""
    none = Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(1, np.int64))
    return Tagged(
        name, "a run's own files", none, none, none, vocabulary, characters, tags, parts={},
        found={}, cut=False, options=Options(),
    )  # fmt: skip
