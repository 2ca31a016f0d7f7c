"""Options that commands which train or search have in common."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Data = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Data by name (builtin, ptb, wikitext-2, wikitext-103) or a folder. Default: the "
        "recipe's.",
    ),
]
TrainingRecipe = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE", help="How to train. Default: a laptop recipe that fits the data."
    ),
]


def _settings(example: str) -> Any:
    note = f"Another setting, as {example}. May be given again."
    return typer.Option("--set", metavar="KEY=VALUE", help=note)


Settings = Annotated[list[str] | None, _settings("training.epochs=3")]
SearchSettings = Annotated[list[str] | None, _settings("search.rounds=2")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Decides all that is drawn.")]


# -- where trainings run: commands that have several of them -------------------------------------


def executor_option(what: str, panel: str | None = None) -> Any:
    """Where something runs; in a panel of the help of its own, if one is named."""
    note = f"Where {what} run: in-process, local or ray."
    return typer.Option(metavar="WHERE", help=note, rich_help_panel=panel)


def address_option(panel: str | None = None) -> Any:
    """Of a cluster."""
    return typer.Option(metavar="ADDRESS", help="Of a Ray cluster.", rich_help_panel=panel)


def workers_option(what: str, panel: str | None = None) -> Any:
    """How many run at once."""
    note = f"{what} at once. Default: as many as there are cores for."
    return typer.Option(metavar="N", min=1, help=note, rich_help_panel=panel)


WHERE = "Where trainings run, and how long"
"""The panel of the options below."""

TrainingThreads = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, help="Of each training; part of its settings.", rich_help_panel=WHERE
    ),
]
LimitSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0.001,
        max=1e9,
        help="The most that an attempt at a training may take.",
        rich_help_panel=WHERE,
    ),
]
LimitGigabytes = Annotated[
    float | None,
    typer.Option(
        metavar="GB",
        min=0.001,
        max=1e6,
        help="The most memory that a training may hold.",
        rich_help_panel=WHERE,
    ),
]
TrainingRetries = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="How often a training that fails is tried again, from its last checkpoint.",
        rich_help_panel=WHERE,
    ),
]
