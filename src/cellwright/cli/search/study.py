"""Studies from the command line: running one, its random search, and what is printed at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.output import count, say, stderr, stdout
from cellwright.cli.search.final import final_table, margin_lines
from cellwright.cli.store_option import password_note, with_store
from cellwright.cli.studies.tables import best_table, ledger_table, no_value_line, verdict_lines
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
    except StudyStopped as stop:
        assert watcher.study is not None
        print_stop(watcher.study[0], store, stop.lost)
        raise typer.Exit(INTERRUPTED) from None
    assert isinstance(found, StudyFound)
    _print_found(found, store)
    _refuse_failure(found, arguments["baseline"])


# -- what is printed ---------------------------------------------------------------------------


def print_stop(prepared: Prepared, place: str | None, lost: str) -> None:
    """Say that Ctrl-C was heard, what is kept, and how to go on."""
    line = f"stopped; {lost or _kept(prepared.name, place)}"
    say(line, "yellow", stderr())
    again = "go on: the same command again" + (", once the store is back" if lost else "")
    say(again, "", stderr())
    show = study_command("studies show", prepared.name, place)
    say(f"so far: {show}", "", stderr())
    note = password_note(place)
    if note is not None:
        say(note, "dim", stderr())


def _kept(name: str, place: str | None) -> str:
    from cellwright.api.studying import STORE
    from cellwright.trials.store import find_study, open_store, overview

    with open_store(STORE if place is None else place) as store:
        ended = overview(store, find_study(store, name)).ended
        return f"what has ended ({count(ended, 'trial')}) is kept in {store.title}"


def _print_found(found: StudyFound, place: str | None) -> None:
    from cellwright.search.studies.baseline import compare

    console, ledger, random, metric = stdout(), found.ledger, found.random, found.metric
    console.print()
    if ledger.best is None:
        console.print(no_value_line(ledger), style="yellow")
    else:
        console.print(best_table(found.best, metric))
    console.print()
    console.print(ledger_table(ledger, random, metric))
    if random is not None:
        console.print()
        for line in verdict_lines(ledger, random, compare(ledger, random), metric):
            say(line)
    if found.final is not None:
        console.print()
        console.print(final_table(found.final))
        for line in margin_lines(found.final):
            say(line)
    console.print()
    print_facts((name, Whole(text)) for name, text in _next(found, place))


def _refuse_failure(found: StudyFound, baseline: bool) -> None:
    """Say so if a search came to nothing because whatever it tried failed."""
    from cellwright.trials.study import StudyError

    for which, reasons in ((found.ledger, found.failures), (found.random, found.random_failures)):
        own = which is found.ledger
        if which is None or not which.trials or which.failed < which.trials:
            continue
        if own or baseline:
            trials = "the only trial" if which.trials == 1 else f"all {which.trials:,} trials"
            raise StudyError(
                f"{trials} of study {which.study!r} failed; once that is put right, search again "
                "under another --name:\n" + "\n".join(reasons)
            )


def _next(found: StudyFound, place: str | None) -> Iterator[tuple[str, str]]:
    """What was written, and what can be done with it."""
    show = study_command("studies show", found.name, place)
    best, folder, recipe = found.ledger.best, found.folder, found.recipe
    if best is None or folder is None:
        yield from _show(show, place, "next")
        return
    assert found.cell is not None
    yield "cell", f"{folder / 'best.json'} ({found.cell.id})"
    yield "picture", str(folder / "best.svg")
    cell, data = shlex.quote(str(folder / "best.json")), shlex.quote(recipe.task.data)
    yield "next", f"cellwright train {cell} --data {data} --recipe {shlex.quote(recipe.training)}"
    yield "", study_command("studies plot", found.name, place)
    yield from _show(show, place, "")


def _show(command: str, place: str | None, title: str) -> Iterator[tuple[str, str]]:
    yield title, command
    note = password_note(place)
    if note is not None:
        yield "", f"({note})"


def study_command(words: str, name: str, place: str | None) -> str:
    """A command about a study, to be copied."""
    return with_store(f"cellwright {words} {shlex.quote(name)}", place)
