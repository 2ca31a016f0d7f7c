"""Studies from the command line: running one, its random search, and what is printed at the end."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.output import count, file_stem, printable, stderr, stdout, write_whole
from cellwright.cli.search.study_progress import SHOWN, shown
from cellwright.cli.studies.tables import best_table, ledger_table, verdict_lines

if TYPE_CHECKING:
    from cellwright.search.studies.recipes import StudyRecipe
    from cellwright.search.studies.start import Prepared
    from cellwright.trials.executors import Executor
    from cellwright.trials.store import Ledger, Overview, Store, TrialRecord
    from cellwright.trials.study import Event

STORE = "studies.db"
"""Where studies are kept unless said."""

FOUND = Path("studies")
"""Where what was found is written, in a folder of the study's name."""


def run_study_command(
    recipe: StudyRecipe,
    *,
    seed: int,
    name: str | None,
    store: str | None,
    executor: str,
    address: str | None,
    workers: int | None,
    threads: int | None,
    trials: int | None,
    baseline: bool,
) -> None:
    """Work on a study until it has its trials, and then, if wanted, on its random search."""
    from cellwright.cli.data.progress import bar
    from cellwright.search.studies.start import make_executor, prepare
    from cellwright.trials.store import open_store
    from cellwright.trials.study import StudyStopped

    with bar() as progress:
        prepared = prepare(recipe, seed, name=name, threads=threads, progress=progress)
    place = STORE if store is None else store
    with (
        make_executor(executor, recipe, address=address, workers=workers, threads=threads) as where,
        open_store(place) as opened,
    ):
        try:
            _work(prepared, opened, where, trials, baseline)
        except StudyStopped:
            _print_stop(opened, prepared, store)
            raise typer.Exit(INTERRUPTED) from None
        _print_found(opened, prepared, store)


def _work(
    prepared: Prepared, store: Store, executor: Executor, trials: int | None, baseline: bool
) -> None:
    from cellwright.search.studies.baseline import SUFFIX, run_baseline
    from cellwright.search.studies.start import run_prepared
    from cellwright.trials.store import find_study, read_ledger

    target = prepared.recipe.trials if trials is None else trials
    _print_start(prepared, store, executor, target)
    with _shown(store, prepared, target) as watch:
        run_prepared(prepared, store, executor, trials=target, watch=watch)
    if not baseline:
        return
    cost = read_ledger(store, find_study(store, prepared.name))
    unit = prepared.recipe.baseline
    amount = count(cost.epochs, "epoch") if unit == "epochs" else f"{cost.seconds:,.0f} seconds"
    stdout().print()
    line = f"random search at the same cost, {amount}: {prepared.name}{SUFFIX}"
    stdout().print(printable(line), soft_wrap=True)
    beside = _Turns(store)
    try:
        run_baseline(prepared, store, executor, cost, unit=unit, watch=beside.next)
    finally:
        beside.close()


class _Turns:
    """Shows a random search, whose number of trials is settled turn by turn."""

    def __init__(self, store: Store) -> None:
        self._store, self._stack = store, ExitStack()

    def next(self, random: Prepared, target: int) -> Callable[[Event], None]:
        """Show the next turn."""
        self._stack.close()
        return self._stack.enter_context(_shown(self._store, random, target))

    def close(self) -> None:
        """Show no more."""
        self._stack.close()


@contextmanager
def _shown(store: Store, prepared: Prepared, target: int) -> Iterator[Callable[[Event], None]]:
    """Show a study, which may not be there yet."""
    from cellwright.trials.store import best_trials, find_study, has_study, overview

    def look() -> tuple[Any, list[TrialRecord]]:
        if not has_study(store, prepared.name):
            return _Nothing(), []
        study = find_study(store, prepared.name)
        return overview(store, study), best_trials(store, study, SHOWN)

    with shown(look, target, prepared.task.metric) as watch:
        yield watch


class _Nothing:
    """The overview of a study that is not there yet."""

    ended = 0
    statuses: dict[str, int] = {}  # noqa: RUF012
    states = {"failed": 0}  # noqa: RUF012


# -- what is printed ---------------------------------------------------------------------------


def _print_start(prepared: Prepared, store: Store, executor: Executor, target: int) -> None:
    from cellwright.trials.store import find_study, has_study, overview

    recipe, method = prepared.recipe, prepared.method
    what = (
        f"{prepared.name}: {method.name} over {recipe.space.kind} on {Path(recipe.task.data).name}"
    )
    trials = f"{count(target, 'trial')} of up to {count(recipe.method.epochs, 'epoch')}"
    line = f"{what}, {trials}, seed {prepared.seed}"
    stdout().print(printable(line), soft_wrap=True)
    threads = prepared.evaluate.arguments["threads"]
    slots = executor.slots  # of a cluster that is starting, none yet
    at_once = f"{count(slots, 'trial')} at once" if slots else "as many trials at once as fit"
    how = f"{at_once}, of {count(threads, 'thread')} each"
    stdout().print(printable(f"{how}; kept in {store.title}"), soft_wrap=True)
    if has_study(store, prepared.name):
        found: Overview = overview(store, find_study(store, prepared.name))
        stdout().print(f"going on: {count(found.ended, 'trial')} of it have ended")
    stdout().print()


def _print_stop(store: Store, prepared: Prepared, place: str | None) -> None:
    from cellwright.trials.store import find_study, has_study, overview

    ended = 0
    if has_study(store, prepared.name):
        ended = overview(store, find_study(store, prepared.name)).ended
    line = f"stopped; what has ended ({count(ended, 'trial')}) is kept in {store.title}"
    stderr().print(printable(line), style="yellow", soft_wrap=True)
    stderr().print("go on: the same command again", soft_wrap=True)
    stderr().print(printable(f"so far: {_command('studies show', prepared.name, place)}"))


def _print_found(store: Store, prepared: Prepared, place: str | None) -> None:
    from cellwright.search.studies.baseline import compare, read_baseline
    from cellwright.trials.store import best_trials, find_study, read_ledger

    console, study = stdout(), find_study(store, prepared.name)
    ledger = read_ledger(store, study)
    random = read_baseline(store, prepared.name)
    console.print()
    if ledger.best is None:
        console.print(f"none of {count(ledger.trials, 'trial')} has a value", style="yellow")
    else:
        console.print(best_table(best_trials(store, study, SHOWN), study.metric))
    console.print()
    console.print(ledger_table(ledger, random, study.metric))
    if random is not None:
        console.print()
        for line in verdict_lines(ledger, random, compare(ledger, random), study.metric):
            console.print(printable(line), soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for row in _next(store, prepared, ledger, random, place):
        table.add_row(*map(printable, row))
    console.print()
    console.print(table)


def _next(
    store: Store, prepared: Prepared, ledger: Ledger, random: Ledger | None, place: str | None
) -> Iterator[tuple[str, str]]:
    """What was written, and what can be done with it."""
    best, show = ledger.best, _command("studies show", prepared.name, place)
    if best is not None:
        folder = _write_found(store, prepared, ledger, random)
        yield "cell", f"{folder / 'best.json'} ({best.cell_id})"
        yield "picture", str(folder / "best.svg")
        recipe = prepared.recipe
        cell, data = shlex.quote(str(folder / "best.json")), shlex.quote(recipe.task.data)
        recipe_name = shlex.quote(recipe.training)
        yield "next", f"cellwright train {cell} --data {data} --recipe {recipe_name}"
        yield "", _command("studies plot", prepared.name, place)
        yield "", show
    else:
        yield "next", show


def _write_found(store: Store, prepared: Prepared, ledger: Ledger, random: Ledger | None) -> Path:
    """Write the best cell, its picture and the ledger into the study's folder."""
    from cellwright.trials.store import read_cell

    assert ledger.best is not None
    folder = FOUND / file_stem(prepared.name, "study")
    folder.mkdir(parents=True, exist_ok=True)
    cell = read_cell(store, ledger.best.cell_id).renamed(f"{prepared.name}-{ledger.best.number}")
    write_whole(folder / "best.json", cell.to_json() + "\n")
    cell.draw(folder / "best.svg")
    both = {"study": ledger.to_json(), "random": None if random is None else random.to_json()}
    write_whole(folder / "ledger.json", json.dumps(both, indent=2) + "\n")
    return folder


def _command(words: str, name: str, place: str | None) -> str:
    behind = "" if place is None else f" --store {shlex.quote(place)}"
    return f"cellwright {words} {shlex.quote(name)}{behind}"
