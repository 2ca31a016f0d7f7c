"""What a kind of task has to say of a trained model beside its score: tables for people, and the
same for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cellwright.models.cell_model import CellModel
    from cellwright.tasks.task import Task


class Subject(NamedTuple):
    """A trained model, and the batches of a part of its task's data that it is looked at on."""

    name: str
    task: Task[Any]
    model: CellModel[Any]
    batches: Sequence[Any]


@dataclass(frozen=True)
class Table:
    """A table for people.

    Args:
        title: what it shows.
        columns: their names.
        rows: a text for each column.
        texts: how many columns have words, the first ones; the others have figures.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    texts: int = 1


@dataclass(frozen=True)
class Details:
    """What is shown of a model: tables, what JSON has, and of two models short facts."""

    tables: Sequence[Table]
    document: dict[str, Any]
    facts: Sequence[tuple[str, str]] = ()
