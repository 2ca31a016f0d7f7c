"""From column files to token files, which are mapped into memory when they are used.

A folder of them has, for each part, `train.words.bin` and `train.tags.bin` (32-bit integers, little
endian), and `train.offsets.bin` (64-bit: where each sentence starts, and at last the number of
words); `words.tsv` and `characters.tsv` (one a line in the order of their numbers, with a tab and
the count in train); and, written last, `tagged.json`, which says what the others must look like.

Words are numbered as they first occur in the files, train first. Words of valid and test that train
does not have are there as well, with the count 0: vectors and characters may know them. Nothing is
in memory but the words and a few sentences.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from cellwright.base.files import sync
from cellwright.base.progress import Progress
from cellwright.data.errors import DataError
from cellwright.data.kept import KeptFacts, Shelf
from cellwright.data.prepare import DTYPE, Numbers, Passing
from cellwright.data.sentence_files import CUT_SHARE, OFFSETS, SentenceFiles, drawn
from cellwright.data.sources import PARTS, Source
from cellwright.data.tagged.options import Options
from cellwright.data.tagged.rows import Codes, Found, Rows, decoded
from cellwright.data.tagged.schemes import TagSet
from cellwright.data.tagged.spans import Numbers as Array
from cellwright.data.tagged.spans import find, mark

FORMAT: Literal["cellwright-tagged/1"] = "cellwright-tagged/1"
"""Changes when older token files no longer fit; they are then made anew."""


class PartFacts(BaseModel):
    """What is in a part; `unseen` are its words that train does not have, `spans` are by type."""

    model_config = ConfigDict(frozen=True)

    sentences: int
    words: int
    unseen: int
    spans: dict[str, int]


class Metadata(KeptFacts):
    """The contents of `tagged.json`."""

    format: Literal["cellwright-tagged/1"] = FORMAT
    options: dict[str, str | int | bool]
    scheme: str
    types: list[str]
    cut: bool
    found: dict[str, Found]
    parts: dict[str, PartFacts]


SHELF = Shelf("tagged", Metadata, {"words": DTYPE, "tags": DTYPE, "offsets": OFFSETS})


def prepare(
    source: Source, options: Options, folder: Path, progress: Progress | None = None
) -> None:
    """Write the token files of tagged sentences into an empty folder."""
    raw = folder / "raw"
    raw.mkdir()
    ids, codes = Numbers[bytes](), Codes(options.given_source)
    files, texts, found = {}, {}, {}
    passing = Passing(source, progress)
    for part, text in source.texts.items():
        files[part] = SentenceFiles(raw, part)
        texts[part], found[part] = Rows(text, options, ids, codes, files[part]).read(
            passing.of(part)
        )
    cut = "valid" not in files
    if cut:
        files |= _cut(files["train"], source.texts["train"].label)
    counts = files["train"].word_counts(len(ids))
    by_type = {part: _span_counts(files[part], len(codes.types)) for part in PARTS}
    if not by_type["train"].any():
        raise DataError(
            f"{source.texts['train'].label} has no tags but O; there is nothing to learn"
        )
    order, tags = _tag_set(options.scheme, list(codes.types), by_type["train"])
    parts = {}
    for part in PARTS:
        unseen = _finish(files[part], folder, order, tags, counts)
        spans = {tags.types[order[n]]: int(many) for n, many in enumerate(by_type[part]) if many}
        parts[part] = PartFacts(
            sentences=files[part].sentences,
            words=files[part].words,
            unseen=unseen,
            spans=dict(sorted(spans.items())),
        )
    shutil.rmtree(raw)
    kept = SHELF.keep(folder, [word.decode("utf-8") for word in ids], counts, PARTS)
    SHELF.write_facts(
        folder,
        Metadata(
            options=asdict(options), scheme=tags.scheme, types=list(tags.types), cut=cut,
            texts=texts, found=found, parts=parts, files=kept,
        ),
    )  # fmt: skip


def _cut(train: SentenceFiles, label: str) -> dict[str, SentenceFiles]:
    """Take a tenth of the sentences of train for valid."""
    if train.sentences < 2:
        raise DataError(
            f"{label} has one sentence, and there is no file for the part 'valid'; a tenth of "
            "train's sentences would be taken for it"
        )
    valid, rest = drawn(train.sentences, CUT_SHARE)
    return train.split({"train": rest, "valid": valid})


def _span_counts(files: SentenceFiles, types: int) -> Array:
    counts = np.zeros(types, np.int64)
    for _, codes, offsets in files.blocks():
        counts += np.bincount(find(decoded(codes, offsets)).type, minlength=types)
    return counts


def _tag_set(scheme: str, types: list[str], in_train: Array) -> tuple[Array, TagSet]:
    """The new number of each type, and the tags. Types that train has come first, by the alphabet,
    so that other valid and test files do not change the numbers of what is learned."""
    ordered = sorted(range(len(types)), key=lambda n: (in_train[n] == 0, types[n]))
    order = np.empty(len(types), np.int64)
    order[ordered] = np.arange(len(types))
    return order, TagSet(scheme, tuple(types[n] for n in ordered))


def _finish(files: SentenceFiles, folder: Path, order: Array, tags: TagSet, counts: Array) -> int:
    """Put a part in its place with the tags' own numbers; returns how many words train lacks."""
    part, unseen = files.part.removeprefix("cut-"), 0
    with open(folder / f"{part}.tags.bin", "xb") as file:
        for words, codes, offsets in files.blocks():
            spans = find(decoded(codes, offsets))
            spans = spans._replace(type=order[spans.type])
            ids = tags.ids(mark(spans, offsets, tags.scheme))
            file.write(ids.astype(DTYPE).tobytes())
            unseen += int((counts[words] == 0).sum())
        sync(file)
    for what in ("words", "offsets"):
        files.move(what, folder / f"{part}.{what}.bin")
    return unseen
