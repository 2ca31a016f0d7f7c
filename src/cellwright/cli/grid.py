"""`cellwright grid`: a whole experiment, from start to end."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.compare import stopping
from cellwright.cli.help import examples
from cellwright.cli.options import address_option, executor_option, workers_option
from cellwright.cli.output import printable, say, stderr, stdout
from cellwright.cli.tables import Column, Listing, print_facts

if TYPE_CHECKING:
    from cellwright.api import GridFound

EXAMPLES = examples(
    ("the grids that come with cellwright", "cellwright grid --list-recipes"),
    (
        "a very small one: LSTM and others tuned alike, on a little text",
        "cellwright grid grid-first --executor in-process",
    ),
    ("its tables, for notes and papers", "cat grids/grid-first/results.md"),
)


def run(
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="RECIPE", help="A grid by name, or a TOML file."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Another setting, as stages.lstm.trials=5. May be given again.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the grid. Default: the recipe's.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of grids.")] = Path(
        "grids"
    ),
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Where studies are kept: a file, or postgresql://… Default: in the grid's folder.",
        ),
    ] = None,
    executor: Annotated[str, executor_option("trials and trainings")] = "local",
    address: Annotated[str | None, address_option()] = None,
    workers: Annotated[int | None, workers_option("Trials and trainings")] = None,
    threads: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of each trial and training.")
    ] = 1,
    list_recipes: Annotated[bool, typer.Option("--list-recipes", help="Show the grids.")] = False,
) -> None:
    """Carry out a whole experiment: tune, search, draw, train, and compare.

    A grid's recipe has stages that stand on each other, such as ENAS-pairs'
    experiment: tune an LSTM, search with its settings, draw ten cells, tune
    these, do the same with random cells and with those of other data. The
    folder gets a report (index.html) after each stage: what came out with the
    spread over seeds, what each row cost, and the best settings, also as CSV,
    Markdown and LaTeX.

    Ctrl-C loses nothing: the same command goes on. Seeds, and stages behind
    the others, may be added.
    """
    if list_recipes:
        _print_recipes()
        return
    if recipe is None:
        raise typer.BadParameter("a RECIPE is missing; as in: cellwright grid grid-first")
    from cellwright.api import grid
    from cellwright.cli.watching import Shown

    with stopping():
        found = grid(
            recipe,
            settings=settings,
            name=name,
            out=out,
            store=store,
            executor=executor,
            address=address,
            workers=workers,
            threads=threads,
            command=_command(store),
            watcher=Shown(),
        )
    _print(found)
    if found.status != "ok":
        raise typer.Exit(1)


def _command(store: str | None) -> str:
    """What the user typed, without a password."""
    from cellwright.trials.store.urls import shown_place

    words = sys.argv[1:]
    if store is not None:
        words = [word.replace(store, shown_place(store)) for word in words]
    return shlex.join(["cellwright", *words])


def _print(found: GridFound) -> None:
    from cellwright.report.grid.tables import result_rows, stage_words

    console = stdout()
    console.print()
    if found.figures.placed:
        header, rows = result_rows(found.figures)
        words = len(found.figures.headings)
        table = Listing(
            *(
                Column(title, 0 if place < words else place, right=place >= words)
                for place, title in enumerate(header)
            )
        )
        for row in rows:
            table.add(*row)
        console.print(table)
        console.print()
    print_facts(tuple(line.split(": ", 1)) for line in stage_words(found.figures))  # type: ignore[misc]
    for stage, one in found.figures.results.items():
        for why in one.failures:
            say(f"{stage}: {why}", "yellow", stderr())
    console.print()
    console.print(printable(f"report: {found.report}"), soft_wrap=True)


def _print_recipes() -> None:
    from cellwright.grids.recipes import grid_recipe_names, load_grid_recipe

    table = Listing(
        Column("recipe", style="cyan"),
        Column("stages", 2, right=True),
        Column("what for", 1, short="fold", least=28),
    )
    for name in grid_recipe_names():
        recipe = load_grid_recipe(name)
        table.add(recipe.name, str(len(recipe.stages)), recipe.description)
    stdout().print(table)
