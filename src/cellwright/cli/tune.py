"""`cellwright tune`: the settings with which a cell learns best."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.figures import arrow, duration
from cellwright.cli.help import examples
from cellwright.cli.options import (
    Data,
    Seed,
    address_option,
    executor_option,
    workers_option,
)
from cellwright.cli.output import count, say, stderr, stdout
from cellwright.cli.runs.options import TRAIN
from cellwright.cli.search.study import print_stop, study_command
from cellwright.cli.studies.tables import NONE, ledger_table, value_of, verdict_lines
from cellwright.cli.tables import Column, Listing, Whole, print_facts

if TYPE_CHECKING:
    from cellwright.api import TuningFound
    from cellwright.search.tuning.results import TunedTrial
    from cellwright.tasks.metric import Metric

EXAMPLES = examples(
    ("the recipes that come with cellwright", "cellwright tune --list-recipes"),
    ("a small training, which is tuned below", TRAIN[1]),
    (
        "one trial; the same command with more of them goes on",
        "cellwright tune tune-laptop --set training=runs/gru/recipe.toml --trials 1",
    ),
    ("all trials with their settings", "cat studies/tune-laptop-0/trials.csv"),
)


def run(
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="RECIPE", help="A recipe for tuning, by name, or a TOML file."),
    ] = None,
    cells: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CELL", help="Cells to choose among: names or files. Default: the recipe's."
        ),
    ] = None,
    data: Data = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Another setting, as 'tune.training.batch=[16, 32]'. May be given again.",
        ),
    ] = None,
    seed: Seed = 0,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the study. Default: recipe and seed.")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=10**9, help="In all. Default: the recipe's."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.01, max=1e7, help="How long it may take."),
    ] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Then draw settings at random at the same cost.")
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Where studies are kept: a file, or postgresql://… Default: studies.db.",
        ),
    ] = None,
    executor: Annotated[str, executor_option("trials")] = "local",
    address: Annotated[str | None, address_option()] = None,
    workers: Annotated[int | None, workers_option("Trials")] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="Of each trial.")] = None,
    list_recipes: Annotated[bool, typer.Option("--list-recipes", help="Show the recipes.")] = False,
) -> None:
    """Look for the settings with which a cell learns best.

    A recipe's table \\[tune] says what varies: choices, ranges, ranges of
    logarithms, settings that follow others or hold only with others, and the
    cell itself. Each trial is a training with values of these, which TPE
    chooses by what came out before, or chance does. studies/NAME gets the best
    settings as a recipe (best.toml), the best cell, all trials (trials.csv)
    and pictures.

    Trials are kept in a store, on as many workers as you like. Ctrl-C loses
    nothing: the same command goes on, and with more --trials also later. No
    trial that has ended is run again.
    """
    if list_recipes:
        _print_recipes()
        return
    if recipe is None:
        raise typer.BadParameter("a RECIPE is missing; as in: cellwright tune tune-laptop gru")
    from cellwright.api import tune
    from cellwright.cli.watching import Shown
    from cellwright.trials.study import StudyStopped

    watcher = Shown()
    try:
        found = tune(
            recipe,
            cells or (),
            data,
            settings=settings,
            seed=seed,
            name=name,
            trials=trials,
            minutes=minutes,
            baseline=baseline,
            store=store,
            executor=executor,
            address=address,
            workers=workers,
            threads=threads,
            watcher=watcher,
        )
    except StudyStopped as stop:
        assert watcher.study is not None
        print_stop(watcher.study[0], store, stop.lost)
        raise typer.Exit(INTERRUPTED) from None
    _print(found, store)
    if found.status == "failed":
        for line in found.failures:
            say(f"failed: {line}", "yellow", stderr())
        raise typer.Exit(1)


def _print(found: TuningFound, place: str | None) -> None:
    from cellwright.search.studies.baseline import compare

    console = stdout()
    console.print()
    if found.best:
        console.print(_best_table(found.best[:5], found.metric))
    else:
        console.print(f"no trial has a value: {found.status}", style="yellow")
    if found.importance:
        console.print()
        say("how much of the differences between trials each setting explains")
        shares = ((name, _bar(share)) for name, share in found.importance.items())
        print_facts(shares)
    console.print()
    console.print(ledger_table(found.ledger, found.random, found.metric))
    if found.random is not None:
        console.print()
        verdict = compare(found.ledger, found.random)
        for line in verdict_lines(found.ledger, found.random, verdict, found.metric):
            say(line)
    console.print()
    print_facts((name, Whole(text)) for name, text in _next(found, place))


def _best_table(trials: Sequence[TunedTrial], metric: Metric) -> Listing:
    """A column for each of the best trials, a line for each setting."""
    table = Listing(
        Column("trial", style="dim"),
        *(Column(str(one.record.number), place, right=True) for place, one in enumerate(trials)),
    )

    def line(name: str, values: Iterator[str]) -> None:
        table.add(name, *values)

    line(arrow(metric), (value_of(one.loss, metric) for one in trials))
    line("test", (value_of(one.test, metric) if one.test == one.test else NONE for one in trials))
    names = list(dict.fromkeys(name for one in trials for name in one.values()))
    for name in names:
        line(name, (_written(one.values().get(name)) for one in trials))
    line(
        "time",
        (NONE if (took := one.record.seconds) is None else duration(took) for one in trials),
    )
    return table


def _written(value: Any) -> str:
    if value is None:
        return NONE
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _bar(share: float) -> str:
    return f"{100 * share:3.0f}%  {'▇' * round(30 * share)}"


def _next(found: TuningFound, place: str | None) -> Iterator[tuple[str, str]]:
    from cellwright.api.tuning import PICTURES

    folder = found.folder
    if found.best and folder is not None:
        recipe, cell = folder / "best.toml", folder / "best.json"
        yield "settings", str(recipe)
        yield "trials", f"{folder / 'trials.csv'} ({count(len(found.trials), 'trial')})"
        drawn = [name for name in PICTURES if (folder / name).exists()]
        if drawn:
            yield "pictures", f"{folder}/{', '.join(drawn)}"
        words = [str(cell), "--recipe", str(recipe), "--seed", str(found.best[0].seed)]
        yield "next", f"cellwright train {shlex.join(words)}"
    yield "" if found.best else "next", study_command("studies show", found.name, place)


def _print_recipes() -> None:
    from cellwright.search.tuning.recipes import load_tune_recipe, tune_recipe_names

    table = Listing(
        Column("recipe", style="cyan"),
        Column("data", 2),
        Column("what for", 1, short="fold", least=28),
    )
    for name in tune_recipe_names():
        recipe = load_tune_recipe(name)
        table.add(recipe.name, recipe.task.data, recipe.description)
    stdout().print(table)
