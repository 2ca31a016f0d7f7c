"""The command: which kind of search a recipe asks for, and the options of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellwright.cli.help import examples
from cellwright.cli.options import (
    Data,
    SearchSettings,
    Seed,
    address_option,
    executor_option,
    workers_option,
)
from cellwright.cli.output import stdout
from cellwright.cli.tables import Column, Listing
from cellwright.cli.train import check_name

EXAMPLES = examples(
    ("the recipes that come with cellwright", "cellwright search --list-recipes"),
    (
        "a joint search inside and between cells, on the text that comes with Python",
        "cellwright search ess-laptop --set search.nodes=2 --set search.rounds=1 "
        "--set model.hidden=16 --set selection_cells=1 --name first",
    ),
    ("what it found", "cellwright cells show searches/first/found.json"),
    (
        "the best cell for a text in the time that you have; here a very short one",
        "cellwright search auto --minutes 0.1 --set method.epochs=2 --set child.model.hidden=8 "
        "--set text.train=4000 --set final.seeds=1 --executor in-process",
    ),
    (
        "inside the cell alone, with two seeds, of which the better is chosen by training",
        "cellwright search ess-laptop --search intra --seeds 2 --set search.nodes=2 "
        "--set search.rounds=1 --set model.hidden=16 --set selection_cells=1 "
        "--set selection_epochs=1",
    ),
)

_ONE_SHOT, _STUDY = (
    "One-shot searches (DARTS, I-DARTS, ESS, ENAS)",
    "Studies (one training a trial)",
)


def run(
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="RECIPE", help="A recipe by name, or a TOML file."),
    ] = None,
    data: Data = None,
    settings: SearchSettings = None,
    seed: Seed = 0,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the search. Default: recipe and time.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Of this process, or of each worker of a study."),
    ] = None,
    list_recipes: Annotated[bool, typer.Option("--list-recipes", help="Show the recipes.")] = False,
    scope: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="SCOPE",
            help="intra (inside the cell), inter (between cells) or joint; short for "
            "--set search.scope=…",
            rich_help_panel=_ONE_SHOT,
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=1000,
            help="Search so often, from --seed on, and choose by short trainings.",
            rich_help_panel=_ONE_SHOT,
        ),
    ] = 1,
    out: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="The folder of searches.", rich_help_panel=_ONE_SHOT),
    ] = Path("searches"),
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="SEARCH",
            help="Go on with this search, by its folder or name.",
            rich_help_panel=_ONE_SHOT,
        ),
    ] = None,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.0,
            help="Between checkpoints within an epoch.",
            rich_help_panel=_ONE_SHOT,
        ),
    ] = 60.0,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Where studies are kept: a file, or postgresql://… Default: studies.db.",
            rich_help_panel=_STUDY,
        ),
    ] = None,
    executor: Annotated[str, executor_option("trials", _STUDY)] = "local",
    address: Annotated[str | None, address_option(_STUDY)] = None,
    workers: Annotated[int | None, workers_option("Trials", _STUDY)] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=10**9,
            help="Trials in all. Default: the recipe's.",
            rich_help_panel=_STUDY,
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=0.01,
            max=1e7,
            help="How long it may take, with the comparison at the end.",
            rich_help_panel=_STUDY,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=10**9,
            help="How many epochs of training it may take: the same cell every time.",
            rich_help_panel=_STUDY,
        ),
    ] = None,
    baseline: Annotated[
        bool,
        typer.Option(
            "--baseline",
            help="Then search at random at the same cost, and compare.",
            rich_help_panel=_STUDY,
        ),
    ] = False,
) -> None:
    """Search for a cell.

    'cellwright search auto --data TEXT --minutes 30' is for those who want a
    good cell, by whatever method. Other recipes have those of the papers.
    One-shot searches train one network for all cells of a space and read the
    cell off it; they are kept in a folder with the cell, its picture and how
    it settled. Studies train cell by cell, on as many workers as you like,
    and are kept in a store; auto is one.

    Ctrl-C loses nothing. A one-shot search goes on with --resume, a study with
    the same command again; both come to the same cell as if nothing had been,
    bit for bit.
    """
    if list_recipes:
        _print_recipes()
        return
    if resume is not None:
        given = {"RECIPE": recipe, "--data": data, "--set": settings, "--name": name,
                 "--threads": threads, "--search": scope}  # fmt: skip
        _refuse(given, "--resume goes on with a search as it was started")
        from cellwright.cli.search import one_shot

        one_shot.run(resume=resume, out=out, checkpoint_seconds=checkpoint_every)
        return
    if recipe is None:
        raise typer.BadParameter(
            "a RECIPE is missing, or --resume SEARCH; as in: cellwright search ess-laptop"
        )
    changes = list(settings or [])
    from cellwright.search.recipe_kinds import is_study  # recipes of searches import torch

    if is_study(recipe):
        from cellwright.cli.search import study

        _refuse({"--search": scope, "--seeds": seeds if seeds > 1 else None},
                "this recipe is a study")  # fmt: skip
        study.run(
            store,
            recipe=recipe,
            data=data,
            settings=changes,
            seed=seed,
            name=name,
            executor=executor,
            address=address,
            workers=workers,
            threads=threads,
            trials=trials,
            minutes=minutes,
            epochs=epochs,
            baseline=baseline,
        )
        return
    of_studies = {"--store": store, "--address": address, "--workers": workers, "--trials": trials,
                  "--minutes": minutes, "--epochs": epochs, "--baseline": baseline}  # fmt: skip
    _refuse(of_studies, "this recipe is a one-shot search, which trains no trials")
    if scope is not None:
        changes.append(f"search.scope={scope}")
    if name is not None:
        check_name(name)
    from cellwright.cli.search import one_shot

    one_shot.run(
        recipe=recipe,
        data=data,
        settings=changes,
        seed=seed,
        seeds=seeds,
        name=name,
        out=out,
        threads=threads,
        checkpoint_seconds=checkpoint_every,
    )


def _refuse(options: dict[str, Any], why: str) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise typer.BadParameter(f"{why}; leave out {', '.join(given)}")


def _print_recipes() -> None:
    from cellwright.search.recipe_kinds import described

    table = Listing(
        Column("recipe", style="cyan"),
        Column("data", 2),
        Column("what for", 1, short="fold", least=28),
    )
    for row in described():
        table.add(*row)
    stdout().print(table)
