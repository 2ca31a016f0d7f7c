"""Names of nodes, inputs and cells as names of Python."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from torch import nn

from cellwright.cell.names import parse_input

FILE_NAMES = frozenset(
    {"F", "Dict", "List", "Optional", "Path", "Tensor", "Tuple", "Weights", "nn", "torch", "math"}
    | {"LanguageModel", "backwards", "last_steps", "load", "self", "step"}
    | {"Tagger", "best_path", "SentenceModel", "Head", "largest", "mean", "attended"}
    | {"WordTable", "LearnedVectors", "MixedLayers", "CharacterFilters"}
)
"""What an exported file calls by itself."""

TAKEN = FILE_NAMES | set(dir(nn.Module())) | set(dir(builtins)) | {"bound", "training"}
"""What neither a variable nor a weight may be called there."""


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """A Python name for each name, the name itself where it is one; no two are the same.

    >>> identifiers(["s", "n-1", "n_1", "lambda"])
    {'s': 's', 'n-1': 'n_1_2', 'n_1': 'n_1', 'lambda': 'lambda_'}
    """
    given = list(dict.fromkeys(names))
    used = set(taken) | {name for name in given if _is_free(name)}
    found: dict[str, str] = {}
    for name in given:
        found[name] = name if _is_free(name) and name not in taken else _free(_plain(name), used)
        used.add(found[name])
    return found


def input_identifier(name: str) -> str:
    """The variable that holds an input of a cell.

    >>> input_identifier("x@2"), input_identifier("h0")
    ('x_back2', 'h0')
    """
    known = parse_input(name)
    assert known is not None
    return known.name.replace("@", "_back")


def class_name(name: str) -> str:
    """A cell's name as the name of a class.

    >>> class_name("darts-v1"), class_name(""), class_name("list")
    ('DartsV1', 'Network', 'ListNetwork')
    """
    words = re.findall(r"[A-Za-z0-9]+", name)
    joined = "".join(word[0].upper() + word[1:] for word in words)[:60]
    if not joined:
        return "Network"
    if joined[0].isdigit():
        joined = f"Cell{joined}"
    return joined if _is_free(joined) else f"{joined}Network"


def _is_free(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and name not in TAKEN


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _free(name: str, used: set[str]) -> str:
    if not _is_free(name):
        name += "_"
    found, number = name, 1
    while found in used:
        number += 1
        found = f"{name.rstrip('_')}_{number}"
    return found
