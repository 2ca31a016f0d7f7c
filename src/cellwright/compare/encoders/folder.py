"""`encoders.json`: which runs a folder measures, so that it is noticed if one is another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps, loads
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import first_problem
from cellwright.compare.encoders.encoder import Encoder
from cellwright.runs.errors import RunError

FILE = "encoders.json"


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    label: str
    path: str
    id: str
    epoch: int


_ENTRIES = TypeAdapter(list[_Entry])


def check_encoders(folder: Path, encoders: Sequence[Encoder]) -> None:
    """Say so if a folder was begun with another model under a label.

    Raises:
        RunError: it was, or its file is damaged.
    """
    now = {one.label: (one.id, one.epoch) for one in encoders}
    for entry in _read(folder / FILE):
        if now.get(entry.label, (entry.id, entry.epoch)) != (entry.id, entry.epoch):
            raise RunError(
                f"{folder} was made with another model {entry.label}: {entry.path} has been "
                "trained anew, or further, or is another run; choose another folder with -o"
            )


def write_encoders(folder: Path, encoders: Sequence[Encoder]) -> None:
    """Write down which runs there are."""
    entries = [_Entry(label=e.label, path=e.path, id=e.id, epoch=e.epoch) for e in encoders]
    text = dumps([entry.model_dump() for entry in entries], indent=2)
    write_whole(folder / FILE, text.encode("utf-8", "backslashreplace") + b"\n")


def _read(path: Path) -> list[_Entry]:
    try:
        return _ENTRIES.validate_python(loads(read_regular(path)))
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        return []
    except OSError as error:
        raise refused("read", path, error) from None
    except ValidationError as error:
        raise RunError(f"{path} is damaged: {first_problem(error)}") from None
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}") from None
