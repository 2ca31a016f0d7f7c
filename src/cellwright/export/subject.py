"""What is exported: a cell, a network with its weights, or the model of a run."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cellwright.base.names import file_stem
from cellwright.cell import Cell
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent
from cellwright.export.as_python.source_text import plain_text
from cellwright.export.refusal import ExportError, exportable
from cellwright.runs.folder import RunFolder
from cellwright.runs.info import versions
from cellwright.runs.lost_files import no_weights
from cellwright.runs.model_folder import CONFIG
from cellwright.runs.trained import Trained, load_trained


@dataclass(frozen=True)
class CellSubject:
    """A cell, without weights of its own.

    Where a file needs weights they are fresh ones, drawn from `seed`.
    """

    cell: Cell
    input_size: int = 300
    hidden_size: int = 300
    num_layers: int = 1
    bidirectional: bool = False
    seed: int = 0

    @property
    def title(self) -> str:
        """What it is, in words."""
        return f"the cell {self.cell.name or self.cell.id}"

    @property
    def stem(self) -> str:
        """What files of it are called."""
        return file_stem(self.cell.name, self.cell.id)

    def about(self) -> dict[str, str]:
        """Where it comes from."""
        return about_cell(self.cell)

    def network(self) -> Recurrent:
        """A network of it with fresh weights.

        Raises:
            ExportError: there can be none of these sizes.
        """
        live = exportable(self.cell)
        projects = live.needs_equal_widths and self.input_size != self.hidden_size
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(self.seed)
            try:
                return Recurrent(
                    self.cell,
                    self.input_size,
                    self.hidden_size,
                    self.num_layers,
                    bidirectional=self.bidirectional,
                    project_input=projects,
                ).eval()
            except (ValueError, TypeError) as error:
                raise ExportError(f"{self.title}: {error}") from None


@dataclass(frozen=True)
class NetworkSubject:
    """A network with its weights."""

    rnn: Recurrent

    @property
    def title(self) -> str:
        """What it is, in words."""
        return f"a network of {self.rnn.cell.name or self.rnn.cell.id}"

    @property
    def stem(self) -> str:
        """What files of it are called."""
        return file_stem(self.rnn.cell.name, self.rnn.cell.id)

    def about(self) -> dict[str, str]:
        """Where it comes from."""
        return about_cell(self.rnn.cell)

    def network(self) -> Recurrent:
        """A copy, in main memory and single precision, that does not learn."""
        return copy.deepcopy(self.rnn).cpu().float().eval()


@dataclass(frozen=True)
class RunSubject:
    """The model of a run with its best weights."""

    trained: Trained

    @classmethod
    def of(cls, folder: RunFolder) -> RunSubject:
        """That of a run, or of an exported folder. The data need not be there.

        Raises:
            RunError: it has no weights, or is damaged.
            ExportError: the training has not ended.
        """
        if not folder.ended:
            if folder.best() is None:
                raise no_weights(folder)
            raise ExportError(
                f"{folder.path} has not ended: it is {folder.state}; '{folder.go_on}' goes on with "
                "it, and what has ended can be exported"
            )
        trained = load_trained(folder.path, alone=True)
        trained.model.eval()
        return cls(trained)

    @property
    def folder(self) -> RunFolder:
        """Where it is."""
        return self.trained.folder

    @property
    def title(self) -> str:
        """What it is, in words."""
        return f"the model of {self.folder.path}"

    @property
    def stem(self) -> str:
        """What files of it are called."""
        return file_stem(self.folder.path.absolute().name, self.folder.info.cell.id)

    def about(self) -> dict[str, str]:
        """Where it comes from."""
        info, result = self.folder.info, self.folder.result()
        said = {**about_cell(self.folder.cell()), "data": plain_text(Path(info.data.name).name)}
        if result is not None:
            shown = info.metric.shown
            said["metric"] = (
                f"{info.metric.name} {shown(result.valid)} valid, {shown(result.test)} test"
            )
        return {**said, "recipe": plain_text(info.recipe.name), "seed": str(info.seed)}

    def vocabularies(self) -> dict[str, str]:
        """What the numbers of words, characters, tags and labels mean, as JSON lists by name."""
        data: Any = getattr(self.trained.task, "corpus", None) or getattr(
            self.trained.task, "data", None
        )
        found = {
            "words": getattr(data, "vocabulary", None) and data.vocabulary.tokens,
            "characters": getattr(data, "characters", None) and data.characters.tokens,
            "tags": getattr(data, "tags", None) and data.tags.decode(range(len(data.tags))),
            "labels": getattr(data, "target", None) and data.target.labels,
        }
        return {name: json.dumps(list(each)) for name, each in found.items() if each}


Subject = CellSubject | NetworkSubject | RunSubject


def about_cell(cell: Cell) -> dict[str, str]:
    """What exported files say of a cell, and of what made them."""
    return {
        "cell": plain_text(cell.name) or "without a name",
        "cell id": cell.id,
        "made with": f"cellwright {versions()['cellwright']}",
    }


def find_run(name: str | Path, runs: Path) -> RunFolder | None:
    """The run, or the exported folder, that a name or a path means; None if it means none.

    Raises:
        UserError: it is a folder, but a damaged or another one.
    """
    path = RunFolder.place(name, runs)
    if not os.path.isdir(path):
        return None
    is_work = any(os.path.lexists(path / each) for each in (RunFolder.info_name, CONFIG))
    return RunFolder.open(path) if is_work or str(name) not in zoo else None
