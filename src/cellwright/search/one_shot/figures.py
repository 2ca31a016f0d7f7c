"""The figures of a search as its files have them, with every value looked at that is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from typing_extensions import NotRequired, TypedDict

from cellwright.base.errors import refused
from cellwright.base.json_values import loads
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import Count, Seconds, first_problem
from cellwright.runs.errors import RunError


class SeedFigures(TypedDict):
    """`result.json` of one seed; what only some searches have is there too."""

    status: str
    valid: float
    epochs: Count
    seconds: Seconds
    parameters: Count
    peak_memory: Count
    converged: NotRequired[bool]
    listing: NotRequired[dict[str, Any]]
    theta: NotRequired[dict[str, list[float]]]
    candidates: NotRequired[list[dict[str, Any]]]


class CandidateFigures(TypedDict):
    """A candidate in `selection.json`; searches of earlier versions had one for each seed."""

    seed: Count
    cell_id: str
    status: str
    supernet: float
    seconds: Seconds
    retrained: float | None
    retraining_seconds: Seconds
    number: NotRequired[Count]
    origin: NotRequired[str]
    epochs: NotRequired[Count]
    dead: NotRequired[bool]


class Selection(TypedDict):
    """`selection.json`."""

    chosen: Count
    candidates: list[CandidateFigures]


Figures = TypeVar("Figures", SeedFigures, Selection)


def read_figures(path: Path, kind: type[Figures]) -> Figures:
    """Read figures of a search.

    Raises:
        RunError: the file is damaged; the message names the value.
        FileError: it cannot be read.
    """
    try:
        value = loads(read_regular(path))
        TypeAdapter(kind).validate_python(value, strict=True)
    except OSError as error:
        raise refused("read", path, error) from None
    except ValidationError as error:
        raise RunError(f"{path} is damaged: {first_problem(error)}") from None
    except ValueError:
        raise RunError(f"{path} is damaged: it is not JSON") from None
    return cast("Figures", value)
