"""Files that work has written and that are gone: said before anything goes on without them.

The runner's order of writing (`runner.py`) says which files there have to be. What a kill between
two steps of it leaves is not damage, and goes on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cellwright.base.errors import FileError
from cellwright.runs.curves import curve_of
from cellwright.runs.errors import RunError
from cellwright.runs.folder import BEST, NEXT_BEST, RunFolder
from cellwright.runs.work_folder import LAST, METRICS, WorkFolder
from cellwright.training.results import best_of


class LostFileError(RunError):
    """A file is gone that cannot be done without. Nothing has been changed.

    Args:
        lost: which, and how one knows.
        advice: what to do.
    """

    def __init__(self, lost: str, advice: str) -> None:
        super().__init__(f"{lost}; {advice}")
        self.lost = lost


@contextlib.contextmanager
def or_move_away(folder: Path, again: str) -> Iterator[None]:
    """Say of work inside other work, whose place matters, how it is done anew in that place.

    Args:
        folder: of the work.
        again: what then does it again.
    """
    try:
        yield
    except LostFileError as error:
        advice = f"put it back, or move {folder} away: {again} then does it anew, to the same end"
        raise LostFileError(error.lost, advice) from None


def check_complete(folder: WorkFolder[Any]) -> None:
    """Say so if a file is gone without which going on would lose what has been done.

    Raises:
        LostFileError: one is gone.
    """
    path = folder.path
    if not os.path.lexists(path / LAST):
        sign = _sign_of_epochs(folder)
        if sign is not None:
            raise LostFileError(f"{path / LAST} is missing, though {sign}", _advice(folder))
        return
    epoch = _epoch_of_weights(folder)
    # First what takes the other's place: if it is gone, that has happened.
    if epoch is not None and epoch not in (_epoch_in(folder, NEXT_BEST), _epoch_in(folder, BEST)):
        raise LostFileError(_lost_weights(path, epoch), _advice(folder))


def no_weights(folder: RunFolder) -> RunError:
    """Why a run has no best weights."""
    path, epoch = folder.path, _best_epoch(folder)
    if epoch is None:
        more = "" if folder.state == "diverged" else f"; it is {folder.state}"
        return RunError(f"{path} has no weights yet, since no epoch has ended{more}")
    if _epoch_in(folder, NEXT_BEST) == epoch:
        return RunError(
            f"{path} was killed while its best weights took their place; '{folder.go_on}' makes up "
            "for it"
        )
    return LostFileError(_lost_weights(path, epoch), _advice(folder))


def _lost_weights(path: Path, epoch: int) -> str:
    if os.path.lexists(path / BEST):
        return f"{path / BEST} does not have the best weights, which are of epoch {epoch}"
    return f"{path / BEST} is missing, the weights of epoch {epoch}"


def _advice(folder: WorkFolder[Any]) -> str:
    return f"put it back, or {folder.anew}"


def _sign_of_epochs(folder: WorkFolder[Any]) -> str | None:
    """What shows that there was a checkpoint, if something does.

    The record of an epoch is written before its checkpoint, so as the last record it shows nothing.
    """
    if os.path.lexists(folder.path / BEST):
        return f"{BEST} is there"
    if not os.path.lexists(folder.path / METRICS):
        return None
    kinds = [record.get("kind") for record in folder.metrics()]
    ended = kinds[:-1].count("epoch")
    return None if not ended else f"{METRICS} has {kinds.count('epoch'):,} epochs"


def _best_epoch(folder: RunFolder) -> int | None:
    """The epoch that has validated best, by the checkpoint or else by the metrics."""
    epoch = _epoch_of_weights(folder)
    if epoch is not None:
        return epoch
    best = best_of(curve_of(folder))
    return None if best is None or _sign_of_epochs(folder) is None else best.epoch


def _epoch_of_weights(folder: WorkFolder[Any]) -> int | None:
    """The epoch of the best weights, as the checkpoint says; None too if it is damaged or of other
    work, which is told by who goes on from it."""
    position = _state(folder, LAST).get("position")
    epoch = position.get("best_epoch") if isinstance(position, dict) else None
    return epoch if type(epoch) is int else None


def _epoch_in(folder: WorkFolder[Any], name: str) -> int | None:
    """The epoch whose weights a file has, if it has any of this work."""
    epoch = _state(folder, name).get("epoch")
    return epoch if type(epoch) is int else None


def _state(folder: WorkFolder[Any], name: str) -> Mapping[str, Any]:
    """What a file of this work says beside its tensors; nothing if it is none."""
    from cellwright.runs.checkpoints import load_state

    with contextlib.suppress(FileError):
        state = load_state(folder.path / name)
        return state if state.get("run", folder.info.id) == folder.info.id else {}
    return {}
