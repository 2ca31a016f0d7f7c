"""The epochs of a search as its metrics keep them, with every value looked at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from cellwright.base.validation import first_problem
from cellwright.cell.errors import CellError
from cellwright.runs.errors import RunError
from cellwright.runs.work_folder import METRICS
from cellwright.search.gradient.records import SearchEpoch
from cellwright.search.one_shot.cells import listed_cell
from cellwright.search.sharing.records import SharingEpoch

if TYPE_CHECKING:
    from cellwright.search.one_shot.folder import SeedFolder


def most_epochs(settings: Any) -> int | None:
    """How many epochs a search has at most, its rounds considered."""
    epochs: int = settings.epochs
    rounds = getattr(settings, "rounds", None)
    if rounds is None:
        return epochs
    groups = 2 if settings.scope == "joint" else 1
    in_rounds = settings.warmup_epochs + rounds * groups * settings.phase_epochs
    return min(epochs, int(in_rounds))


def epochs_of(folder: SeedFolder) -> list[dict[str, Any]]:
    """The records of all epochs.

    Raises:
        RunError: the metrics are not there, or damaged; the message names the value.
    """
    found = [record for record in folder.metrics() if record.get("kind") == "epoch"]
    for record in found:
        problem = _problem(record, found[0])
        if problem is not None:
            raise RunError(
                f"{folder.path / METRICS} is damaged, or of another version of cellwright: an "
                f"epoch's {problem}"
            )
    return found


def _problem(record: dict[str, Any], first: dict[str, Any]) -> str | None:
    """What is wrong with an epoch's record, by itself and beside the first one's."""
    listing = record.get("listing")
    shares = "diverged" in record or (isinstance(listing, dict) and "first" in listing)
    kind = SharingEpoch if shares else SearchEpoch
    try:
        TypeAdapter(kind).validate_json(json.dumps(record), strict=True)
        listed_cell(record["listing"])
    except ValidationError as error:
        return first_problem(error)
    except (CellError, LookupError, TypeError, ValueError) as error:
        return f"listing: {type(error).__name__}: {error}"
    same = record.get("watched", {}).keys() == first.get("watched", {}).keys()
    return None if same else "watched has other names than the first epoch's"
