"""From files of sentences with labels to token files, which are mapped into memory.

A folder of them has, for each part, `train.words.bin` (32-bit integers, little endian),
`train.offsets.bin` (64-bit: where each sentence starts, and at last the number of words) and
`train.targets.bin` (32-bit floats: the number of the label or the score of each example); the rest
is as `data/kept.py` has it, with `labelled.json`.

Words are numbered as they first occur in the files, train first. Words of other parts that train
does not have are there as well, with the count 0, unless there is a cap: then all but the most
frequent words of train become `<unk>`. Nothing is in memory but the words and some sentences.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from cellwright.base.files import sync
from cellwright.base.progress import Progress
from cellwright.data.cache import mapped
from cellwright.data.errors import DataError
from cellwright.data.kept import KeptFacts, Shelf
from cellwright.data.labelled.files import MISMATCHED, Located
from cellwright.data.labelled.options import Options
from cellwright.data.labelled.tables import Row, Table
from cellwright.data.labelled.targets import Codes, LabelError, Target
from cellwright.data.labelled.tokenizers import EMPTY, Tokenizer
from cellwright.data.labelled_sets import LABELLED, Form
from cellwright.data.prepare import (
    DTYPE,
    MOST_TYPES,
    Numbers,
    Passing,
    Read,
    Watched,
    too_many,
)
from cellwright.data.sentence_files import CUT_SHARE, OFFSETS, Array, SentenceFiles, drawn
from cellwright.data.sources import PARTS, Text
from cellwright.data.vocabulary import UNK

FORMAT: Literal["cellwright-labelled/1"] = "cellwright-labelled/1"
"""Changes when older token files no longer fit; they are then made anew."""

TARGETS = np.dtype("<f4")

AT_ONCE = 1024
"""Examples that are cut into words at a time."""


class FileFacts(BaseModel):
    """What was found in a file: its name (with that of a part, if it has several) and examples, and
    what was done about them.

    `unlabelled` and `broken` rows were left out, `empty` sentences have the one word `<empty>`, and
    `shortened` ones lost `dropped` words.
    """

    model_config = ConfigDict(frozen=True)

    file: str
    examples: int
    unlabelled: int
    broken: int
    empty: int
    shortened: int
    dropped: int


class PartFacts(BaseModel):
    """What is in a part; `unseen` are its words that train does not have, `unknown` those that have
    become `<unk>`. `labels` are examples by label; of scores there is their mean and range."""

    model_config = ConfigDict(frozen=True)

    examples: int
    words: int
    unseen: int
    unknown: int
    labels: dict[str, int]
    mean: float
    lowest: float
    highest: float


class Metadata(KeptFacts):
    """The contents of `labelled.json`."""

    format: Literal["cellwright-labelled/1"] = FORMAT
    reading: dict[str, Any]
    per_example: int
    labels: list[str]
    lowest: float
    highest: float
    types: int
    """Different words of train, before there was a cap."""
    found: dict[str, FileFacts]
    parts: dict[str, PartFacts]


SHELF = Shelf("labelled", Metadata, {"words": DTYPE, "targets": TARGETS, "offsets": OFFSETS})


def reading(located: Located, options: Options, tokenizer: Tokenizer) -> dict[str, Any]:
    """All that decides what becomes of the files, as JSON can have it."""
    said = asdict(options) | {"tokenizer": tokenizer.identity, "encoder": ""}
    forms = {part: asdict(form) for part, form in located.forms.items()}
    return {"options": said, "forms": forms, "way": located.way, "name": located.source.name}


def prepare(
    located: Located,
    options: Options,
    tokenizer: Tokenizer,
    folder: Path,
    progress: Progress | None = None,
) -> None:
    """Write the token files of sentences with labels into an empty folder."""
    raw = folder / "raw"
    raw.mkdir()
    source, ids = located.source, Numbers[str]()
    codes = Codes(_known_target(source.name), options.score)
    files: dict[str, SentenceFiles] = {}
    texts, found = {}, {}
    passing = Passing(source, progress)
    for part, text in source.texts.items():
        files[part] = SentenceFiles(raw, part, located.per_example)
        reader = _Reader(text, located.forms[part], tokenizer, ids, codes, files[part])
        texts[part], found[part] = reader.read(passing.of(part))
        if part == "train":
            target = codes.settle(text.label)
    files = _cut(located, files)
    counts = files["train"].word_counts(len(ids))
    words, numbers = _capped(list(ids), counts, options.most_words)
    unknown = words.index(UNK) if UNK in words else -1
    meaning = _Meaning(numbers, unknown, counts, codes.meanings(), target)
    finished = {part: _finish(each, folder, part, meaning) for part, each in files.items()}
    _check_train(finished["train"], target, source.texts["train"].label)
    shutil.rmtree(raw)
    new_counts = np.zeros(len(words), np.int64)
    np.add.at(new_counts, numbers, counts)
    kept = SHELF.keep(folder, words, new_counts, finished)
    SHELF.write_facts(
        folder,
        Metadata(
            reading=reading(located, options, tokenizer),
            per_example=located.per_example,
            labels=list(target.labels),
            lowest=target.lowest,
            highest=target.highest,
            types=int((counts > 0).sum()),
            found=found,
            parts=finished,
            texts=texts,
            files=kept,
        ),
    )


def _known_target(name: str) -> Target | None:
    known = LABELLED.get(name)
    return None if known is None else Target(known.labels, known.lowest, known.highest)


@dataclass
class _Reader:
    """A file as it is read into numbers."""

    text: Text
    form: Form
    tokenizer: Tokenizer
    ids: Numbers[str]
    codes: Codes
    files: SentenceFiles
    examples: int = 0
    empty: int = 0
    shortened: int = 0
    dropped: int = 0

    def read(self, advance: Callable[[int], None]) -> tuple[Read, FileFacts]:
        """Read the file from start to end."""
        watched, table = Watched(self.text, advance), Table(self.text, self.form)
        rows = table.rows(watched.update)
        while some := list(islice(rows, AT_ONCE)):
            self._write(some)
        if not self.examples:
            of_part = f" of {self.form.part}" if self.form.part else ""
            what = f"has no examples{of_part}" if watched.before.size else "is empty"
            raise DataError(f"{self.text.label} {what}; every part needs some")
        facts = FileFacts(
            file=f"{Path(self.text.label).name} {self.form.part}".strip(),
            examples=self.examples,
            unlabelled=table.unlabelled,
            broken=table.broken,
            empty=self.empty,
            shortened=self.shortened,
            dropped=self.dropped,
        )
        return watched.finish(), facts

    def _write(self, rows: list[Row]) -> None:
        labels = [self._code(row) for row in rows]
        sentences = self.tokenizer([text for row in rows for text in row.sentences])
        longest = self.tokenizer.options.longest
        numbers: list[int] = []
        ends, ids = [0], self.ids
        for words in sentences:
            if longest and len(words) > longest:
                self.shortened += 1
                self.dropped += len(words) - longest
                words = words[:longest]
            elif not words:
                self.empty += 1
                words = [EMPTY]
            numbers += [ids[word] for word in words]
            ends.append(len(numbers))
        if len(ids) > MOST_TYPES:
            raise too_many(self.text)
        self.files.append(*(np.array(each, np.int64) for each in (numbers, labels, ends)))
        self.examples += len(rows)

    def _code(self, row: Row) -> int:
        self.codes.line = row.line
        try:
            return self.codes[row.label]
        except LabelError as error:
            raise DataError(f"{self.text.label}: line {row.line:,}: {error}") from None


def _cut(located: Located, files: dict[str, SentenceFiles]) -> dict[str, SentenceFiles]:
    """The parts that there are no files for, taken from train."""
    train, label = files["train"], located.source.texts["train"].label
    if located.way == "dev-alone":
        if train.examples < 3:
            raise DataError(f"{label} has too few examples to be cut into three parts")
        valid, test, rest = drawn(train.examples, CUT_SHARE, CUT_SHARE)
        files = files | train.split({"train": rest, "valid": valid, "test": test})
    elif located.cut:
        if train.examples < 2:
            raise DataError(f"{label} has one example; a tenth of train is to be taken for valid")
        valid, rest = drawn(train.examples, CUT_SHARE)
        files = files | train.split({"train": rest, "valid": valid})
    return {part: files[part] for part in (*PARTS, MISMATCHED) if part in files}


def _capped(words: list[str], counts: Array, most: int) -> tuple[list[str], Array]:
    """The words that are kept, and for each word the number of what it becomes.

    Of equally frequent words those that come first are kept; `<empty>` always is.
    """
    everything = np.arange(len(words))
    if not most:
        return words, everything
    frequent = np.argsort(-counts, kind="stable")[:most]
    keep = np.zeros(len(words), bool)
    keep[frequent] = counts[frequent] > 0
    for word in (EMPTY, UNK):
        if word in words:
            keep[words.index(word)] = True
    kept = [word for word, stays in zip(words, keep.tolist(), strict=True) if stays]
    if UNK not in kept:
        kept.append(UNK)
    numbers = np.full(len(words), kept.index(UNK))
    numbers[keep] = everything[: int(keep.sum())]
    return kept, numbers


@dataclass(frozen=True)
class _Meaning:
    """What numbers become: words of the files those that are kept, codes targets."""

    numbers: Array
    unknown: int
    counts: Array
    values: NDArray[np.float32]
    target: Target


def _finish(files: SentenceFiles, folder: Path, part: str, meaning: _Meaning) -> PartFacts:
    """Put a part in its place, with the words and targets that are kept."""
    unseen = unknown = 0
    with (
        open(folder / f"{part}.words.bin", "xb") as words_file,
        open(folder / f"{part}.targets.bin", "xb") as targets_file,
    ):
        for words, codes, _ in files.blocks():
            new = meaning.numbers[words]
            unseen += int((meaning.counts[words] == 0).sum())
            unknown += int((new == meaning.unknown).sum())
            words_file.write(new.astype(DTYPE).tobytes())
            targets_file.write(meaning.values[codes].astype(TARGETS).tobytes())
        sync(words_file)
        sync(targets_file)
    files.move("offsets", folder / f"{part}.offsets.bin")
    targets = mapped(folder / f"{part}.targets.bin", TARGETS)
    labels = meaning.target.labels
    many = np.bincount(targets.astype(np.int64), minlength=len(labels)) if labels else ()
    return PartFacts(
        examples=files.examples,
        words=files.words,
        unseen=unseen,
        unknown=unknown,
        labels=dict(zip(labels, map(int, many), strict=True)),
        mean=float(targets.mean(dtype=np.float64)),
        lowest=float(targets.min()),
        highest=float(targets.max()),
    )


def _check_train(facts: PartFacts, target: Target, label: str) -> None:
    if facts.lowest == facts.highest:
        only = target.labels[int(facts.lowest)] if target.labels else f"{facts.lowest:g}"
        raise DataError(f"{label}: all examples of train are {only!r}; there is nothing to learn")
