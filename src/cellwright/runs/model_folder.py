"""A trained model that was exported into a folder, opened as the run that it was.

The folder has what using the model needs, in files that others know as well: `config.json` with all
settings and the cell, `model.safetensors`, and the files that a run keeps of its data. What going
on with a training needs is not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError
from torch import Tensor

from cellwright.base.errors import refused, shown
from cellwright.base.json_values import dumps, loads
from cellwright.base.regular_files import check_mapped, open_regular, read_regular
from cellwright.base.validation import first_problem
from cellwright.cell import Cell, CellError
from cellwright.runs.checkpoints import Checkpoint
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.info import RunInfo
from cellwright.tasks.registry import is_built_in
from cellwright.training.results import EpochRecord, Result, best_of

CONFIG, WEIGHTS = "config.json", "model.safetensors"
MODEL_TYPE, FORMAT = "cellwright", "cellwright-model/1"


class ModelFolder(RunFolder):
    """An exported model on disk."""

    noun: ClassVar[str] = "exported model"
    info_name: ClassVar[str] = CONFIG

    @classmethod
    def is_one(cls, path: Path) -> bool:
        """Whether a folder is an exported model, by the files that are in it."""
        return os.path.lexists(path / CONFIG) and not os.path.lexists(path / RunFolder.info_name)

    @classmethod
    def at(cls, path: Path) -> ModelFolder:
        """The exported model in a folder.

        Raises:
            RunError: its configuration is not one of cellwright's, or is damaged.
        """
        return cls(path, _info(path, _config(path)))

    def refresh(self) -> None:
        """Read again what it is."""
        self.__dict__.pop("config", None)
        self.info = _info(self.path, self.config)

    @cached_property
    def config(self) -> dict[str, Any]:
        """What `config.json` says."""
        return _config(self.path)

    def cell(self) -> Cell:
        """The cell of the model."""
        try:
            cell = Cell.from_json(json.dumps(self.config.get("cell")))
        except CellError as error:
            raise RunError(f"{self.path / CONFIG}: the cell: {error}") from None
        if cell.id != self.info.cell.id:
            raise RunError(f"{self.path / CONFIG} has another cell than the model was trained with")
        return cell

    def best(self) -> Checkpoint | None:
        """The weights of the epoch that validated best."""
        epoch = self.config.get("epoch")
        state = {"run": self.info.id, "epoch": epoch if type(epoch) is int else 0}
        return Checkpoint(_weights(self.path / WEIGHTS, self.config.get("weights_sha256")), state)

    def last(self) -> Checkpoint | None:
        """Nothing: there is no training to go on with."""
        return None

    def result(self) -> Result | None:
        """The figures of the training."""
        try:
            value = loads(json.dumps(self.config["result"]))
            curve = tuple(EpochRecord(**record) for record in value.pop("curve"))
            return Result(**value, curve=curve)
        except ValidationError as error:
            raise RunError(f"{self.path / CONFIG}: result: {first_problem(error)}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RunError(f"{self.path / CONFIG}: result is damaged") from None

    def metrics(self) -> list[dict[str, Any]]:
        """A record for each epoch."""
        result = self.result()
        curve = () if result is None else result.curve
        best = best_of(curve)
        return [{"kind": "epoch", **each.to_json(), "best": each is best} for each in curve]


def config_of(
    info: RunInfo, cell: Cell, result: Result, epoch: int, weights: str
) -> dict[str, Any]:
    """What `config.json` says of a model.

    Args:
        info: of its run.
        cell: of the model.
        result: the figures of its training.
        epoch: that its weights are of.
        weights: the hash of their file.
    """
    return {
        "model_type": MODEL_TYPE,
        "format": FORMAT,
        "task": info.recipe.task.kind,
        "cell": json.loads(cell.to_json()),
        "epoch": epoch,
        "weights_sha256": weights,
        "run": json.loads(info.to_json()),
        "result": json.loads(dumps(result.to_json())),
    }


def _config(path: Path) -> dict[str, Any]:
    file = path / CONFIG
    try:
        value = json.loads(read_regular(file))
    except OSError as error:
        raise refused("read", file, error) from None
    except (ValueError, RecursionError):
        raise RunError(f"{file} is damaged: it is no JSON") from None
    if not isinstance(value, dict) or value.get("model_type") != MODEL_TYPE:
        raise RunError(f"{path} is neither a run nor a model that cellwright has exported")
    if value.get("format") != FORMAT:
        raise RunError(
            f"{file}: its format is {shown(value.get('format'))}, and this version reads {FORMAT!r}"
        )
    return value


def _info(path: Path, config: Mapping[str, Any]) -> RunInfo:
    file, run = path / CONFIG, config.get("run")
    kind = _at(run, "recipe", "task", "kind")
    if not isinstance(kind, str) or not is_built_in(kind):
        # Whatever else it names would be code that opening the folder runs.
        raise RunError(f"{file}: the task {shown(kind)} does not come with cellwright")
    try:
        return RunInfo.from_json(json.dumps(run).encode())
    except ValueError as error:
        raise RunError(f"{file} is damaged, or of another version: {error}") from None


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _weights(path: Path, digest: object) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        check_mapped(path)
        found = hashlib.sha256()
        with open_regular(path) as file:
            while block := file.read(2**20):
                found.update(block)
        if found.hexdigest() != digest:
            raise RunError(f"{path} is not what was exported: it is damaged, or was changed")
        return {name: tensor.clone() for name, tensor in load_file(path).items()}
    except OSError as error:
        raise refused("read", path, error) from None
    except SafetensorError:
        raise RunError(f"{path} is damaged: it is cut off, or no safetensors file") from None
