"""Encoders for the package transformers: where their files are, and reading them.

Only files that are here are read, and of weights only safetensors; code that comes with a model is
not run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from cellwright.base.errors import reason, shown
from cellwright.base.optional import require
from cellwright.data import places
from cellwright.embeddings.errors import EmbeddingError, EmbeddingNotHereError

FOLDER = "encoders"
"""The folder in `CELLWRIGHT_DATA` that has them, each in a folder of its name."""

_CONFIG = "config.json"
_USED = (".json", ".txt", ".model", ".safetensors")
"""Endings of files that configurations, tokenizers and weights are read from."""


def transformers() -> Any:
    """The package.

    Raises:
        MissingPackageError: it is not installed.
    """
    return require("transformers", "an embedding of the kind transformer", "embeddings")


def find_encoder(name: str) -> Path:
    """The folder of an encoder that is at a path, in `CELLWRIGHT_DATA`, or in the hub's cache.

    Raises:
        EmbeddingError: there is none. The message says what to download, and where to put it.
    """
    data = places.data_folder()
    folders = [*([] if data is None else [data]), places.cache_folder()]
    for path in (Path(os.path.expanduser(name)), *(each / FOLDER / name for each in folders)):
        if os.path.isdir(path):
            if not os.path.isfile(path / _CONFIG):
                raise EmbeddingError(f"{path} has no {_CONFIG}, as the folder of an encoder has")
            return path
        if os.path.exists(path):
            raise EmbeddingError(f"{path} is a file; give the folder of the encoder")
    found = _in_the_hubs_cache(name)
    if found is not None:
        return found
    put = folders[0] / FOLDER / name
    raise EmbeddingNotHereError(
        f"no encoder {shown(name, 200)} on this machine: if the hub https://huggingface.co has it, "
        f"`hf download {name}` fetches it; or put its files {_CONFIG}, model.safetensors and "
        f"tokenizer.json into {put}, or give the path of their folder"
    )


def fingerprint(folder: Path, endings: tuple[str, ...] = _USED) -> str:
    """A hash of all files that features could depend on.

    Raises:
        EmbeddingError: one cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(folder.iterdir()):
            if path.suffix in endings and path.is_file():
                digest.update(f"{path.name} {path.stat().st_size}".encode())
                with open(path, "rb") as file:
                    while block := file.read(2**20):
                        digest.update(block)
    except OSError as error:
        raise EmbeddingError(f"{folder}: {reason(error)}") from None
    return digest.hexdigest()


def tokenizer_fingerprint(folder: Path) -> str:
    """A hash of all files that pieces of words could depend on."""
    return fingerprint(folder, tuple(each for each in _USED if each != ".safetensors"))


def read_config(folder: Path) -> Any:
    """What the encoder is."""
    with _told(folder, "its configuration"):
        return transformers().AutoConfig.from_pretrained(folder, **_SAFE)


def read_tokenizer(folder: Path) -> Any:
    """What cuts words into pieces, and knows which piece is of which word."""
    with _told(folder, "its tokenizer"):
        auto = transformers().AutoTokenizer
        made = auto.from_pretrained(folder, use_fast=True, add_prefix_space=True, **_SAFE)
    if not made.is_fast:
        raise EmbeddingError(
            f"{folder} has no fast tokenizer (tokenizer.json), which says what words pieces are of"
        )
    return made


def check_same_pieces(folder: Path, name: str) -> None:
    """Say so if an encoder does not have the pieces of another.

    Args:
        folder: of the encoder.
        name: of the other, as `find_encoder` takes it.

    Raises:
        EmbeddingError: it has others.
    """
    other = find_encoder(name)
    same = os.path.samefile(folder, other)
    if not same and read_tokenizer(folder).get_vocab() != read_tokenizer(other).get_vocab():
        raise EmbeddingError(
            f"the words are pieces of {other}, and {folder} has others; take the same encoder for "
            "both, or a tokenizer that gives words"
        )


def read_weights(folder: Path) -> Any:
    """The encoder itself, in float32, which draws no random numbers.

    Raises:
        EmbeddingError: it has no safetensors, or not all weights.
    """
    with _told(folder, "its weights"), torch.random.fork_rng(devices=()):
        model, about = transformers().AutoModel.from_pretrained(
            folder, use_safetensors=True, output_loading_info=True, **_SAFE
        )
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        model = model.float().eval().requires_grad_(False)
    # A pooler gives one vector for a sentence; many encoders come without, and none is needed.
    lacking = sorted(name for name in about["missing_keys"] if "pooler" not in name)
    if lacking:
        raise EmbeddingError(
            f"{folder} has no weights for {lacking[0]} ({len(lacking)} are missing)"
        )
    return model


_SAFE = {"trust_remote_code": False, "local_files_only": True}


def _in_the_hubs_cache(name: str) -> Path | None:
    hub = require("huggingface_hub", "an embedding of the kind transformer", "embeddings")
    try:
        return Path(hub.snapshot_download(name, local_files_only=True))
    except Exception:  # no valid name, or nothing of it is there
        return None


@contextlib.contextmanager
def _told(folder: Path, what: str) -> Iterator[None]:
    """Reads without a word on the screen; what goes wrong, in whatever way, becomes one line."""
    logging = transformers().utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except Exception as error:
        why = " ".join(str(error).split())[:300]
        raise EmbeddingError(f"{folder}: {what} cannot be read: {why}") from None
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
