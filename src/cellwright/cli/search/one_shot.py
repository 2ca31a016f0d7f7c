"""One-shot searches from the command line: starting, going on, and what is printed at the end."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from cellwright.base.errors import UserError
from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.figures import direction, duration, memory
from cellwright.cli.output import count, printable, stderr, stdout
from cellwright.cli.search.progress import shown
from cellwright.search.one_shot.searching import Watcher

if TYPE_CHECKING:
    from cellwright.runs.folder import RunFolder
    from cellwright.runs.runner import Event
    from cellwright.search.one_shot.folder import SearchFolder, SeedFolder
    from cellwright.search.one_shot.kinds import Epoch, Step
    from cellwright.search.one_shot.searching import Candidate
    from cellwright.tasks.metric import Metric


def start(
    recipe: str,
    settings: list[str],
    data: str | None,
    seed: int,
    seeds: int,
    out: Path,
    name: str | None,
    threads: int | None,
    checkpoint_every: float,
) -> None:
    """Begin a search, and carry it through."""
    from cellwright.cli.data.progress import bar
    from cellwright.cli.train import named
    from cellwright.search.one_shot.folder import SearchFolder
    from cellwright.search.one_shot.recipes import load_search_recipe

    chosen = load_search_recipe(recipe, settings)
    path = None if name is None else named(out, name)
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    with bar() as progress:
        folder = SearchFolder.create(
            chosen, range(seed, seed + seeds), data=data, searches=out, path=path, progress=progress
        )
    _run(folder, checkpoint_every, resumed=False)


def go_on(path: str, out: Path, checkpoint_every: float) -> None:
    """Go on with a search where it was."""
    from cellwright.search.one_shot.folder import SearchFolder

    folder = SearchFolder.open(path, out)
    folder.refuse_ended()
    for difference in folder.info.differences():
        note = f"{difference}: the last bits may come out differently"
        stderr().print(printable(note), style="yellow", soft_wrap=True)
    _run(folder, checkpoint_every, resumed=True)


def _run(folder: SearchFolder, checkpoint_every: float, *, resumed: bool) -> None:
    from cellwright.runs.errors import RunError, Stopped
    from cellwright.search.one_shot.searching import run_search

    _print_start(folder, resumed)
    again = f"cellwright search --resume {shlex.quote(str(folder.path))}"
    try:
        candidates = run_search(folder, _Shown(), checkpoint_seconds=checkpoint_every)
    except Stopped as stop:
        _print_stop("stopped; everything is saved", again)
        raise typer.Exit(128 + stop.signal) from None
    except KeyboardInterrupt:
        _print_stop("interrupted at once; saved is the last checkpoint", again)
        raise typer.Exit(INTERRUPTED) from None
    except UserError as error:
        raise RunError(f"{error}\nonce that is put right: {again}") from None
    _print_found(folder, candidates)


class _Shown(Watcher):
    """Shows a search on standard output."""

    @contextmanager
    def searching(
        self, folder: SeedFolder, resumed: bool
    ) -> Iterator[Callable[[Step | Epoch], None]]:
        stdout().print(f"\nseed {folder.info.seed}{', going on' if resumed else ''}")
        with shown(folder.info.recipe.search, folder.info.metric) as watch:
            yield watch

    @contextmanager
    def retraining(self, folder: RunFolder, resumed: bool) -> Iterator[Callable[[Event], None]]:
        from cellwright.cli import train_progress
        from cellwright.runs.curves import curve_of

        info = folder.info
        line = f"\nwhat seed {info.seed} found, trained {'on' if resumed else 'from scratch'}"
        stdout().print(line)
        earlier = curve_of(folder) if resumed else ()
        with train_progress.shown(info.recipe.training.epochs, info.metric, earlier) as watch:
            yield watch

    def searched(self, folder: SeedFolder) -> None:
        from cellwright.report.search_pictures import draw_search

        try:
            draw_search(folder)
        except UserError as error:
            stderr().print(printable(f"no pictures: {error}"), style="yellow", soft_wrap=True)


# -- what is printed ---------------------------------------------------------------------------


def _print_start(folder: SearchFolder, resumed: bool) -> None:
    info = folder.info
    settings = info.recipe.search
    what = f"{settings.kind} on {Path(info.data.name).name}: recipe {info.recipe.name}"
    seeds = ", ".join(map(str, info.seeds))
    many = f"seed{'s' if len(info.seeds) > 1 else ''} {seeds}"
    stdout().print(printable(f"{what}, {many}, {count(info.threads, 'thread')}"), soft_wrap=True)
    place = f"{'going on in' if resumed else 'into'} {folder.path}"
    stdout().print(printable(place), soft_wrap=True)


def _print_stop(line: str, go_on: str) -> None:
    stderr().print(line, style="yellow", soft_wrap=True)
    stderr().print(printable(f"go on: {go_on}"), soft_wrap=True)


def _print_found(folder: SearchFolder, candidates: list[Candidate]) -> None:
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
