"""The root command. A new group of commands is one line here."""

from __future__ import annotations

from typing import Annotated

import typer

from cellwright.cli import (
    compare,
    encoders,
    evaluate,
    export,
    generate,
    glue_submission,
    grid,
    predict,
    search,
    sensitivity,
    similarity,
    studio,
    tag,
    train,
    tune,
)
from cellwright.cli.bench import app as bench
from cellwright.cli.cells import app as cells
from cellwright.cli.data import app as data
from cellwright.cli.errors import RootGroup
from cellwright.cli.help import Command, examples
from cellwright.cli.output import emit
from cellwright.cli.runs import app as runs
from cellwright.cli.studies import app as studies

app = typer.Typer(
    name="cellwright",
    cls=RootGroup,
    help="Find, train, compare and run recurrent cells for language.",
    epilog=examples(
        ("the cells that come with cellwright", "cellwright cells list"),
        ("one of them, as text and as a picture", "cellwright cells show gru"),
        ("", "cellwright cells draw gru -o gru.svg"),
        ("how to train a model around one", "cellwright train --list-recipes"),
        ("what a command does, with examples", "cellwright cells convert --help"),
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(cells, name="cells")
app.add_typer(data, name="data")
app.add_typer(bench, name="bench")
app.add_typer(runs, name="runs")
app.add_typer(studies, name="studies")
app.command("train", cls=Command, epilog=train.EXAMPLES)(train.run)
app.command("evaluate", cls=Command, epilog=evaluate.EXAMPLES)(evaluate.run)
app.command("tag", cls=Command, epilog=tag.EXAMPLES)(tag.run)
app.command("predict", cls=Command, epilog=predict.EXAMPLES)(predict.run)
app.command("export", cls=Command, epilog=export.EXAMPLES)(export.run)
app.command("generate", cls=Command, epilog=generate.EXAMPLES)(generate.run)
app.command("search", cls=Command, epilog=search.EXAMPLES)(search.run)
app.command("tune", cls=Command, epilog=tune.EXAMPLES)(tune.run)
app.command("compare", cls=Command, epilog=compare.EXAMPLES)(compare.run)
app.command("grid", cls=Command, epilog=grid.EXAMPLES)(grid.run)
app.command("sensitivity", cls=Command, epilog=sensitivity.EXAMPLES)(sensitivity.run)
app.command("similarity", cls=Command, epilog=similarity.EXAMPLES)(similarity.run)
app.command("encoders", cls=Command, epilog=encoders.EXAMPLES)(encoders.run)
app.command("studio", cls=Command, epilog=studio.EXAMPLES)(studio.run)
app.command("glue-submission", cls=Command, epilog=glue_submission.EXAMPLES)(glue_submission.run)


def _print_version(wanted: bool) -> None:
    if wanted:
        from cellwright import __version__

        known = __version__ != "0"
        emit(f"cellwright {__version__ if known else '(run from its sources, not installed)'}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options that stand before any command."""


def main() -> None:
    """The command of an installation that is older than these sources."""
    from cellwright.__main__ import main

    main()
