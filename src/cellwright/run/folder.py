"""A run is a folder.

| file | holds |
|---|---|
| `run.json` | cell, data, seed, recipe, versions, status (`info.py`) |
| `cell.json` | the cell |
| `recipe.toml` | the recipe with every setting, to read and to use again |
| `metrics.jsonl` | what was measured (`metrics.py`) |
| `last.safetensors` | everything that is needed to go on |
| `best.safetensors` | the weights of the epoch that validated best |
| `result.json` | the figures, once the run has ended |
| `lock` | held by the process that trains |
"""

from __future__ import annotations

import errno
import os
import re
import time
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cellwright.cell import Cell, CellError
from cellwright.cell.errors import did_you_mean
from cellwright.run.errors import RunError, refused
from cellwright.run.files import ENDING, remove, sync_folder, temporary_name, write_whole
from cellwright.run.info import RunInfo, Status
from cellwright.run.json_values import dumps, loads
from cellwright.run.locks import is_held, training_lock
from cellwright.run.metrics import read_metrics
from cellwright.run.recipes import recipe_to_toml

if TYPE_CHECKING:
    from cellwright.run.checkpoints import Checkpoint
    from cellwright.tasks.results import Result

RUNS = Path("runs")
"""Where runs are, unless said."""

INFO, CELL, RECIPE, METRICS = "run.json", "cell.json", "recipe.toml", "metrics.jsonl"
LAST, BEST, NEXT_BEST = "last.safetensors", "best.safetensors", "best.next.safetensors"
RESULT = "result.json"

_MAKING_SECONDS = 60
"""A folder younger than this may still be in the making, and not have its lock yet."""

State = Literal["running", "killed", "finished", "stopped", "diverged"]
"""What has become of a run: as its status, but a run that no process trains is not running."""


@dataclass
class RunFolder:
    """A run on disk. `info` is as it was when it was last read or written."""

    path: Path
    info: RunInfo

    # -- making and finding ----------------------------------------------------------------

    @classmethod
    def create(
        cls,
        info: RunInfo,
        cell: Cell,
        *,
        runs: Path = RUNS,
        path: Path | None = None,
    ) -> RunFolder:
        """Make a run's folder, which appears whole or not at all.

        Args:
            info: what the run is.
            cell: its cell.
            runs: where to make the folder, named by cell, data, recipe and time.
            path: the folder itself, if not there; it must not exist or be empty.

        Raises:
            RunError: it cannot be made, or `path` is taken.
        """
        files = {
            INFO: info.to_json(),
            CELL: cell.to_json().encode("utf-8", "backslashreplace") + b"\n",
            RECIPE: recipe_to_toml(info.recipe).encode("utf-8", "backslashreplace"),
            METRICS: b"",
        }
        wanted = runs / _name(info) if path is None else path
        temporary = temporary_name(wanted)
        try:
            wanted.parent.mkdir(parents=True, exist_ok=True)
            _sweep_half_made(wanted.parent)
            temporary.mkdir()
            with training_lock(temporary):
                for name, data in files.items():
                    write_whole(temporary / name, data)
                final = _renamed(temporary, wanted, numbered=path is None)
            sync_folder(final.parent)
        except OSError as error:
            raise refused("make", wanted, error) from None
        finally:
            remove(temporary)
        return cls(final, info)

    @classmethod
    def open(cls, path: Path | str, runs: Path = RUNS) -> RunFolder:
        """A run by its path, or by its name in `runs`.

        Raises:
            RunError: there is no such run, or the folder is not one. The message says which.
        """
        found = Path(path)
        if not found.exists() and not found.is_absolute() and (runs / found).is_dir():
            found = runs / found
        return cls(found, _read_info(found, runs))

    # -- what has become of it -------------------------------------------------------------

    @property
    def state(self) -> State:
        """What has become of it, by what was last read and whether a process trains in it."""
        if self.info.status == "running":
            return "running" if is_held(self.path) else "killed"
        return self.info.status

    def refresh(self) -> None:
        """Read `run.json` again."""
        self.info = _read_info(self.path, self.path.parent)

    def set_status(self, status: Status) -> None:
        """Write down what has become of it."""
        if status != self.info.status:
            info = self.info.model_copy(update={"status": status})
            write_whole(self.path / INFO, info.to_json())
            self.info = info

    # -- what is in it ---------------------------------------------------------------------

    def cell(self) -> Cell:
        """The cell that it trains."""
        path = self.path / CELL
        try:
            cell = Cell.from_json(path.read_bytes())
        except OSError as error:
            raise refused("read", path, error) from None
        except CellError as error:
            raise RunError(f"{path}: {error}") from None
        if cell.id != self.info.cell.id:
            raise RunError(
                f"{path} is not the cell that this run was made with: its id is {cell.id}, "
                f"and run.json says {self.info.cell.id}"
            )
        return cell

    def metrics(self) -> list[dict[str, Any]]:
        """All records that were written, oldest first."""
        return read_metrics(self.path / METRICS)

    def last(self) -> Checkpoint | None:
        """Where training would go on; None if it never got so far."""
        return self._checkpoint(LAST)

    def best(self) -> Checkpoint | None:
        """The weights of the epoch that validated best; None if no epoch has ended yet."""
        return self._checkpoint(BEST)

    def result(self) -> Result | None:
        """The figures of a run that has ended."""
        from cellwright.tasks.results import EpochRecord, Result

        path = self.path / RESULT
        try:
            value = loads(path.read_bytes())
            curve = tuple(EpochRecord(**record) for record in value.pop("curve"))
            return Result(**value, curve=curve)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused("read", path, error) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RunError(f"{path} is damaged") from None

    def write_result(self, result: Result) -> None:
        """Write down the figures."""
        write_whole(self.path / RESULT, dumps(asdict(result), indent=2).encode() + b"\n")

    def _checkpoint(self, name: str) -> Checkpoint | None:
        from cellwright.run.checkpoints import load_checkpoint

        path = self.path / name
        return load_checkpoint(path) if path.exists() else None


def is_half_made(folder: Path) -> bool:
    """Whether a folder was being made by a process that was killed since."""
    try:
        old = time.time() - folder.stat().st_mtime > _MAKING_SECONDS
    except OSError:
        return False
    return old and fnmatch(folder.name, f".*{ENDING}") and not is_held(folder)


def _sweep_half_made(runs: Path) -> None:
    for folder in runs.glob(f".*{ENDING}"):
        if is_half_made(folder):
            remove(folder)


def _read_info(path: Path, runs: Path) -> RunInfo:
    try:
        return RunInfo.from_json((path / INFO).read_bytes())
    except FileNotFoundError:
        if path.is_dir():
            raise RunError(f"{path} is not a run: it has no {INFO}") from None
        known = [entry.name for entry in runs.iterdir()] if runs.is_dir() else []
        hint = did_you_mean(path.name, known) or "; 'cellwright runs list' shows those there are"
        raise RunError(f"there is no run {path}{hint}") from None
    except NotADirectoryError:
        raise RunError(f"{path} is a file; a run is a folder") from None
    except OSError as error:
        raise refused("read", path / INFO, error) from None
    except ValueError as error:
        raise RunError(f"{path / INFO} is damaged, or of another version: {error}") from None


def _name(info: RunInfo) -> str:
    """The name of a run's folder.

    Made of cell, data, recipe and time, safe in every file system.
    """
    cell = info.cell.name or info.cell.id
    data = Path(info.data.name).name
    words = [cell, data, info.recipe.name, f"{info.created:%Y%m%d-%H%M%S}"]
    return "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip(".-")[:60] for word in words)


def _renamed(temporary: Path, wanted: Path, numbered: bool) -> Path:
    """Give the folder its name, which nothing else has; or that with a number behind."""
    for number in range(1, 1000):
        final = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            os.rename(temporary, final)  # in place of an empty folder at most
            return final
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            if not numbered:
                break
    raise RunError(f"{wanted} is there already; choose another name, or resume it if it is a run")
