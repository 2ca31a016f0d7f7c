"""A run is a folder.

| file | holds |
|---|---|
| `run.json` | cell, data, seed, recipe, versions, status (`info.py`) |
| `cell.json` | the cell |
| `recipe.toml` | the recipe with every setting, to read and to use again |
| `vocabulary.txt` | of a language model, the words of its weights (`kept.py`) |
| `metrics.jsonl` | what was measured (`metrics_file.py`) |
| `last.safetensors` | everything that is needed to go on |
| `best.safetensors` | the weights of the epoch that validated best |
| `result.json` | the figures, once the run has ended |
| `lock` | held by the process that trains |
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import ValidationError

from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps, loads
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import first_problem
from cellwright.cell import Cell
from cellwright.runs.cell_file import cell_bytes, read_cell
from cellwright.runs.errors import RunError
from cellwright.runs.info import RunInfo
from cellwright.runs.recipes import recipe_to_toml
from cellwright.runs.work_folder import METRICS, RESULT, WorkFolder

if TYPE_CHECKING:
    from cellwright.runs.checkpoints import Checkpoint
    from cellwright.training.results import Result

__all__ = ["BEST", "METRICS", "NEXT_BEST", "RUNS", "RunFolder"]

NOTHING: Mapping[str, bytes] = {}

RUNS = Path("runs")
"""Where runs are, unless said."""

CELL, RECIPE = "cell.json", "recipe.toml"
BEST, NEXT_BEST = "best.safetensors", "best.next.safetensors"


class RunFolder(WorkFolder[RunInfo]):
    """A run on disk. `info` is as it was when it was last read or written."""

    noun: ClassVar[str] = "run"
    info_name: ClassVar[str] = "run.json"
    info_type: ClassVar[type[RunInfo]] = RunInfo
    resume: ClassVar[str] = "cellwright train --resume"
    hint: ClassVar[str] = "; 'cellwright runs list' shows those there are"

    @classmethod
    def create(
        cls,
        info: RunInfo,
        cell: Cell,
        kept: Mapping[str, bytes] = NOTHING,
        *,
        runs: Path = RUNS,
        path: Path | None = None,
    ) -> RunFolder:
        """Make a run's folder, which appears whole or not at all.

        Args:
            info: what the run is.
            cell: its cell.
            kept: files that it keeps of its data.
            runs: where to make the folder, named by cell, data, recipe and time.
            path: the folder itself, if not there; it must not exist or be empty.

        Raises:
            RunError: it cannot be made, or `path` is taken.
        """
        files = {
            CELL: cell_bytes(cell),
            RECIPE: recipe_to_toml(info.recipe).encode("utf-8", "backslashreplace"),
            **kept,
        }
        return cls.make(info, files, runs / _name(info) if path is None else path, path is None)

    @classmethod
    def open(cls, path: Path | str, runs: Path = RUNS) -> RunFolder:
        """A run by its path, or by its name in `runs`; also a model that was exported from one.

        Raises:
            RunError: there is no such run, or the folder is not one. The message says which.
        """
        from cellwright.runs.model_folder import ModelFolder

        place = cls.place(path, runs)
        return ModelFolder.at(place) if ModelFolder.is_one(place) else cls.find(path, runs)

    def refuse_ended(self) -> None:
        """Say so if there is nothing to go on with."""
        if self.ended:
            raise RunError(
                f"{self.path} has {self.info.status}, and there is nothing to resume; "
                f"'cellwright runs show {self.path}' shows what came out"
            )

    @property
    def anew(self) -> str:
        """What gives the same again, behind "put it back, or"."""
        path, info = self.path, self.info
        words = ["cellwright", "train", str(path / CELL), "--recipe", str(path / RECIPE)]
        words += ["--seed", str(info.seed), "--threads", str(info.threads)]
        words += ["--name", f"{path.absolute().name}-again"]
        words += ["--out", str(path.parent)] if path.parent != RUNS else []
        return f"train anew, to the same weights bit for bit:\n{shlex.join(words)}"

    # -- what is in it ---------------------------------------------------------------------

    def cell(self) -> Cell:
        """The cell that it trains."""
        path = self.path / CELL
        cell = read_cell(path)
        if cell.id != self.info.cell.id:
            raise RunError(
                f"{path} is not the cell that this run was made with: its id is {cell.id}, "
                f"and run.json says {self.info.cell.id}"
            )
        return cell

    def best(self) -> Checkpoint | None:
        """The weights of the epoch that validated best; None if no epoch has ended yet."""
        return self._checkpoint(BEST)

    def result(self) -> Result | None:
        """The figures of a run that has ended."""
        from cellwright.training.results import EpochRecord, Result

        path = self.path / RESULT
        try:
            value = loads(read_regular(path))
            curve = tuple(EpochRecord(**record) for record in value.pop("curve"))
            return Result(**value, curve=curve)
        except FileNotFoundError:
            if self.ended:
                raise RunError(
                    f"{path} is missing, though the run has {self.info.status}; put it back, or "
                    f"{self.anew}"
                ) from None
            return None
        except OSError as error:
            raise refused("read", path, error) from None
        except ValidationError as error:
            raise RunError(f"{path} is damaged: {first_problem(error)}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RunError(f"{path} is damaged") from None

    def write_result(self, result: Result) -> None:
        """Write down the figures."""
        write_whole(self.path / RESULT, dumps(result.to_json(), indent=2).encode() + b"\n")


def _name(info: RunInfo) -> str:
    """The name of a run's folder.

    Made of cell, data, recipe and time, safe in every file system.
    """
    cell = info.cell.name or info.cell.id
    data = Path(info.data.name).name
    words = [cell, data, info.recipe.name, f"{info.created:%Y%m%d-%H%M%S}"]
    return "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip(".-")[:60] for word in words)
