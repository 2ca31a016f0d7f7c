"""`cellwright bench build`: train cells of a space into a benchmark of one's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.base.errors import UserError
from cellwright.base.names import file_stem
from cellwright.cli.bench.build_progress import shown
from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.figures import direction
from cellwright.cli.help import examples
from cellwright.cli.options import address_option, executor_option
from cellwright.cli.output import count, say, stderr

if TYPE_CHECKING:
    from cellwright.bench.building import Building
    from cellwright.trials.store import Store
    from cellwright.trials.store.patience import StoreBack, StoreLost

EXAMPLES = examples(
    (
        "RNN, LSTM, GRU and a drawn cell, each trained once for an epoch",
        "cellwright bench build --cells 4 --seeds 1 --epochs 1 -o my.bench",
    ),
    ("the best of them", "cellwright bench top my.bench"),
    (
        "one cell more: what is trained stays",
        "cellwright bench build --cells 5 --seeds 1 --epochs 1 -o my.bench",
    ),
    (
        "some of these, good and bad ones; with --data, on another text",
        "cellwright bench build --architectures my.bench --cells 2 -o b.bench",
    ),
)


def run(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Default: CORPUS.bench, here."),
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1_000_000,
            help="How many cells. Default: 60, or all of a file of cells.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=10_000, help="How often each is trained: with seeds 0, 1, …"
        ),
    ] = 2,
    repeated: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Train so many with all seeds, the others with seed 0 alone."
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Of each training. Default: the recipe's."),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(metavar="RECIPE", help="How to train: a recipe's name or TOML file."),
    ] = "bench-laptop",
    data: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Data by name or a folder. Default: the recipe's."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the recipe."),
    ] = None,
    space: Annotated[
        str, typer.Option(metavar="NAME", help="The space that cells are drawn from.")
    ] = "nas-bench-nlp",
    space_settings: Annotated[
        list[str] | None,
        typer.Option("--space-set", metavar="KEY=VALUE", help="A setting of it: nodes=14."),
    ] = None,
    architectures: Annotated[
        Path | None,
        typer.Option(
            "--architectures",
            "--like",
            metavar="FILE",
            help="Take cells of this benchmark instead, stratified, or of a file of cells.",
        ),
    ] = None,
    similarity: Annotated[
        bool,
        typer.Option(
            "--similarity",
            help="Keep how word vectors agree with people, on WordSim-353 and SimLex-999.",
        ),
    ] = False,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines/--no-baselines", help="Whether RNN, LSTM and GRU are among the cells."
        ),
    ] = True,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Decides which cells are drawn.")
    ] = 0,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", "-w", metavar="N", min=1, help="Trainings at once. Default: cores."
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of each training; part of its settings.")
    ] = 1,
    executor: Annotated[str, executor_option("trainings")] = "local",
    address: Annotated[str | None, address_option()] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="A file or a PostgreSQL URL that keeps every training. Default: FILE.db.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TITLE", help="What to call it. Default: its file.")
    ] = None,
) -> None:
    """Build a benchmark: draw cells, train each with several seeds, keep all curves.

    Cells are drawn by NAS-Bench-NLP's generator, or from another space, after
    RNN, LSTM and GRU in that paper's form. The same command makes the same
    cells and losses; wall times differ.

    Each training is kept in the store as it ends. Stopped or killed, the same
    command goes on from there, with any number of workers; with a larger
    --cells it adds to what is there. Several may run at once on one store.

    With --architectures, cells of another benchmark: sorted by final test loss,
    cut into N parts of equal size, and one drawn from each, as the paper chose
    its cells for WikiText-2; or the cells of a file, in their order. Another
    recipe, setting or text makes a second table of the same cells, and 'bench
    analyze FIRST SECOND' compares the two.
    """
    from cellwright import spaces
    from cellwright.bench import BenchError, load, save
    from cellwright.bench.building import build, collect, drawn, given, like, listed
    from cellwright.data.word_pairs import KNOWN_PAIRS
    from cellwright.runs.recipes import load_recipe
    from cellwright.trials.executors.choosing import check_choice, executor_by_name
    from cellwright.trials.store import open_store
    from cellwright.trials.store.patience import Patience
    from cellwright.trials.study import StudyStopped

    check_choice(executor, workers=workers, threads=threads, address=address)
    own = [f"task.similarity={json.dumps(list(KNOWN_PAIRS))}"] if similarity else []
    how = load_recipe(recipe, [*own, *(settings or [])])
    how = how.on(data)
    target = output or Path(file_stem(Path(how.task.data).name, "my") + ".bench")
    choice: dict[str, Any] = {
        "repeats": seeds,
        "repeated": repeated,
        "epochs": how.training.epochs if epochs is None else epochs,
        "threads": threads,
        "checkpoints": f"{target.name}.checkpoints",
    }
    chosen: dict[str, Any] = {
        "cells": cells or 60,
        "seed": seed,
        "first": None if baselines else (),
    }
    if architectures is None:
        own_space = dict(_setting(text) for text in space_settings or [])
        building = drawn(target.stem, spaces.space(space, **own_space), how, **choice, **chosen)
    elif space_settings:
        raise typer.BadParameter("--space-set is for cells that are drawn, not for --architectures")
    elif (found := listed(architectures)) is None:
        building = like(target.stem, load(architectures), how, **choice, **chosen)
    else:
        building = given(target.stem, found[:cells], how, **choice)
    place = store or f"{target}.db"
    if not target.absolute().parent.is_dir():
        raise BenchError(f"{target}: there is no folder {target.parent}")
    if store is None and target.exists() and not Path(place).exists():
        raise _taken(target, place)  # before the store is made
    working = executor_by_name(executor, workers=workers, threads=threads, address=address)
    with working, open_store(place) as opened, opened.patient(Patience(told=_say_outage)):
        _check_free(opened, building, target)
        _print_start(building, opened.title, working.slots)
        try:
            with shown(building.task.metric) as watch:
                build(opened, building, working, watch)
        except StudyStopped as stop:
            kept = stop.lost or f"what has ended is kept in {opened.title}"
            note = f"stopped; {kept}, and the same command goes on"
            say(note, "yellow", stderr())
            raise typer.Exit(INTERRUPTED) from None
        benchmark = collect(opened, building, title or target.stem)
    save(benchmark, target)
    _tidy(Path(choice["checkpoints"]))
    runs, diverged = benchmark.run_count, int(benchmark.has_status("diverged").sum())
    failed = int(benchmark.has_status("failed").sum())
    line = f"{target}: {count(len(benchmark), 'architecture')}, {count(runs, 'run')}"
    line += f", {diverged:,} of them diverged" + (f", {failed:,} failed" if failed else "")
    say(line)
    if diverged + failed == runs:
        note = "no run has a loss: the benchmark has nothing to search or to rank"
        say(note, "yellow", stderr())


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"\w+", key.strip()):
        raise typer.BadParameter(f"--space-set is KEY=VALUE, not {text!r}")
    try:
        return key.strip(), json.loads(value)
    except ValueError:
        return key.strip(), value.strip()


def _check_free(store: Store, building: Building, target: Path) -> None:
    """Nobody's file is written over after hours of training."""
    from cellwright.trials.store import has_study

    if target.exists() and not has_study(store, building.name):
        raise _taken(target, store.title)


def _taken(target: Path, place: str) -> UserError:
    from cellwright.bench import BenchError

    return BenchError(
        f"{target} is there already, but {place} does not have its trainings; "
        "choose another file, or remove it"
    )


def _print_start(building: Building, place: str, slots: int) -> None:
    method = building.method()
    often = count(method.repeats, "seed")
    if method.repeated is not None:
        often = f"1 seed ({method.repeated:,} of them {often})"
    what = f"{count(building.cells, 'cell')} × {often} × "
    what += f"{count(method.epochs, 'epoch')} on {building.recipe.task.data}"
    how = f"recipe {building.recipe.name}, {count(slots, 'worker')}"
    say(f"{what}: {how}")
    say(f"valid and test are {direction(building.task.metric)}")
    say(f"every training is kept in {place}")


def _say_outage(event: StoreLost | StoreBack) -> None:
    say(event.message, "yellow", stderr())


def _tidy(checkpoints: Path) -> None:
    """Checkpoints of trainings that have all ended are of no use."""
    import shutil

    if checkpoints.is_dir():
        shutil.rmtree(checkpoints, ignore_errors=True)
