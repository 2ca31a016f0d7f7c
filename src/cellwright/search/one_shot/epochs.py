"""The epochs of a search as its metrics keep them, with every value looked at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from cellwright.base.validation import first_problem
from cellwright.runs.errors import RunError
from cellwright.runs.work_folder import METRICS
from cellwright.search.gradient.records import SearchEpoch
from cellwright.search.sharing.records import SharingEpoch

if TYPE_CHECKING:
    from cellwright.search.one_shot.folder import SeedFolder


def epochs_of(folder: SeedFolder) -> list[dict[str, Any]]:
    """The records of all epochs.

    Raises:
        RunError: the metrics are not there, or damaged; the message names the value.
    """
    found = [record for record in folder.metrics() if record.get("kind") == "epoch"]
    for record in found:
        listing = record.get("listing")
        shares = "diverged" in record or (isinstance(listing, dict) and "first" in listing)
        kind = SharingEpoch if shares else SearchEpoch
        try:
            TypeAdapter(kind).validate_json(json.dumps(record), strict=True)
        except ValidationError as error:
            raise RunError(
                f"{folder.path / METRICS} is damaged, or of another version of cellwright: an "
                f"epoch's {first_problem(error)}"
            ) from None
    return found
