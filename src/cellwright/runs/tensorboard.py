"""The same metrics as TensorBoard events, for those who have it installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellwright.base.errors import refused
from cellwright.base.files import make_inside
from cellwright.runs.errors import RunError
from cellwright.training.results import EpochDone, StepDone

FOLDER = "tensorboard"


class EventWriter:
    """Writes events into a run's folder; `tensorboard --logdir RUN` shows them.

    Args:
        run: the run's folder.
        steps: how many steps are done; later ones, of a process that was killed, are hidden.
    """

    def __init__(self, run: Path, steps: int) -> None:
        self._path = run / FOLDER
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise RunError(
                "TensorBoard is not installed; 'pip install cellwright[tensorboard]' gets it"
            ) from None
        make_inside(self._path)
        try:
            purge = steps + 1 if steps else None
            self._writer: Any = SummaryWriter(str(self._path), purge_step=purge)
        except OSError as error:
            raise refused("write", self._path, error) from None

    def add(self, event: StepDone | EpochDone, steps: int) -> None:
        """Write what was measured after so many steps."""
        if isinstance(event, StepDone):
            values = _named("step", event, "loss", "learning_rate", "speed")
        else:
            values = _named("epoch", event.record, "train", "valid", "test", "peak_memory")
        try:
            for name, value in values.items():
                self._writer.add_scalar(name, value, steps)
        except OSError as error:
            raise refused("write", self._path, error) from None

    def close(self) -> None:
        """Write what is left."""
        try:
            self._writer.close()
        except OSError as error:
            raise refused("write", self._path, error) from None


def _named(group: str, source: object, *names: str) -> dict[str, float]:
    return {f"{group}/{name}": getattr(source, name) for name in names}
