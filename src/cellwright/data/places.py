"""The folders that hold corpora, downloads and token files.

| variable | names |
|---|---|
| `CELLWRIGHT_DATA` | a folder of corpora, one folder each; only ever read |
| `CELLWRIGHT_CACHE` | where downloads and token files are kept; else the user's cache folder |
| `CELLWRIGHT_CACHE_LIMIT` | the most that features of words may take there |
"""

from __future__ import annotations

import os
from pathlib import Path

from cellwright.base.paths import from_anywhere


def data_folder() -> Path | None:
    """The folder that `CELLWRIGHT_DATA` names, or None."""
    named = os.environ.get("CELLWRIGHT_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """The folder that everything is kept in, which need not be there yet."""
    named = os.environ.get("CELLWRIGHT_CACHE")
    if named:
        return from_anywhere(named)
    import pooch  # type: ignore[import-untyped]

    return Path(pooch.os_cache("cellwright"))


def corpora_folder() -> Path:
    """Corpora that `cellwright data get` fetched, one folder each."""
    return cache_folder() / "corpora"


def downloads_folder() -> Path:
    """Archives as they were published, and parts of them."""
    return cache_folder() / "downloads"


def tokens_folder() -> Path:
    """Token files, one folder for each corpus."""
    return cache_folder() / "tokens"


def embeddings_folder() -> Path:
    """What embeddings have computed of words and sentences, one folder for each kind."""
    return cache_folder() / "embeddings"
