"""`cellwright train`: train a model around a cell, or go on with a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.cli import sources
from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.figures import duration, memory
from cellwright.cli.help import examples
from cellwright.cli.options import Data, Seed, Settings, TrainingRecipe
from cellwright.cli.output import say, stderr, stdout
from cellwright.cli.runs.options import SECOND, TRAIN, command, evaluate_command
from cellwright.cli.tables import Column, Listing, Whole, print_facts

if TYPE_CHECKING:
    from cellwright.api import TrainedRun

EXAMPLES = examples(
    ("the recipes that come with cellwright", "cellwright train --list-recipes"),
    ("a small GRU on the text that comes with Python", TRAIN[1]),
    SECOND,
)


def run(
    cell: Annotated[
        str | None,
        typer.Argument(
            metavar="CELL", help="A name from the zoo, a file of any format, or - for input."
        ),
    ] = None,
    data: Data = None,
    recipe: TrainingRecipe = None,
    settings: Settings = None,
    seed: Seed = 0,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="The folder of runs.")
    ] = Path("runs"),
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of the run. Default: cell, data, recipe and time."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many to use. Default: as many as cores."),
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write events for TensorBoard as well.")
    ] = False,
    checkpoint_every: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.0, help="Between checkpoints within an epoch."),
    ] = 60.0,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with this run, by its folder or name."),
    ] = None,
    list_recipes: Annotated[bool, typer.Option("--list-recipes", help="Show the recipes.")] = False,
) -> None:
    """Train a model around a cell.

    A run is a folder with everything in it: the cell, the recipe, the curve,
    the best weights. Ctrl-C saves it and stops, and so does the end of a
    batch job (SIGTERM); 'cellwright train --resume RUN' goes on as if nothing
    had been, to the same weights bit for bit. So it does after a crash, from
    the last checkpoint.

    On a terminal there are bars; elsewhere a line for each epoch. A cell whose
    loss diverges is a result, not an error.
    """
    if list_recipes:
        _print_recipes()
    elif resume is not None:
        new = {
            "CELL": cell, "--data": data, "--recipe": recipe, "--set": settings, "--name": name,
            "--threads": threads, "--seed": seed or None,
        }  # fmt: skip
        _refuse(new)
        _train(resume=resume, out=out, tensorboard=tensorboard, checkpoint_seconds=checkpoint_every)
    elif cell is None:
        raise typer.BadParameter("a CELL is missing, or --resume RUN; as in: cellwright train lstm")
    else:
        if name is not None:
            check_name(name)
        _train(
            cell=_one_cell(cell),
            task=data,
            recipe=recipe,
            settings=settings,
            seed=seed,
            name=name,
            out=out,
            threads=threads,
            tensorboard=tensorboard,
            checkpoint_seconds=checkpoint_every,
        )


# -- what to train -----------------------------------------------------------------------------


def _refuse(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise typer.BadParameter(
            f"--resume goes on with a run as it was started; leave out {', '.join(given)}"
        )


def _one_cell(name: str) -> Cell:
    loaded = sources.load([name])
    if len(loaded) != 1:
        raise typer.BadParameter(f"{name} has {len(loaded)} cells, and a run trains one")
    return loaded[0].cell


def check_name(name: str) -> None:
    """Say so if a name cannot be that of a folder."""
    if not name.strip(". ") or Path(name).name != name or not name.isprintable():
        raise typer.BadParameter(f"{name!r} is no name for a run's folder; --out says where it is")


# -- training ----------------------------------------------------------------------------------


def _train(**arguments: Any) -> None:
    from cellwright.api import train
    from cellwright.cli.watching import Shown
    from cellwright.runs.errors import RunError, Stopped

    watcher = Shown()
    try:
        trained = train(**arguments, watcher=watcher)
    except Stopped as stop:
        _print_stop(f"stopped {_where(watcher.latest)}; everything is saved", stop.folder)
        raise typer.Exit(128 + stop.signal) from None
    except KeyboardInterrupt:
        if watcher.run is None:
            raise
        _print_stop("interrupted at once; saved is the last checkpoint", watcher.run.path)
        raise typer.Exit(INTERRUPTED) from None
    except UserError as error:
        if watcher.run is None:
            raise
        go_on = command("train --resume", watcher.run.path)
        raise RunError(f"{error}\nonce that is put right: {go_on}") from None
    _print_result(trained)


def _where(latest: Any) -> str:
    if latest is None:
        return "before the first step"
    if latest.ends_epoch:
        return f"after epoch {latest.epoch:,}"
    return f"in epoch {latest.epoch:,}, after step {latest.step:,} of {latest.steps:,}"


# -- what is printed ---------------------------------------------------------------------------


def _print_recipes() -> None:
    from cellwright.runs.recipes import load_recipe, recipe_names

    table = Listing(
        Column("recipe", style="cyan"),
        Column("data", 2),
        Column("epochs", 3, right=True),
        Column("what for", 1, short="fold", least=28),
    )
    for name in recipe_names():
        recipe = load_recipe(name)
        table.add(name, recipe.task.data, f"{recipe.training.epochs:,}", recipe.description)
    stdout().print(table)


def _print_stop(line: str, path: Path) -> None:
    say(line, "yellow", stderr())
    say(f"go on: {command('train --resume', path)}", "", stderr())


def _print_result(trained: TrainedRun) -> None:
    folder, result = trained.folder, trained.result
    assert result is not None
    if result.status == "ok":
        ended = "finished"
    else:
        ended = f"diverged in epoch {len(result.curve) + 1}: {result.status}"
    facts = [("status", ended)]
    if trained.advice is not None:
        facts.append(("try", trained.advice))
    if result.best_epoch is not None:
        metric = trained.metric
        best = f"valid {metric.shown(result.valid)}, test {metric.shown(result.test)}"
        of = f"epoch {result.best_epoch:,} of {len(result.curve):,}"
        notes = "; ".join(filter(None, (of, metric.loss_shown(result.valid))))
        facts.append((metric.name, f"{best} ({notes})"))
    facts += [
        ("parameters", f"{result.parameters:,}"),
        ("time", duration(result.seconds)),
        ("memory", f"{memory(result.peak_memory)} at most"),
        ("run", Whole(folder.path)),
    ]
    if result.best_epoch is not None:
        facts.append(("next", Whole(evaluate_command(folder))))
        facts.append(("", Whole(command("runs plot", folder.path))))
    else:
        facts.append(("next", Whole(command("runs show", folder.path))))
    stdout().print()
    print_facts(facts)
