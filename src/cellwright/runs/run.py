"""Starting runs: a new one from a cell and a recipe, or an old one from its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cellwright.base.progress import Progress
from cellwright.cell import Cell
from cellwright.data import KNOWN, Corpus, load
from cellwright.data.fingerprint import fingerprint
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RUNS, RunFolder
from cellwright.runs.info import describe
from cellwright.runs.recipes import Recipe
from cellwright.runs.runner import train
from cellwright.runs.work_folder import WorkFolder
from cellwright.training.results import Result
from cellwright.training.training import Training


@dataclass(frozen=True)
class Run:
    """A run that is ready for `train(run.folder, run.training)`."""

    folder: RunFolder
    training: Training
    corpus: Corpus


def fresh_run(
    cell: Cell,
    recipe: Recipe,
    seed: int = 0,
    *,
    data: str | None = None,
    data_folder: Path | None = None,
    runs: Path = RUNS,
    path: Path | None = None,
    backend: str = "auto",
    progress: Progress | None = None,
) -> Run:
    """Make a run's folder, after everything that could be wrong was looked at.

    Args:
        cell: the cell to train.
        recipe: how to train it.
        seed: decides everything that is drawn.
        data: a corpus by name or folder, in place of the recipe's.
        data_folder: where a named corpus is, if not in the usual places.
        runs: where the folder is made, under a name that says what it is.
        path: the folder itself, instead.
        backend: of the engine.
        progress: called while text is read for the first time.
    """
    if any(node.op == "mix" for node in cell.nodes):
        raise RunError(
            f"the cell {cell.name or cell.id} is a supernet: its mix nodes take their weights from "
            "a search; derive a cell from it and train that"
        )
    wanted = recipe.data if data is None else data
    place = None if data_folder is None else str(Path(data_folder).expanduser().absolute())
    corpus = load(wanted, folder=place, progress=progress)
    recipe = recipe.model_copy(update={"data": _anywhere(wanted)})
    training = Training(cell, corpus, recipe.model, recipe.training, seed, backend)
    threads = torch.get_num_threads()
    info = describe(cell, corpus, recipe, seed, backend, threads, place)
    return Run(RunFolder.create(info, cell, runs=runs, path=path), training, corpus)


def reopen(path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None) -> Run:
    """A run from its folder, ready to go on.

    Raises:
        RunError: it is not a run, has ended, or its text is not what it was.
    """
    folder = RunFolder.open(path, runs)
    folder.refuse_ended()
    cell, info = folder.cell(), folder.info
    corpus = corpus_of(folder, progress)
    recipe = info.recipe
    training = Training(cell, corpus, recipe.model, recipe.training, info.seed, info.backend)
    return Run(folder, training, corpus)


def resume(
    path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None, **how: Any
) -> Result:
    """Go on with a run, to its end; `how` is passed on to `train`."""
    run = reopen(path, runs=runs, progress=progress)
    return train(run.folder, run.training, **how)


def corpus_of(folder: WorkFolder[Any], progress: Progress | None = None) -> Corpus:
    """The text that a run, or a search, was made with.

    Raises:
        DataError: it is not there.
        RunError: it is another text now, whose words have other numbers than in the weights.
    """
    about = folder.info.data
    corpus = load(about.name, folder=about.folder, progress=progress)
    if fingerprint(corpus) != about.fingerprint:
        raise RunError(
            f"{folder.path} was trained on another text than {corpus.where} has now; "
            f"it was\n{about.description}\nand is\n{corpus.describe()}"
        )
    return corpus


def _anywhere(data: str) -> str:
    """A corpus's folder as a path that holds in any working directory."""
    return data if data in KNOWN else str(Path(data).expanduser().absolute())
