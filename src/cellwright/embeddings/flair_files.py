"""Files of Flair's character language models: where they are, and what is in them.

A model is a safetensors file with a file `chars.json` beside it, the list of its characters, or
Flair's own `.pt` file, which is read without running anything (`pickle_free`). Of the former the
name says in which direction it reads: it has `forward` or `backward` in it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from cellwright.base.errors import did_you_mean, reason, shown
from cellwright.base.regular_files import check_mapped, read_regular
from cellwright.data import places
from cellwright.embeddings.errors import EmbeddingError, EmbeddingNotHereError
from cellwright.embeddings.pickle_free import Plain, read_pickled

CHARACTERS = "chars.json"

_ADDRESS = "https://flair.informatik.hu-berlin.de/resources/embeddings/flair"

KNOWN_MODELS = {
    "news-forward-fast": "lm-news-english-forward-1024-v0.2rc",
    "news-backward-fast": "lm-news-english-backward-1024-v0.2rc",
    "news-forward": "news-forward-0.4.1",
    "news-backward": "news-backward-0.4.1",
}
"""Flair's English models by Flair's names for them, with the names of their files."""

_FOLDERS = ("flair-news-fast", "flair")


@dataclass(frozen=True)
class ModelFile:
    """What a file of a character language model holds."""

    path: Path
    tensors: dict[str, Tensor]
    characters: dict[str, int]
    forwards: bool
    start: str = "\n"


def find_model(name: str | os.PathLike[str]) -> Path:
    """The file of a model that is named, or at a path.

    Raises:
        EmbeddingError: there is none. The message says where to get it and where to put it.
    """
    text = os.fspath(name)
    if text not in KNOWN_MODELS:
        path = Path(os.path.expanduser(text))
        if os.path.isdir(path):
            raise EmbeddingError(f"{text} is a folder; give the file .pt or .safetensors in it")
        if os.path.exists(path):
            return path
        hint = did_you_mean(text, KNOWN_MODELS) or f"; known are {', '.join(KNOWN_MODELS)}"
        raise EmbeddingError(
            f"no character language model {shown(text, 200)}{hint} (and no file of that name)"
        )
    stem = KNOWN_MODELS[text]
    data = places.data_folder()
    folders = [*([] if data is None else [data]), places.cache_folder()]
    for folder in folders:
        for inside in _FOLDERS:
            for ending in (".safetensors", ".pt"):
                path = folder / inside / f"{stem}{ending}"
                if os.path.isfile(path):
                    return path
    unset = "" if data is not None else " (CELLWRIGHT_DATA is not set)"
    raise EmbeddingNotHereError(
        f"{text} is not on this machine{unset}: take {stem}.pt from {_ADDRESS} and put it into "
        f"{folders[0] / _FOLDERS[-1]}, or give its path in place of the name"
    )


def read_model(path: Path, forwards: bool | None = None) -> ModelFile:
    """What is in the file of a model.

    Args:
        path: a `.safetensors` file with `chars.json` beside it, or Flair's `.pt` file.
        forwards: the direction; otherwise as the file or its name says.

    Raises:
        EmbeddingError: it is not there or damaged, or something else.
    """
    if path.suffix == ".safetensors":
        return _from_safetensors(path, forwards)
    return _from_flair(path, forwards)


def _from_safetensors(path: Path, forwards: bool | None) -> ModelFile:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        check_mapped(path)
        # Copies: what is mapped changes when somebody writes into the file.
        tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
        listed = json.loads(read_regular(path.with_name(CHARACTERS)))
    except OSError as error:
        raise EmbeddingError(f"{error.filename or path}: {reason(error)}") from None
    except SafetensorError:
        raise EmbeddingError(f"{path}: is cut off, or no safetensors file") from None
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise EmbeddingError(f"{path.with_name(CHARACTERS)}: is no list of characters")
    if forwards is None:
        said = [word for word in ("forward", "backward") if word in path.name]
        if len(said) != 1:
            raise EmbeddingError(
                f"{path}: its name should have either forward or backward in it, or say "
                "forwards=True or forwards=False"
            )
        forwards = said == ["forward"]
    return ModelFile(path, tensors, _numbered(path, dict(enumerate(listed))), forwards)


def _from_flair(path: Path, forwards: bool | None) -> ModelFile:
    value = read_pickled(path)
    keys = ("state_dict", "dictionary", "is_forward_lm")
    if not isinstance(value, dict) or any(key not in value for key in keys):
        raise EmbeddingError(f"{path}: is no character language model of Flair's")
    tensors, dictionary, said = (value[key] for key in keys)
    fits = isinstance(tensors, dict) and isinstance(dictionary, Plain) and isinstance(said, bool)
    items: Any = dictionary.state.get("item2idx") if fits else None
    if not isinstance(items, dict):
        raise EmbeddingError(f"{path}: is no character language model of Flair's")
    # A name of PyTorch's stands before weights that are tensors; anything else is not looked at.
    weights = {key: tensor for key, tensor in tensors.items() if isinstance(tensor, Tensor)}
    start = value.get("document_delimiter", "\n")
    if not isinstance(start, str):
        raise EmbeddingError(f"{path}: is no character language model of Flair's")
    forwards = said if forwards is None else forwards
    listed = {number: character for character, number in items.items()}
    return ModelFile(path, weights, _numbered(path, listed), forwards, start)


def _numbered(path: Path, listed: dict[Any, Any]) -> dict[str, int]:
    """Characters with their numbers. One that stands twice has the last, as in a dictionary."""
    found: dict[str, int] = {}
    for number, item in listed.items():
        try:
            character = item.decode("utf-8") if isinstance(item, bytes) else item
        except UnicodeDecodeError:
            character = None
        if type(number) is not int or number < 0 or not isinstance(character, str):
            raise EmbeddingError(f"{path}: its characters cannot be read: it is damaged")
        found[character] = number
    return found
