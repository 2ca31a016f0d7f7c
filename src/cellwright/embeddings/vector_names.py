"""Word vectors that are known by name, where they are looked for, and how to get them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from cellwright.base.errors import did_you_mean, shown
from cellwright.data import places
from cellwright.embeddings.errors import EmbeddingError, EmbeddingNotHereError

FOLDER = "vectors"
"""The folder in `CELLWRIGHT_DATA` that has them."""


@dataclass(frozen=True)
class KnownVectors:
    """Published vectors: the file's name, what it comes in, and what they were trained on."""

    name: str
    file: str
    url: str
    title: str

    @property
    def files(self) -> tuple[str, ...]:
        """Names under which the file may lie there; a part of the words serves too."""
        name = PurePath(self.file)
        part = f"{name.stem}.subset{name.suffix}"
        return self.file, f"{self.file}.gz", part, f"{part}.gz"


_GLOVE = "https://nlp.stanford.edu/data"
_FASTTEXT = "https://dl.fbaipublicfiles.com/fasttext/vectors-english"

_TABLE = (
    *(
        KnownVectors(f"glove-{size}d", f"glove.6B.{size}d.txt", f"{_GLOVE}/glove.6B.zip",
                     f"GloVe, Wikipedia and Gigaword, {size} numbers")
        for size in (50, 100, 200, 300)
    ),
    KnownVectors("glove-840b", "glove.840B.300d.txt", f"{_GLOVE}/glove.840B.300d.zip",
                 "GloVe, Common Crawl, 300 numbers"),
    *(
        KnownVectors(f"glove-twitter-{size}d", f"glove.twitter.27B.{size}d.txt",
                     f"{_GLOVE}/glove.twitter.27B.zip", f"GloVe, Twitter, {size} numbers")
        for size in (25, 50, 100, 200)
    ),
    KnownVectors("fasttext-crawl", "crawl-300d-2M.vec", f"{_FASTTEXT}/crawl-300d-2M.vec.zip",
                 "fastText, Common Crawl, 300 numbers"),
    KnownVectors("fasttext-news", "wiki-news-300d-1M.vec",
                 f"{_FASTTEXT}/wiki-news-300d-1M.vec.zip",
                 "fastText, Wikipedia and news, 300 numbers"),
    KnownVectors("komninos", "komninos_english_embeddings",
                 "https://public.ukp.informatik.tu-darmstadt.de/reimers/embeddings/"
                 "komninos_english_embeddings.gz",
                 "by dependencies (Komninos and Manandhar 2016), Wikipedia, 300 numbers"),
    KnownVectors("word2vec-news", "GoogleNews-vectors-negative300.bin",
                 "https://code.google.com/archive/p/word2vec",
                 "word2vec, Google News, 300 numbers"),
)  # fmt: skip

KNOWN_VECTORS = {known.name: known for known in _TABLE}
"""Vectors by their names in recipes."""


def find_vectors(name: str | os.PathLike[str]) -> Path:
    """The file of vectors that are named, or at a path. A name goes before a file of that name;
    `./glove-50d` is always a file.

    Raises:
        EmbeddingError: there is none. The message says where to get it and where to put it.
    """
    text = os.fspath(name)
    if text in KNOWN_VECTORS:
        return _known(KNOWN_VECTORS[text])
    path = Path(os.path.expanduser(text))
    if os.path.isdir(path):
        raise EmbeddingError(f"{text} is a folder; give the file of vectors in it")
    if os.path.exists(path):
        return path
    if os.sep in text or "." in text:
        raise EmbeddingError(f"{shown(text, 200)[1:-1]}: no such file of vectors")
    hint = did_you_mean(text, KNOWN_VECTORS) or f"; known are {', '.join(KNOWN_VECTORS)}"
    raise EmbeddingError(f"unknown vectors {shown(text)}{hint} (and there is no file of that name)")


def _known(known: KnownVectors) -> Path:
    data = places.data_folder()
    folders = [*([] if data is None else [data / FOLDER]), places.cache_folder() / FOLDER]
    for folder in folders:
        for file in known.files:
            if os.path.isfile(folder / file):
                return folder / file
    packed = f"the archive {known.url}" if known.url.endswith(".zip") else known.url
    unset = "" if data is not None else " (CELLWRIGHT_DATA is not set)"
    raise EmbeddingNotHereError(
        f"{known.name} is not on this machine{unset}: take {known.file} from {packed} and put it, "
        f"as it is or gzipped, into {folders[0]}, or give its path in place of the name"
    )
