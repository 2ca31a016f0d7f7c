"""What a comparison over a suite is: `suite.json` in its folder, and a comparison for each task.

FOLDER/suite.json           which tasks there are
FOLDER/LABEL/               the comparison on a task (`compare/plan.py`)
FOLDER/index.html           the report, with results.json, table.csv and the tables for papers
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.base.folder_kinds import kind_of
from cellwright.base.json_values import dumps, loads
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import first_problem
from cellwright.compare.results import named
from cellwright.compare.suites.suite import Suite
from cellwright.runs.errors import RunError

FILE = "suite.json"


class _Made(BaseModel):
    """`suite.json`. How each task is trained is in the comparison on it."""

    model_config = ConfigDict(strict=True)

    format: Literal["cellwright-suite/1"] = "cellwright-suite/1"
    name: str
    title: str
    tasks: list[str] = Field(min_length=1)


def check_suite_place(folder: Path, suite: Suite) -> None:
    """Say so if a comparison over a suite cannot be in this folder.

    One that was begun is gone on with, and may get more tasks.

    Raises:
        RunError: it has something else, or tasks that the suite does not have.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is a file; a comparison is a folder")
        entries = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        kind = kind_of(folder) if entries else None
    except OSError as error:
        raise refused("read", folder, error) from None
    if FILE in entries:
        before = _read(folder / FILE).tasks
        gone = [label for label in before if label not in suite.labels]
        if gone:
            raise RunError(
                f"{folder} also has {named(gone)}, which the suite {suite.name} does not have; "
                "choose another folder with -o"
            )
        return
    strange = sorted(name for name in entries if not name.startswith("."))
    if strange:
        what = f"is {kind}" if kind else f"has other files, such as {strange[0]}"
        raise RunError(
            f"{folder} {what}, and no comparison over a suite; choose another folder with -o"
        )


def write_suite(folder: Path, suite: Suite) -> None:
    """Write down which tasks there are."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused("make", folder, error) from None
    made = _Made(name=suite.name, title=suite.title, tasks=list(suite.labels))
    text = dumps(made.model_dump(), indent=2).encode("utf-8", "backslashreplace")
    write_whole(folder / FILE, text + b"\n")


def _read(path: Path) -> _Made:
    try:
        return _Made.model_validate(loads(read_regular(path)))
    except OSError as error:
        raise refused("read", path, error) from None
    except ValidationError as error:
        raise RunError(
            f"{path} is damaged, or of another version: {first_problem(error)}"
        ) from None
    except ValueError as error:
        raise RunError(f"{path} is damaged, or of another version: {error}") from None
