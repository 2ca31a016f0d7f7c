"""Studies from the command line: running one, its random search, and what is printed at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.output import count, say, stderr, stdout
from cellwright.cli.studies.tables import best_table, ledger_table, verdict_lines
from cellwright.cli.tables import Whole, print_facts

if TYPE_CHECKING:
    from cellwright.api import StudyFound
    from cellwright.search.studies.start import Prepared


def run(store: str | None, **arguments: Any) -> None:
    """Work on a study until it has its trials, and then, if wanted, on its random search."""
    from cellwright.api import StudyFound, search
    from cellwright.cli.watching import Shown
    from cellwright.trials.study import StudyStopped

    watcher = Shown()
    try:
        found = search(store=store, **arguments, watcher=watcher)
    except StudyStopped:
        assert watcher.study is not None
        _print_stop(watcher.study[0], store)
        raise typer.Exit(INTERRUPTED) from None
    assert isinstance(found, StudyFound)
    _print_found(found, store)


# -- what is printed ---------------------------------------------------------------------------


def _print_stop(prepared: Prepared, place: str | None) -> None:
    from cellwright.api.searching import STORE
    from cellwright.trials.store import find_study, has_study, open_store, overview

    with open_store(STORE if place is None else place) as store:
        ended, title = 0, store.title
        if has_study(store, prepared.name):
            ended = overview(store, find_study(store, prepared.name)).ended
    line = f"stopped; what has ended ({count(ended, 'trial')}) is kept in {title}"
    say(line, "yellow", stderr())
    say("go on: the same command again", "", stderr())
    say(f"so far: {_command('studies show', prepared.name, place)}", "", stderr())


def _print_found(found: StudyFound, place: str | None) -> None:
    from cellwright.search.studies.baseline import compare

    console, ledger, random, metric = stdout(), found.ledger, found.random, found.metric
    console.print()
    if ledger.best is None:
        console.print(f"none of {count(ledger.trials, 'trial')} has a value", style="yellow")
    else:
        console.print(best_table(found.best, metric))
    console.print()
    console.print(ledger_table(ledger, random, metric))
    if random is not None:
        console.print()
        for line in verdict_lines(ledger, random, compare(ledger, random), metric):
            say(line)
    console.print()
    print_facts((name, Whole(text)) for name, text in _next(found, place))


def _next(found: StudyFound, place: str | None) -> Iterator[tuple[str, str]]:
    """What was written, and what can be done with it."""
    show = _command("studies show", found.name, place)
    best, folder, recipe = found.ledger.best, found.folder, found.recipe
    if best is None or folder is None:
        yield "next", show
        return
    yield "cell", f"{folder / 'best.json'} ({best.cell_id})"
    yield "picture", str(folder / "best.svg")
    cell, data = shlex.quote(str(folder / "best.json")), shlex.quote(recipe.task.data)
    yield "next", f"cellwright train {cell} --data {data} --recipe {shlex.quote(recipe.training)}"
    yield "", _command("studies plot", found.name, place)
    yield "", show


def _command(words: str, name: str, place: str | None) -> str:
    behind = "" if place is None else f" --store {shlex.quote(place)}"
    return f"cellwright {words} {shlex.quote(name)}{behind}"
