"""The curve of a run, whether or not it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pydantic import ValidationError

from cellwright.base.validation import first_problem
from cellwright.runs.errors import RunError
from cellwright.runs.folder import METRICS, RunFolder
from cellwright.training.results import EpochRecord

_NAMES = [field.name for field in fields(EpochRecord)]


def curve_of(folder: RunFolder) -> tuple[EpochRecord, ...]:
    """One record for each epoch that has ended, by what the run has measured so far.

    Raises:
        RunError: the metrics are not there, or damaged.
    """
    records = (record for record in folder.metrics() if record.get("kind") == "epoch")
    try:
        return tuple(epoch_record(record) for record in records)
    except ValidationError as error:
        raise RunError(
            f"{folder.path / METRICS} is damaged, or of another version of cellwright: an epoch's "
            f"{first_problem(error)}"
        ) from None


def epoch_record(record: Mapping[str, Any]) -> EpochRecord:
    """An epoch as the metrics keep it; a `ValidationError` if a value is missing or wrong."""
    return EpochRecord(**{name: record[name] for name in _NAMES if name in record})
