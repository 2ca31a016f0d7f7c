"""What work that is kept in a folder is, and everything that is needed to have it again.

Of a run this is `run.json`.
"""

from __future__ import annotations

import json
import platform
import secrets
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
)
from typing_extensions import Self

from cellwright.base.json_values import dumps
from cellwright.base.validation import first_problem
from cellwright.cell import Cell
from cellwright.runs.earlier import info_of_today
from cellwright.runs.recipes import Recipe, recipe_from_json
from cellwright.tasks.metric import Metric
from cellwright.tasks.settings import TaskSettings

if TYPE_CHECKING:
    from cellwright.tasks.task import Task

NOTHING: Mapping[str, str] = {}

Status = Literal["running", "finished", "stopped", "diverged"]
"""What the folder says. Work that was killed still says "running"."""


class _Info(BaseModel):
    model_config = ConfigDict(frozen=True)


class CellInfo(_Info):
    """Which cell; the cell itself is in `cell.json`."""

    name: str
    id: str


class DataInfo(_Info):
    """Which data."""

    name: str = Field(description="data by name, or a folder that has it")
    fingerprint: str = Field(description="a hash of it")
    description: str = Field(description="its counts, for people")
    kept: dict[str, str] = Field({}, description="hashes of the files that the run keeps of it")


class WorkInfo(_Info):
    """What work of any kind that is kept in a folder depends on, and what has become of it."""

    earlier: ClassVar[str] = ""
    """The format before this one, which is read as well."""

    format: str
    id: str = Field(default_factory=lambda: secrets.token_hex(8), description="ties checkpoints")
    created: AwareDatetime = Field(default_factory=lambda: datetime.now().astimezone())
    status: Status = "running"
    metric: Metric = Field(description="what its losses are shown as")
    data: DataInfo
    seed: Annotated[int, Field(ge=0, strict=True)]
    backend: str = "auto"
    threads: int = Field(
        ge=1,
        le=10_000,
        strict=True,
        description="of torch; another number may change the last bits",
    )
    versions: dict[str, str] = Field(default_factory=lambda: versions())

    def to_json(self) -> bytes:
        """As it is written."""
        value = {**self.model_dump(), "created": self.created.isoformat()}
        return dumps(value, indent=2).encode("utf-8", "backslashreplace") + b"\n"

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """As it is read; a `ValueError` that says what is wrong if it is anything else."""
        value = _loads(text)
        found, wanted = _format_of(value), cls.model_fields["format"].default
        if found == cls.earlier:
            value, found = {**info_of_today(value), "format": wanted}, wanted
        if found != wanted:
            raise ValueError(f"its format is {found!r}, and this version reads {wanted!r}")
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise ValueError(first_problem(error)) from None

    def differences(self) -> list[str]:
        """What is not as it was when the work was begun, and may change the last bits."""
        now = versions()
        return [
            f"{name} was {then} and is {now.get(name)}"
            for name, then in self.versions.items()
            if now.get(name) != then
        ]


class RunInfo(WorkInfo):
    """All that a run depends on."""

    earlier: ClassVar[str] = "cellwright-run/1"

    format: Literal["cellwright-run/2"] = "cellwright-run/2"
    cell: CellInfo
    recipe: Annotated[
        SerializeAsAny[Recipe], BeforeValidator(lambda value: recipe_from_json(Recipe, value))
    ]


def describe(
    cell: Cell,
    task: Task[Any],
    recipe: Recipe,
    seed: int,
    backend: str,
    threads: int,
    kept: Mapping[str, str] = NOTHING,
) -> RunInfo:
    """The description of a new run, with the hashes of the files that it keeps of its data."""
    return RunInfo(
        cell=CellInfo(name=cell.name, id=cell.id),
        metric=task.metric,
        data=describe_data(task, recipe.task, kept),
        seed=seed,
        recipe=recipe,
        backend=backend,
        threads=threads,
    )


def describe_data(
    task: Task[Any], settings: TaskSettings, kept: Mapping[str, str] = NOTHING
) -> DataInfo:
    """Which data it is."""
    return DataInfo(
        name=settings.data,
        fingerprint=task.fingerprint,
        description=task.describe(),
        kept=dict(kept),
    )


def versions() -> dict[str, str]:
    """The versions that a result can depend on."""
    return {
        "cellwright": _version("cellwright"),
        "torch": _version("torch"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _loads(text: bytes) -> Any:
    """The values as they stand there: a cell may be called "NaN", and a setting that is a number
    takes that word as one by itself."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _format_of(value: Any) -> Any:
    return value.get("format") if isinstance(value, dict) else None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from its sources"
