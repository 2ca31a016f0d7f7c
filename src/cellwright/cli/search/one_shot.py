"""One-shot searches from the command line: starting, going on, and what is printed at the end."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import typer

from cellwright.base.errors import UserError
from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.figures import direction, duration, memory
from cellwright.cli.output import count, say, stderr, stdout
from cellwright.cli.tables import Column, Listing, Whole, print_facts

if TYPE_CHECKING:
    from cellwright.cli.watching import Shown
    from cellwright.search.one_shot.choosing import Candidate
    from cellwright.search.one_shot.folder import SearchFolder
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
    say(line, "yellow", stderr())
    say(f"go on: {go_on}", "", stderr())


def _print_found(folder: SearchFolder, candidates: list[Candidate]) -> None:
    from cellwright.search.one_shot.choosing import all_diverged, choice_seconds, search_seconds
    from cellwright.training.advice import advice

    console, chosen, metric = stdout(), candidates[0], folder.info.metric
    if len(candidates) > 1:
        table = _found_by_seeds if all(c.number == 1 for c in candidates) else _candidates
        console.print()
        console.print(table(candidates, metric))
    figures = folder.seed_folder(chosen.seed).figures()
    if figures["status"] == "ok":
        ended = "finished" + (", converged" if figures.get("converged") else "")
    else:
        ended = f"diverged after {count(figures['epochs'], 'epoch')}: {figures['status']}"
    chosen_in = choice_seconds(candidates)
    extra = f", and {duration(chosen_in)} for the choice" if chosen_in else ""
    cell = shlex.quote(str(folder.path / "found.json"))
    facts = [
        ("status", ended),
        ("valid", f"{metric.name} {metric.shown(chosen.supernet)} with the shared weights"),
        ("parameters", f"{figures['parameters']:,} while searching"),
        ("time", duration(search_seconds(candidates)) + extra),
        ("memory", f"{memory(figures['peak_memory'])} at most"),
        ("cell", Whole(f"{folder.path / 'found.json'} ({chosen.cell_id})")),
        ("picture", Whole(folder.path / "found.svg")),
    ]
    again = advice(chosen.status, "search", folder.info.recipe.search.learning_rate)
    if again is not None:
        facts.insert(1, ("try", again))
    seed = folder.path / f"seed-{chosen.seed}"
    drawn = ("progress.svg", "evolution.svg", "evolution.gif")
    made = [name for name in drawn if (seed / name).exists()]
    if made:
        facts.append(("how it went", f"{seed}/: {', '.join(made)}, cells/"))
    recipe = folder.info.recipe
    data = shlex.quote(folder.info.data.name)
    train = f"cellwright train {cell} --data {data} --recipe {recipe.training}"
    facts += [("next", Whole(train)), ("", Whole(f"cellwright cells show {cell}"))]
    console.print()
    print_facts(facts)
    if all_diverged(candidates):
        who = "the search" if len(folder.info.seeds) == 1 else "every seed"
        note = f"{who} diverged: the cell is where it stood, not one that it found"
        say(note, "yellow", stderr())


def _found_by_seeds(candidates: list[Candidate], metric: Metric) -> Listing:
    table = Listing(
        Column("seed", right=True),
        Column("while searching", 1, right=True),
        Column("retrained", right=True),
        Column("time", 3, right=True),
        Column("cell", 2),
        Column(""),
        title=f"what each seed found ({direction(metric)})",
    )
    for each in candidates:
        table.add(
            str(each.seed),
            metric.shown(each.supernet),
            "–" if each.retrained is None else metric.shown(each.retrained),
            duration(each.seconds),
            each.cell_id,
            "chosen" if each is candidates[0] else "",
        )
    return table


def _candidates(candidates: list[Candidate], metric: Metric) -> Listing:
    table = Listing(
        Column("seed", right=True),
        Column("candidate"),
        Column("trained", right=True),
        Column("epochs", right=True),
        Column("time", 3, right=True),
        Column("cell", 2),
        Column(""),
        title=f"what was chosen among, by training from scratch ({direction(metric)})",
    )
    for each in candidates:
        unlike = "cannot learn" if each.dead else ""
        table.add(
            str(each.seed),
            each.origin,
            "–" if each.retrained is None else metric.shown(each.retrained),
            str(each.epochs or "–"),
            duration(each.retraining_seconds),
            each.cell_id,
            "chosen" if each is candidates[0] else unlike,
        )
    return table
