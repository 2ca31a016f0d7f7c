"""Sentences and pairs with labels or scores: three parts, and what their numbers mean."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cellwright.base.amounts import percent
from cellwright.base.progress import Progress
from cellwright.data.kept import Entry, fingerprint_of
from cellwright.data.labelled.files import MISMATCHED, Located, locate
from cellwright.data.labelled.options import Options
from cellwright.data.labelled.prepare import (
    SHELF,
    FileFacts,
    Metadata,
    PartFacts,
    prepare,
    reading,
)
from cellwright.data.labelled.targets import Target
from cellwright.data.labelled.tokenizers import Tokenizer
from cellwright.data.labelled_sets import LABELLED, KnownLabelled
from cellwright.data.sentence_files import CUT_SEED
from cellwright.data.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Examples:
    """Examples one after another: the numbers of their words, and what they are to be given.

    `offsets` says where each sentence starts, and at last the number of all words; of a pair the
    second sentence comes after the first. `targets` has the number of the label, or the score, of
    each example.
    """

    words: NDArray[np.int32] = field(repr=False)
    offsets: NDArray[np.int64] = field(repr=False)
    targets: NDArray[np.float32] = field(repr=False)
    per_example: int = 1

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[tuple[NDArray[np.int32], ...], float]:
        """The words of each sentence of one example, and its target."""
        at = range(len(self))[index] * self.per_example
        ends = self.offsets[at : at + self.per_example + 1].tolist()
        sentences = tuple(self.words[start:end] for start, end in pairwise(ends))
        return sentences, float(self.targets[at // self.per_example])

    def some(self, first: int, end: int) -> Examples:
        """The examples from one on to before another; words stay where they are."""
        start, last, _ = slice(first, end).indices(len(self))
        last = max(start, last)
        offsets = self.offsets[start * self.per_example : last * self.per_example + 1]
        return Examples(self.words, offsets, self.targets[start:last], self.per_example)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each sentence has, of pairs in two columns."""
        return np.diff(self.offsets).reshape(-1, self.per_example)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Sentences or pairs with labels or scores, in memory that is mapped from files, read-only.

    `vocabulary` has the words of all parts with their counts in train: what has the count 0 was not
    seen in training. So has `characters`, for their characters.
    """

    name: str
    where: str
    train: Examples = field(repr=False)
    valid: Examples = field(repr=False)
    test: Examples = field(repr=False)
    vocabulary: Vocabulary
    characters: Vocabulary
    target: Target
    per_example: int
    options: Options
    mismatched: Examples | None = field(default=None, repr=False)
    """MNLI's dev set of other kinds of text, if it was asked for."""
    parts: Mapping[str, PartFacts] = field(default_factory=dict, repr=False)
    found: Mapping[str, FileFacts] = field(default_factory=dict, repr=False)
    """What was found in each file."""
    way: str = "official"
    """How the files became parts."""
    cut: bool = False
    """Whether valid was taken from train."""
    types: int = 0
    """Different words of train, before there was a cap."""
    prepared: str | None = None
    """Why the token files were made by this very call; None if they were there."""

    @property
    def known(self) -> KnownLabelled | None:
        """The entry of the table with this name."""
        return LABELLED.get(self.name)

    @property
    def tokenizer(self) -> Tokenizer:
        """What cut the sentences into words."""
        return Tokenizer(self.options)

    @property
    def as_published(self) -> bool | None:
        """Have the files the published numbers of examples? None where there are none."""
        rows = {} if self.known is None else self.known.rows
        counts = [
            rows[each.file] == each.examples for each in self.found.values() if each.file in rows
        ]
        return all(counts) if counts else None

    @property
    def fingerprint(self) -> str:
        """A hash of words and targets, wherever the files are; of large parts samples are read."""
        parts = (self.train, self.valid, self.test, self.mismatched)
        arrays = (
            each
            for part in parts
            if part is not None
            for each in (part.words, part.targets, part.offsets)
        )
        target = self.target
        names = [*target.labels, repr(target.lowest), repr(target.highest), str(self.per_example)]
        return fingerprint_of(names, self.vocabulary, arrays)

    def describe(self) -> str:
        """What is in it, for people."""
        kind = "sentences" if self.per_example == 1 else "pairs"
        rows = [f"{self.name}: {kind} with {self.target}, {len(self.vocabulary):,} types, "
                f"from {self.where}"]  # fmt: skip
        across = max(map(len, self.parts), default=0)
        widths = [
            max((len(f"{getattr(each, what):,}") for each in self.parts.values()), default=0)
            for what in ("examples", "words")
        ]
        for part, each in self.parts.items():
            row = (
                f"  {part:{across}}  {each.examples:>{widths[0]},} {kind}  "
                f"{each.words:>{widths[1]},} words"
            )
            if each.unseen:
                share = percent(each.unseen, each.words)
                row += f"  {each.unseen:,} words that train does not have ({share})"
            rows += [row, f"    {self._targets(each)}"]
        return "\n".join([*rows, *(f"  {note}" for note in self.notes())])

    def _targets(self, facts: PartFacts) -> str:
        if self.target.is_score:
            return f"score {facts.mean:.2f} on average, from {facts.lowest:g} to {facts.highest:g}"
        shares = (
            f"{label} {many:,} ({percent(many, facts.examples) if many else '0%'})"
            for label, many in list(facts.labels.items())[:20]
        )
        return ", ".join(shares) + (", …" if len(facts.labels) > 20 else "")

    def notes(self) -> Iterator[str]:
        """What should be known about it, for people."""
        yield from self._of_parts()
        for facts in self.found.values():
            yield from _of_file(facts)
        if self.options.most_words and self.types > self.options.most_words:
            lost = ", ".join(
                f"{percent(each.unknown, each.words)} of {part}"
                for part, each in self.parts.items()
                if each.unknown
            )
            yield (
                f"of train's {self.types:,} words the {self.options.most_words:,} most frequent "
                f"are kept; others are <unk>: {lost}"
            )
        for part, each in self.parts.items():
            lacking = [label for label, many in each.labels.items() if not many]
            if lacking:
                yield f"{part} has no example of {', '.join(lacking[:8])}"
        if self.as_published is False:
            yield f"these are not the published counts of {self.name}: other files?"

    def _of_parts(self) -> Iterator[str]:
        files = {part: facts.file for part, facts in self.found.items()}
        drawn = f"drawn at random with seed {CUT_SEED}"
        if self.way == "dev-alone":
            yield (
                f"there is no file for train: all parts are of {files['train']}, eight tenths, one "
                f"and one, {drawn}"
            )
            return
        if self.way == "dev-as-test":
            yield f"test is {files['test']}: labels of test are not public, or not here"
        if self.cut:
            yield f"valid is a tenth of {files['train']}, {drawn}"


def _of_file(facts: FileFacts) -> Iterator[str]:
    if facts.broken:
        yield f"{facts.file}: {facts.broken:,} rows with too few or too many columns were left out"
    if facts.unlabelled:
        yield f"{facts.file}: {facts.unlabelled:,} rows without a label were left out"
    if facts.empty:
        yield f"{facts.file}: {facts.empty:,} empty sentences have the one word <empty>"
    if facts.shortened:
        yield (
            f"{facts.file}: {facts.shortened:,} sentences were shortened, by {facts.dropped:,} "
            "words together"
        )


def load(
    name: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    tokenizer: str = "words",
    encoder: str = "",
    lower: bool = False,
    longest: int = 0,
    most_words: int = 0,
    parts: str = "auto",
    valid: str = "file",
    mismatched: bool = False,
    first: str | int = "",
    second: str | int = "",
    label: str | int = "",
    separator: str = "auto",
    score: bool | None = None,
    progress: Progress | None = None,
) -> Labelled:
    """Open sentences with labels; on the first use, or after a change, make their token files.

    Args:
        name: `cola`, `sst-2`, `mrpc`, `qqp`, `sts-b`, `mnli`, `qnli`, `rte`, `wnli`, `sick-r`,
            `sick-e`, or a folder with train, valid and test files that end in .tsv, .csv or .jsonl.
        folder: where data of that name is, if not in `CELLWRIGHT_DATA` and not downloaded.
        tokenizer: what cuts sentences into words: `words`, `spaces`, `spacy`, or `pieces`.
        encoder: for `pieces`: the folder or the name of the encoder whose pieces they are.
        lower: make letters lower case.
        longest: the most words of a sentence; those behind are dropped. 0 is no limit.
        most_words: the most words of the vocabulary, by their frequency in train; others become
            `<unk>`. 0 is no limit.
        parts: `official`, files with labels for train and test; `dev-as-test`, where the labels of
            test are not public: dev is test, and valid is cut from train; `dev-alone`, all three
            cut from dev; `auto`, the first of these that the files allow.
        valid: `file`, or `cut`: a tenth of train, in place of the file.
        mismatched: read MNLI's mismatched dev set as a part of its own.
        first: of your own files the column with the (first) sentence, by name or number; unless
            said, one with a usual name.
        second: the column with the second sentence; `none` if there is to be none.
        label: the column with the label or score.
        separator: `tabs`, `commas`, `semicolons` or `json`; `auto` goes by the file's ending.
        score: whether labels are scores; unless said they are if all are numbers, not all whole.
        progress: called while files are read, with what is done, bytes done, and bytes in all.

    Raises:
        DataError: it is not there, or the files are not what they should be. The message names the
            line and says what to do.
        MissingPackageError: the tokenizer needs a package that is not installed.
    """
    options = Options(
        tokenizer=tokenizer, encoder=encoder, lower=lower, longest=longest, most_words=most_words,
        parts=parts, valid=valid, mismatched=mismatched, first=first, second=second, label=label,
        separator=separator, score=score,
    )  # fmt: skip
    return load_with(name, options, folder=folder, progress=progress)


def load_with(
    name: str | os.PathLike[str],
    options: Options,
    *,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Labelled:
    """The same as `load`, with options that are one value."""
    found, cut = locate(name, folder, options), Tokenizer(options)
    entry = SHELF.fetch(
        found.source,
        reading(found, options, cut),
        lambda new: prepare(found, options, cut, new, progress),
        progress,
    )
    return opened(found, options, entry)


def peek(name: str) -> tuple[str, Labelled | None]:
    """Where known data is, and what is in it, if it has been read before with usual options."""
    options = Options()
    found = locate(name, options=options)
    entry = SHELF.peek(found.source, reading(found, options, Tokenizer(options)))
    return found.source.where, None if entry is None else opened(found, options, entry)


def opened(located: Located, options: Options, entry: Entry[Metadata]) -> Labelled:
    """The examples of token files that have been checked."""
    arrays, facts = entry.arrays, entry.metadata
    parts = {
        part: Examples(
            arrays[part, "words"], arrays[part, "offsets"], arrays[part, "targets"],
            facts.per_example,
        )
        for part in facts.parts
    }  # fmt: skip
    return Labelled(
        name=located.source.name,
        where=located.source.where,
        train=parts["train"],
        valid=parts["valid"],
        test=parts["test"],
        mismatched=parts.get(MISMATCHED),
        vocabulary=entry.words,
        characters=entry.characters,
        target=Target(tuple(facts.labels), facts.lowest, facts.highest),
        per_example=facts.per_example,
        options=options,
        parts=facts.parts,
        found=facts.found,
        way=located.way,
        cut=located.cut,
        types=facts.types,
        prepared=entry.why,
    )


def without_examples(
    name: str,
    vocabulary: Vocabulary,
    characters: Vocabulary,
    target: Target,
    per_example: int,
    options: Options | None = None,
) -> Labelled:
    """Data of which only words, characters and labels are known: all parts are empty."""
    none = Examples(
        np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.float32), per_example
    )
    return Labelled(
        name, "a run's own files", none, none, none, vocabulary, characters, target, per_example,
        options or Options(),
    )  # fmt: skip
