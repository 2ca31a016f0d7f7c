"""One-shot searches from the command line: starting, going on, and what is printed at the end."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from cellwright.base.errors import UserError
from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.figures import direction, duration, memory
from cellwright.cli.output import count, printable, stderr, stdout

if TYPE_CHECKING:
    from cellwright.cli.watching import Shown
    from cellwright.search.one_shot.folder import SearchFolder
    from cellwright.search.one_shot.searching import Candidate
    from cellwright.tasks.metric import Metric


def run(**arguments: Any) -> None:
    """Begin a search, or go on with one, and carry it through."""
    from cellwright.api import Found, search
    from cellwright.cli.watching import Shown
    from cellwright.runs.errors import RunError, Stopped

    watcher = Shown()
    try:
        found = search(**arguments, watcher=watcher)
    except Stopped as stop:
        _print_stop("stopped; everything is saved", _again(watcher))
        raise typer.Exit(128 + stop.signal) from None
    except KeyboardInterrupt:
        if watcher.search is None:
            raise
        _print_stop("interrupted at once; saved is the last checkpoint", _again(watcher))
        raise typer.Exit(INTERRUPTED) from None
    except UserError as error:
        if watcher.search is None:
            raise
        raise RunError(f"{error}\nonce that is put right: {_again(watcher)}") from None
    assert isinstance(found, Found)
    _print_found(found.folder, list(found.candidates))


def _again(watcher: Shown) -> str:
    assert watcher.search is not None
    return f"cellwright search --resume {shlex.quote(str(watcher.search.path))}"


# -- what is printed ---------------------------------------------------------------------------


def _print_stop(line: str, go_on: str) -> None:
    stderr().print(line, style="yellow", soft_wrap=True)
    stderr().print(printable(f"go on: {go_on}"), soft_wrap=True)


def _print_found(folder: SearchFolder, candidates: list[Candidate]) -> None:
    from cellwright.search.one_shot.searching import all_diverged

    console, chosen, metric = stdout(), candidates[0], folder.info.metric
    if len(candidates) > 1:
        console.print()
        console.print(_candidates(candidates, metric))
    figures = folder.seed_folder(chosen.seed).figures()
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    if figures["status"] == "ok":
        ended = "finished" + (", converged" if figures.get("converged") else "")
    else:
        ended = f"diverged after {count(figures['epochs'], 'epoch')}: {figures['status']}"
    table.add_row("status", ended)
    if figures["status"] != "ok":
        half = folder.info.recipe.search.learning_rate / 2
        table.add_row("try", f"the same with smaller steps: --set search.learning_rate={half:g}")
    table.add_row("valid", f"{metric.name} {metric.shown(chosen.supernet)} with the shared weights")
    table.add_row("parameters", f"{figures['parameters']:,} while searching")
    searched = sum(each.seconds for each in candidates)
    retrained = sum(each.retraining_seconds for each in candidates)
    extra = f", and {duration(retrained)} for the choice" if retrained else ""
    table.add_row("time", duration(searched) + extra)
    table.add_row("memory", f"{memory(figures['peak_memory'])} at most")
    cell = shlex.quote(str(folder.path / "found.json"))
    table.add_row("cell", printable(f"{folder.path / 'found.json'} ({chosen.cell_id})"))
    table.add_row("picture", printable(str(folder.path / "found.svg")))
    seed = folder.path / f"seed-{chosen.seed}"
    drawn = ("progress.svg", "evolution.svg", "evolution.gif")
    made = [name for name in drawn if (seed / name).exists()]
    if made:
        table.add_row("how it went", printable(f"{seed}/: {', '.join(made)}, cells/"))
    recipe = folder.info.recipe
    data = shlex.quote(folder.info.data.name)
    train = f"cellwright train {cell} --data {data} --recipe {recipe.training}"
    table.add_row("next", printable(train))
    table.add_row("", printable(f"cellwright cells show {cell}"))
    console.print()
    console.print(table)
    if all_diverged(candidates):
        who = "the search" if len(candidates) == 1 else "every seed"
        note = f"{who} diverged: the cell is where it stood, not one that it found"
        stderr().print(note, style="yellow", soft_wrap=True)


def _candidates(candidates: list[Candidate], metric: Metric) -> Table:
    title = f"what each seed found ({direction(metric)})"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in ("seed", "while searching", "retrained", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cell", no_wrap=True)
    table.add_column("")
    for each in candidates:
        table.add_row(
            str(each.seed),
            metric.shown(each.supernet),
            "–" if each.retrained is None else metric.shown(each.retrained),
            duration(each.seconds),
            each.cell_id,
            "chosen" if each is candidates[0] else "",
        )
    return table
