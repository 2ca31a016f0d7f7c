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
