"""Training a cell, and loading and measuring what was trained."""

from __future__ import annotations

from pathlib import Path

from cellwright.api.inputs import (
    Settings,
    TaskSource,
    as_cell,
    data_and_task,
    overrides,
    training_recipe,
)
from cellwright.api.progress import chosen
from cellwright.api.results import Evaluation, TrainedRun
from cellwright.api.watching import Watcher, say_dead, say_differences
from cellwright.base.cores import check_at_once
from cellwright.base.errors import UserError
from cellwright.base.threads import threads_for
from cellwright.cell import Cell
from cellwright.runs.folder import RUNS, RunFolder
from cellwright.runs.recipes import Recipe
from cellwright.runs.run import Run, fresh_run, reopen
from cellwright.runs.runner import train as work
from cellwright.runs.texts import score_on
from cellwright.runs.trained import load_trained
from cellwright.tasks.task import Part


def train(
    cell: Cell | str | Path | None = None,
    task: TaskSource | None = None,
    *,
    recipe: str | Path | Recipe | None = None,
    settings: Settings | None = None,
    epochs: int | None = None,
    seed: int = 0,
    name: str | None = None,
    out: Path | str = RUNS,
    resume: Path | str | None = None,
    threads: int | None = None,
    backend: str = "auto",
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    watcher: Watcher | None = None,
    progress: bool = True,
) -> TrainedRun:
    """Train a model around a cell; everything is kept in a run folder.

    Ctrl-C saves and stops; `cw.train(resume=run)` goes on, to the same weights bit for bit.

    Args:
        cell: a cell, a name of the zoo, or a file.
        task: what to learn: data by name or folder, or the table `[task]` of a recipe as a
            dictionary; the recipe's unless said.
        recipe: how to train, by name or file; one that fits the data unless said.
        settings: that go before the recipe's, as `{"model.hidden": 64}`.
        epochs: how often the data is read; the recipe's number unless said.
        seed: decides everything that is drawn.
        name: of the run's folder in `out`; made of cell, data, recipe and time unless said.
        out: where runs are.
        resume: a run to go on with, in place of all of the above.
        threads: to compute with; as many as torch has unless said.
        backend: of the engine.
        checkpoint_seconds: between checkpoints; there is one after each epoch anyway.
        tensorboard: write TensorBoard events too.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Raises:
        UserError: something that was given is wrong; nothing has been made then.
        Stopped: Ctrl-C was pressed; everything is saved.
    """
    told = chosen(watcher, progress)
    if resume is not None:
        if cell is not None or task is not None or recipe is not None or settings:
            raise UserError("a run that is resumed goes on as it was begun: leave out the rest")
        with told.reading() as reading:
            run = reopen(resume, runs=Path(out), progress=reading)
        say_differences(run.folder, told)
    elif cell is None:
        raise UserError("a cell is missing, or a run to resume")
    else:
        if threads is not None:
            check_at_once("threads", threads)
        with threads_for(threads):
            run = _fresh(
                as_cell(cell), task, recipe, overrides(settings, epochs=epochs), seed, name,
                Path(out), backend, told,
            )  # fmt: skip
    trained = run.folder.cell()
    say_dead(trained, f"the cell {trained.name or trained.id}", told)
    with told.training(run.folder, resume is not None) as watch:
        work(
            run.folder,
            run.training,
            watch=watch,
            checkpoint_seconds=checkpoint_seconds,
            tensorboard=tensorboard,
        )
    return TrainedRun(run.folder)


def _fresh(
    cell: Cell,
    task: TaskSource | None,
    recipe: str | Path | Recipe | None,
    settings: list[str],
    seed: int,
    name: str | None,
    out: Path,
    backend: str,
    told: Watcher,
) -> Run:
    data, about = data_and_task(task)
    path = None if name is None else out / name
    with told.reading() as reading:
        found, suggested = training_recipe(recipe, data, [*about, *settings], reading)
        if suggested:
            told.note(f"no recipe was named: {found.name} fits data of this size")
        return fresh_run(
            cell, found, seed, data=data, runs=out, path=path, backend=backend, progress=reading
        )


def load(run: Path | str, *, runs: Path | str = RUNS) -> TrainedRun:
    """A run by its folder, or by its name among `runs`; `.model` is the trained model.

    A folder that `export` has written is opened in the same way, wherever it is.

    Raises:
        UserError: there is no such run.
    """
    return TrainedRun(RunFolder.open(run, Path(runs)))


def evaluate(
    run: TrainedRun | Path | str,
    part: Part = "test",
    *,
    data: str | None = None,
    runs: Path | str = RUNS,
) -> Evaluation:
    """Measure a run's best weights on a part of its data.

    Args:
        run: a run, its folder or its name.
        part: "train", "valid" or "test".
        data: where the data is now, if it has moved; of a language model, any text by name or
            folder, read in the words of the model.
        runs: where runs are.

    Raises:
        UserError: there is no such run, or the data is other data that its model cannot read.
    """
    folder = run.folder if isinstance(run, TrainedRun) else RunFolder.open(run, Path(runs))
    trained = load_trained(folder.path, data=data)
    score = trained.score(part) if data is None else score_on(trained, part, data)
    return Evaluation(folder.info.metric, part, score.loss, dict(score.figures), trained.epoch)
