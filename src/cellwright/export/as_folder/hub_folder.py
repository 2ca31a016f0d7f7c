"""A trained model as a folder in Hugging Face's manner, which `cw.load` opens again anywhere."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from cellwright.base.json_values import dumps
from cellwright.base.regular_files import read_regular
from cellwright.cell import Cell
from cellwright.cell.draw.svg import render
from cellwright.export.as_folder.model_card import PICTURE, model_card
from cellwright.export.refusal import ExportError
from cellwright.runs.cell_file import cell_bytes
from cellwright.runs.folder import CELL, RECIPE
from cellwright.runs.info import RunInfo
from cellwright.runs.model_folder import CONFIG, WEIGHTS, config_of
from cellwright.runs.recipes import recipe_to_toml
from cellwright.runs.trained import Trained
from cellwright.tasks.registry import is_built_in, task_kind
from cellwright.training.results import Result

CARD = "README.md"


def weight_bytes(tensors: dict[str, Tensor]) -> bytes:
    """Weights as a safetensors file that every reader opens."""
    kept = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    data: bytes = save(kept, metadata={"format": "pt"})
    return data


def hub_folder(trained: Trained, name: str) -> dict[str, bytes]:
    """The files of the folder.

    Args:
        trained: a run's model with its best weights.
        name: what the folder is called.

    Raises:
        ExportError: the run has no figures, or its task is a plug-in's.
    """
    folder, kind = trained.folder, trained.folder.info.recipe.task.kind
    if not is_built_in(kind):
        raise ExportError(
            f"{folder.path} has learned the task {kind!r} of a plug-in: opening an exported folder "
            "runs no code, so it can hold the tasks that come with cellwright alone"
        )
    result = folder.result()
    if result is None:
        raise ExportError(f"{folder.path} has no result yet")
    info, cell = _without_places(folder.info), folder.cell()
    weights = weight_bytes(trained.model.state_dict())
    digest = hashlib.sha256(weights).hexdigest()
    config = config_of(info, cell, result, trained.epoch, digest)
    kept = {each: read_regular(folder.path / each) for each in info.data.kept}
    return {
        CONFIG: dumps(config, indent=2).encode("utf-8", "backslashreplace") + b"\n",
        WEIGHTS: weights,
        CELL: cell_bytes(cell),
        RECIPE: recipe_to_toml(info.recipe).encode("utf-8", "backslashreplace"),
        PICTURE: render(cell).encode("utf-8", "backslashreplace"),
        CARD: _card(name, trained, info, cell, result).encode("utf-8", "backslashreplace"),
        **kept,
    }


def _card(name: str, trained: Trained, info: RunInfo, cell: Cell, result: Result) -> str:
    task: Any = trained.task
    pairs = getattr(getattr(task, "data", None), "per_example", 1) == 2
    embeddings = getattr(info.recipe.task, "embeddings", ())
    needs = [
        f"{one.kind}: {', '.join(said) if isinstance(said, tuple) else said}"
        for one in embeddings
        if one.files is not None and (said := getattr(one, one.files))
    ]
    encoder = getattr(info.recipe.task, "encoder", "")
    needs += [f"tokenizer of {encoder}"] if encoder else []
    return model_card(name, info, cell, result, pairs, needs)


def _without_places(info: RunInfo) -> RunInfo:
    """The same without the folder that its data was in, which is nobody else's."""
    task = info.recipe.task
    known = task.data in task_kind(task.kind).names
    data = task.data if known else Path(task.data).name or "data"
    changes: dict[str, Any] = {"data": data}
    if getattr(task, "folder", None) is not None:
        changes["folder"] = None
    recipe = info.recipe.model_copy(update={"task": task.model_copy(update=changes)})
    first, *counts = info.data.description.splitlines()
    description = "\n".join([first.rpartition(", from ")[0] or first, *counts])
    about = info.data.model_copy(update={"name": data, "description": description})
    return info.model_copy(update={"recipe": recipe, "data": about})
