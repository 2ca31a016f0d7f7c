"""From a recipe and a seed to a study that runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.base.files import remove
from cellwright.base.names import file_stem
from cellwright.base.progress import Progress
from cellwright.cell.zoo import zoo
from cellwright.search.blackbox.ask_tell import Method
from cellwright.search.blackbox.features import draw_pool
from cellwright.search.blackbox.methods import METHODS, method
from cellwright.search.studies.recipes import StudyRecipe, TrialsRecipe
from cellwright.spaces import Space
from cellwright.tasks.registry import file_hash, open_task
from cellwright.trials.executors import Call, Executor, Limits
from cellwright.trials.executors.choosing import executor_by_name
from cellwright.trials.store import Overview, Retries, Store
from cellwright.trials.study import Budget, run_study
from cellwright.trials.study.driver import Watch
from cellwright.trials.task_label import TaskLabel

EVALUATOR = "cellwright.trials.evaluator:train_trial"
"""What evaluates the trials of a study from a recipe."""

CHECKPOINTS = Path("checkpoints")
"""Where trainings are kept while a study runs. A path from the working directory, so that it is the
same for all drivers of a study; a machine that does not find it trains from the beginning."""

_PRUNED = ("hyperband", "asynchronous-hyperband", "auto")
"""The methods of which it is known early that nobody will go on with a trial."""


@dataclass(frozen=True)
class Prepared:
    """A study that is ready to run; everything that could be wrong was looked at."""

    recipe: TrialsRecipe
    name: str
    seed: int
    method: Method
    evaluate: Call
    task: TaskLabel
    budget: Budget = field(default_factory=Budget)

    @property
    def checkpoints(self) -> Path:
        """The folder in which its trainings are kept while it runs."""
        return Path(self.evaluate.arguments["checkpoints"])


def study_name(recipe: TrialsRecipe, seed: int) -> str:
    """What a study is called whose name nobody says: the same for the same command."""
    return f"{recipe.name}-{seed}"


def prepare(
    recipe: StudyRecipe,
    seed: int = 0,
    *,
    name: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """Make the method and the evaluator that a recipe describes.

    Args:
        recipe: of the study.
        seed: decides everything that is drawn.
        name: of the study; recipe and seed unless said.
        threads: that a trial computes with, in place of the recipe's.
        progress: called while data is read for the first time.

    Raises:
        UserError: a setting of the space or the method cannot be, a package is missing, or the
            data is not there.
    """
    called = study_name(recipe, seed) if name is None else name
    where = recipe.space.build()
    if recipe.pool is not None:
        where = draw_pool(where, recipe.pool.cells, recipe.pool.dimensions, seed=seed)
    settings = {**recipe.method.settings, "epochs": recipe.method.epochs}
    if "initial" in settings and recipe.method.kind in ("aging-evolution", "auto"):
        settings["initial"] = _named(settings["initial"], where)
    chosen = method(recipe.method.kind, where, seed=seed, **settings)
    call, task = evaluator(recipe, called, threads, progress)
    return Prepared(recipe, called, seed, chosen, call, task)


def _named(initial: Any, where: Space) -> Any:
    """Names of the zoo as cells; names that the space itself knows stay names."""
    if not isinstance(initial, list):
        return initial
    known = where.known()
    return [
        zoo[name] if isinstance(name, str) and name not in known and name in zoo else name
        for name in initial
    ]


def evaluator(
    recipe: TrialsRecipe, name: str, threads: int | None, progress: Progress | None
) -> tuple[Call, TaskLabel]:
    """What trains a trial as a recipe says, and the task that it is about."""
    child = recipe.child_recipe().on(None)
    task = open_task(child.task, progress)
    # The number of epochs is each trial's own, and names change nothing.
    how = child.model_dump(mode="json", include={"task", "model", "training"})
    arguments = {
        "recipe": how,
        "value": recipe.value,
        "most": recipe.text.limits(),
        "fingerprint": task.fingerprint,
        "threads": recipe.threads if threads is None else threads,
        "checkpoints": str(CHECKPOINTS / file_stem(name, "study")),
        "longest": recipe.epochs if _goes_on(recipe) else None,
    }
    code = file_hash(child.task.kind)
    if code is not None:
        arguments["code"] = code
    label = TaskLabel(child.task.kind, task.metric, task.describe())
    return Call(EVALUATOR, arguments), label


def _goes_on(recipe: TrialsRecipe) -> bool:
    """Whether trials may go on with earlier ones; those of a method of one's own may always."""
    kind = recipe.method.kind
    return kind in _PRUNED or kind not in METHODS


def make_executor(
    kind: str,
    recipe: TrialsRecipe,
    *,
    address: str | None = None,
    workers: int | None = None,
    threads: int | None = None,
) -> Executor:
    """Where the trials of a study run, within the recipe's limits.

    Args:
        kind: one of `choosing.EXECUTORS`.
        recipe: of the study.
        address: of a Ray cluster.
        workers: how many trials at once; as many as there are cores for unless said.
        threads: of each trial, in place of the recipe's.

    Raises:
        ExecutorError: there is no such kind, or it does not go with the other arguments.
    """
    each = recipe.threads if threads is None else threads
    seconds, gigabytes = recipe.limits.seconds, recipe.limits.gigabytes
    limits = Limits(seconds, None if gigabytes is None else int(gigabytes * 1e9))
    return executor_by_name(kind, workers=workers, threads=each, limits=limits, address=address)


def run_prepared(
    prepared: Prepared,
    store: Store,
    executor: Executor,
    *,
    trials: int | None = None,
    watch: Watch | None = None,
) -> Overview:
    """Work on a study until it has its trials; then remove the trainings that were kept.

    Args:
        prepared: the study.
        store: where it is kept.
        executor: where its trials run.
        trials: how many it shall have; the recipe's number unless said.
        watch: called for every event of this driver.

    Raises:
        StudyStopped: Ctrl-C was pressed; the same call goes on.
        StudyError: the study was begun with other settings, or too many trials failed in a row.
    """
    from cellwright.search.studies.pruning import Pruner

    recipe, target = prepared.recipe, prepared.recipe.trials if trials is None else trials
    if prepared.method.name in _PRUNED:
        watch = Pruner(prepared, store, target, watch)
    found = run_study(
        store,
        prepared.name,
        prepared.method,
        prepared.evaluate,
        executor,
        trials=target,
        task=prepared.task,
        window=recipe.window_of_budget(),
        retries=Retries(**recipe.retries.model_dump()),
        give_up_after=recipe.give_up_after,
        budget=prepared.budget,
        watch=watch,
    )
    remove(prepared.checkpoints)
    _remove_if_empty(prepared.checkpoints.parent)
    return found


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
