"""What the commands show while `api` works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from cellwright.api.watching import Watch, Watcher
from cellwright.base.errors import UserError
from cellwright.base.progress import Progress
from cellwright.cli.data.progress import bar
from cellwright.cli.figures import duration
from cellwright.cli.output import count, say, stderr, stdout
from cellwright.compare.plan import Plan
from cellwright.compare.running import missing
from cellwright.runs.curves import curve_of
from cellwright.runs.folder import RunFolder
from cellwright.search.one_shot.folder import SearchFolder, SeedFolder
from cellwright.search.one_shot.halving import Rung
from cellwright.search.studies.baseline import SUFFIX
from cellwright.search.studies.start import Prepared
from cellwright.trials.executors import Executor
from cellwright.trials.store import (
    Ledger,
    Store,
    best_trials,
    find_study,
    has_study,
    overview,
)


class Shown(Watcher):
    """Shows everything on standard output, and remembers where it is for a last line.

    Attributes:
        run: the training, once it has a folder.
        search: the one-shot search, once it has a folder.
        study: the study and its store, once it is prepared.
        latest: the last event of a training.
    """

    def __init__(self) -> None:
        self.run: RunFolder | None = None
        self.search: SearchFolder | None = None
        self.study: tuple[Prepared, Store] | None = None
        self.latest: Any = None

    def note(self, text: str) -> None:
        say(text, "dim")

    def warn(self, text: str) -> None:
        say(text, "yellow", stderr())

    def reading(self) -> AbstractContextManager[Progress]:
        return bar()

    # -- trainings -----------------------------------------------------------------------------

    @contextmanager
    def training(self, folder: RunFolder, resumed: bool) -> Iterator[Watch]:
        self.run, info = folder, folder.info
        what = f"{info.cell.name or info.cell.id} on {info.data.name}"
        how = f"recipe {info.recipe.name}, seed {info.seed}, {count(info.threads, 'thread')}"
        say(f"{what}: {how}")
        say(f"{'going on in' if resumed else 'into'} {folder.path}")
        with self._epochs(folder, resumed) as show:

            def watch(event: Any) -> None:
                self.latest = event
                show(event)

            yield watch

    def retraining(self, folder: RunFolder, resumed: bool) -> AbstractContextManager[Watch]:
        how = "on" if resumed else "from scratch"
        number = folder.path.name.removeprefix(f"retrained-{folder.info.seed}").lstrip("-")
        which = f"candidate {number} of seed" if number else "what seed"
        found = "" if number else " found"
        stdout().print(f"\n{which} {folder.info.seed}{found}, trained {how}")
        return self._epochs(folder, resumed)

    def choosing(
        self, folder: SearchFolder, plan: Sequence[Rung], workers: int
    ) -> AbstractContextManager[Watch]:
        from cellwright.cli.search.choice_progress import shown

        return shown(folder, plan, workers)

    @staticmethod
    def _epochs(folder: RunFolder, resumed: bool) -> AbstractContextManager[Watch]:
        from cellwright.cli.train_progress import shown

        info = folder.info
        earlier = curve_of(folder) if resumed else ()
        return shown(info.recipe.training.epochs, info.metric, earlier)

    # -- one-shot searches ---------------------------------------------------------------------

    def opened(self, folder: SearchFolder, resumed: bool) -> None:
        self.search, info = folder, folder.info
        what = f"{info.recipe.search.kind} on {Path(info.data.name).name}"
        seeds = ", ".join(map(str, info.seeds))
        many = f"seed{'s' if len(info.seeds) > 1 else ''} {seeds}"
        say(f"{what}: recipe {info.recipe.name}, {many}, {count(info.threads, 'thread')}")
        say(f"{'going on in' if resumed else 'into'} {folder.path}")

    def searching(self, folder: SeedFolder, resumed: bool) -> AbstractContextManager[Watch]:
        from cellwright.cli.search.progress import shown

        stdout().print(f"\nseed {folder.info.seed}{', going on' if resumed else ''}")
        return shown(folder.info.recipe.search, folder.info.metric)

    def searched(self, folder: SeedFolder) -> None:
        from cellwright.report.search_pictures import draw_search

        try:
            draw_search(folder)
        except UserError as error:
            self.warn(f"no pictures: {error}")

    # -- studies -------------------------------------------------------------------------------

    @contextmanager
    def studying(
        self, prepared: Prepared, store: Store, executor: Executor, target: int
    ) -> Iterator[Watch]:
        if self.study is None:
            self.study = prepared, store
            _say_study(prepared, store, executor, target)
        with _shown_study(prepared, store, target) as watch:
            yield watch

    def baseline_begins(self, prepared: Prepared, cost: Ledger) -> None:
        epochs = prepared.recipe.baseline == "epochs"
        amount = count(cost.epochs, "epoch") if epochs else f"{cost.seconds:,.0f} seconds"
        stdout().print()
        say(f"random search at the same cost, {amount}: {prepared.name}{SUFFIX}")

    # -- grids ---------------------------------------------------------------------------------

    def stage(self, number: int, total: int, what: str, left: float | None) -> None:
        self.study = None
        time = "" if left is None else f", about {duration(left)} left in all"
        stdout().print()
        say(f"stage {number} of {total}, {what}{time}", "bold")

    # -- comparisons ---------------------------------------------------------------------------

    def planned(self, plan: Plan) -> None:
        todo, total = len(missing(plan)), len(plan.runs)
        what = f"{count(len(plan.contenders), 'cell')}, {count(len(plan.seeds), 'seed')}"
        how = f"recipe {plan.recipe.name} on {Path(plan.recipe.task.data).name}"
        there = "" if todo == total else f", {total - todo:,} of them done before"
        say(f"{what}: {count(total, 'training')}{there}; {how}")

    def comparing(self, plan: Plan, workers: int) -> AbstractContextManager[Watch]:
        from cellwright.cli.compare_progress import shown

        return shown(plan, min(workers, len(missing(plan))))


def _say_study(prepared: Prepared, store: Store, executor: Executor, target: int) -> None:
    recipe, method = prepared.recipe, prepared.method
    data = Path(recipe.task.data).name
    space = method.space.name.rpartition("/")[2]  # one of the user's own is named by a path
    what = f"{prepared.name}: {method.name} over {space} on {data}"
    trials = f"{_amount(prepared, target)} of up to {count(recipe.epochs, 'epoch')}"
    say(f"{what}, {trials}, seed {prepared.seed}")
    if method.source is not None and method.source.file is not None:
        say(f"{method.name} runs the code of {method.source.file}")
    threads = prepared.evaluate.arguments["threads"]
    slots = executor.slots  # of a cluster that is starting, none yet
    at_once = f"{count(slots, 'trial')} at once" if slots else "as many trials at once as fit"
    say(f"{at_once}, of {count(threads, 'thread')} each; kept in {store.title}")
    if has_study(store, prepared.name):
        ended = overview(store, find_study(store, prepared.name)).ended
        stdout().print(f"going on: {count(ended, 'trial')} of it have ended")
    stdout().print()


def _amount(prepared: Prepared, target: int) -> str:
    """How many trials, or what they may take."""
    limits = prepared.recipe.budget
    if limits.epochs is not None:
        return f"{count(limits.epochs, 'epoch')} in trials"
    if limits.minutes is not None:
        return f"{limits.minutes:g} minutes for trials"
    return count(target, "trial")


def _shown_study(
    prepared: Prepared, store: Store, target: int
) -> AbstractContextManager[Callable[[Any], None]]:
    """Show a study, which may not be there yet."""
    from cellwright.cli.search.study_progress import SHOWN, shown

    def look() -> tuple[Any, list[Any]]:
        if not has_study(store, prepared.name):
            return _Nothing(), []
        study = find_study(store, prepared.name)
        return overview(store, study), best_trials(store, study, SHOWN)

    return shown(look, target, prepared.task.metric, prepared.budget)


class _Nothing:
    """The overview of a study that is not there yet."""

    ended = 0
    statuses: dict[str, int] = {}  # noqa: RUF012
    states = {"failed": 0}  # noqa: RUF012
