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

import hashlib
import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from cellwright.base.files import sync
from cellwright.base.progress import Progress
from cellwright.base.seeds import seed_for
from cellwright.data.cache import checksum_of, mapped
from cellwright.data.errors import DataError
from cellwright.data.prepare import DTYPE, Numbers, Read, stamp_of, write_synced
from cellwright.data.sources import PARTS, Source
from cellwright.data.tagged.options import Options
from cellwright.data.tagged.rows import OFFSETS, Codes, Files, Found, Rows, decoded
from cellwright.data.tagged.schemes import TagSet
from cellwright.data.tagged.spans import Numbers as Array
from cellwright.data.tagged.spans import find, mark
from cellwright.data.vocabulary import UNK, to_text

FORMAT: Literal["cellwright-tagged/1"] = "cellwright-tagged/1"
"""Changes when older token files no longer fit; they are then made anew."""

CUT_SHARE, CUT_SEED = 0.1, 0
"""What valid gets of train where there is no file for it."""

ARRAYS: dict[str, np.dtype[Any]] = {"words": DTYPE, "tags": DTYPE, "offsets": OFFSETS}
VOCABULARIES = ("words.tsv", "characters.tsv")

_BLOCK = 2**18


class PartFacts(BaseModel):
    """What is in a part; `unseen` are its words that train does not have, `spans` are by type."""

    model_config = ConfigDict(frozen=True)

    sentences: int
    words: int
    unseen: int
    spans: dict[str, int]


class Kept(BaseModel):
    """What a file must look like."""

    model_config = ConfigDict(frozen=True)

    size: int
    checksum: str


class Metadata(BaseModel):
    """The contents of `tagged.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["cellwright-tagged/1"] = FORMAT
    options: dict[str, str | int | bool]
    scheme: str
    types: list[str]
    cut: bool
    texts: dict[str, Read]
    found: dict[str, Found]
    parts: dict[str, PartFacts]
    files: dict[str, Kept]

    def to_json(self) -> bytes:
        """As it is written."""
        return json.dumps(self.model_dump(), indent=2, ensure_ascii=False).encode() + b"\n"


def prepare(
    source: Source, options: Options, folder: Path, progress: Progress | None = None
) -> None:
    """Write the token files of tagged sentences into an empty folder."""
    raw = folder / "raw"
    raw.mkdir()
    ids, codes = Numbers[bytes](), Codes(options.given_source)
    files, texts, found = {}, {}, {}
    total, done = sum(stamp_of(text).size for text in source.texts.values()), 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        if progress is not None and total:
            progress(f"reading {part}", done, total)

    for part, text in source.texts.items():
        files[part] = Files(raw, part)
        texts[part], found[part] = Rows(text, options, ids, codes, files[part]).read(advance)
    cut = "valid" not in files
    if cut:
        files |= _cut(files["train"], source.texts["train"].label)
    counts = _counts(files["train"], len(ids))
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
    words = [word.decode("utf-8") for word in ids]
    texts_of = dict(zip(VOCABULARIES, _vocabularies(words, counts), strict=True))
    for name, text_of in texts_of.items():
        write_synced(folder / name, text_of)
    kept = {name: Kept(size=len(t), checksum=_sha256(t)) for name, t in texts_of.items()}
    for part in PARTS:
        for what, dtype in ARRAYS.items():
            numbers = mapped(folder / f"{part}.{what}.bin", dtype)
            kept[f"{part}.{what}.bin"] = Kept(size=numbers.nbytes, checksum=checksum_of(numbers))
    metadata = Metadata(
        options=asdict(options), scheme=tags.scheme, types=list(tags.types), cut=cut, texts=texts,
        found=found, parts=parts, files=kept,
    )  # fmt: skip
    write_synced(folder / "tagged.json", metadata.to_json())


def _sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _opened(files: Files) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    return (
        mapped(files.path("words")),
        mapped(files.path("codes")),
        mapped(files.path("offsets"), OFFSETS),
    )


def _blocks(files: Files) -> Iterator[tuple[Array, Array, Array]]:
    """The sentences of a part, some at a time: words, codes, and offsets that begin with 0."""
    words, codes, offsets = _opened(files)
    first = 0
    while first < files.sentences:
        last = int(np.searchsorted(offsets, offsets[first] + _BLOCK, side="left"))
        last = min(max(last, first + 1), files.sentences)
        start, end = offsets[first], offsets[last]
        yield (
            words[start:end].astype(np.int64),
            codes[start:end].astype(np.int64),
            np.asarray(offsets[first : last + 1]) - start,
        )
        first = last


def _cut(train: Files, label: str) -> dict[str, Files]:
    """Take a tenth of the sentences of train for valid."""
    if train.sentences < 2:
        raise DataError(
            f"{label} has one sentence, and there is no file for the part 'valid'; a tenth of "
            "train's sentences would be taken for it"
        )
    many = max(1, round(CUT_SHARE * train.sentences))
    # Python promises that `random()` stays as it is; numpy promises nothing of the kind.
    draw = random.Random(seed_for(CUT_SEED, "valid of train"))
    chances = np.fromiter((draw.random() for _ in range(train.sentences)), np.float64)
    taken = np.zeros(train.sentences, bool)
    taken[np.argsort(chances, kind="stable")[:many]] = True
    new = {part: Files(train.folder, f"cut-{part}") for part in ("train", "valid")}
    done = 0
    for words, codes, offsets in _blocks(train):
        lengths = np.diff(offsets)
        here = taken[done : done + len(lengths)]
        done += len(lengths)
        for part, chosen in (("train", ~here), ("valid", here)):
            if chosen.any():
                of_words = np.repeat(chosen, lengths)
                ends = np.append(0, np.cumsum(lengths[chosen]))
                new[part].append(words[of_words], codes[of_words], ends)
    for files in new.values():
        files.sync()
    return new


def _counts(train: Files, many: int) -> Array:
    """How often train has each word."""
    counts = np.zeros(many, np.int64)
    for words, _, _ in _blocks(train):
        counts += np.bincount(words, minlength=many)
    return counts


def _span_counts(files: Files, types: int) -> Array:
    counts = np.zeros(types, np.int64)
    for _, codes, offsets in _blocks(files):
        counts += np.bincount(find(decoded(codes, offsets)).type, minlength=types)
    return counts


def _tag_set(scheme: str, types: list[str], in_train: Array) -> tuple[Array, TagSet]:
    """The new number of each type, and the tags. Types that train has come first, by the alphabet,
    so that other valid and test files do not change the numbers of what is learned."""
    ordered = sorted(range(len(types)), key=lambda n: (in_train[n] == 0, types[n]))
    order = np.empty(len(types), np.int64)
    order[ordered] = np.arange(len(types))
    return order, TagSet(scheme, tuple(types[n] for n in ordered))


def _finish(files: Files, folder: Path, order: Array, tags: TagSet, counts: Array) -> int:
    """Put a part in its place with the tags' own numbers; returns how many words train lacks."""
    part, unseen = files.part.removeprefix("cut-"), 0
    with open(folder / f"{part}.tags.bin", "xb") as file:
        for words, codes, offsets in _blocks(files):
            spans = find(decoded(codes, offsets))
            spans = spans._replace(type=order[spans.type])
            ids = tags.ids(mark(spans, offsets, tags.scheme))
            file.write(ids.astype(DTYPE).tobytes())
            unseen += int((counts[words] == 0).sum())
        sync(file)
    for what in ("words", "offsets"):
        os.rename(files.path(what), folder / f"{part}.{what}.bin")
    return unseen


def _vocabularies(words: list[str], counts: Array) -> tuple[bytes, bytes]:
    """The words and their characters, each with `<unk>` at the end unless it is a word itself."""
    characters: Counter[str] = Counter()
    for word, count in zip(words, counts.tolist(), strict=True):
        for character in word:
            characters[character] += count
    written = []
    for table in (dict(zip(words, counts.tolist(), strict=True)), dict(characters)):
        table.setdefault(UNK, 0)
        written.append(to_text(table.keys(), table.values()))
    return written[0], written[1]
