"""`cellwright studies show`: a study, its best trials, and what it cost."""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.figures import duration, jsonable, metric_document
from cellwright.cli.help import examples
from cellwright.cli.output import count, emit, emit_json, printable, say, stdout
from cellwright.cli.store_option import password_note, with_store
from cellwright.cli.studies.options import SEARCH, STUDY_HELP, Json, Place
from cellwright.cli.studies.tables import best_table, ledger_table, no_value_line, verdict_lines
from cellwright.cli.tables import print_facts

if TYPE_CHECKING:
    from cellwright.trials.store import Ledger, Overview, TrialRecord

EXAMPLES = examples(
    SEARCH,
    ("its best trials, its cost, and who won", "cellwright studies show first"),
    ("its 3 best trials, for programs", "cellwright studies show first --best 3 --json"),
    ("its best cell, to train or to draw", "cellwright studies show first --cell > cell.json"),
)


def run(
    name: Annotated[str, typer.Argument(metavar="STUDY", help=STUDY_HELP)],
    store: Place = "studies.db",
    best: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many of the best trials.")
    ] = 10,
    cell: Annotated[
        bool, typer.Option("--cell", help="Print only the best cell, as JSON.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a study: how it stands, its best trials, and its compute ledger.

    Where a random search at the same cost is beside it ('cellwright search
    RECIPE --baseline'), its cost and what it found are shown too, and who won.
    Trial time is the wall clock's of all attempts together; wall time is how
    long at least one was under way.

    In JSON, values and tests are losses, of which the lower is better; shown is
    what the metric makes of a trial's value.
    """
    from cellwright.search.studies.baseline import read_baseline
    from cellwright.trials.store import (
        StoreError,
        best_trials,
        cell_of,
        failure_reasons,
        find_study,
        open_store,
    )
    from cellwright.trials.store.ledger import overview_and_ledger

    with open_store(store, only_read=True) as opened:
        study = find_study(opened, name)
        found = best_trials(opened, study, best)
        if cell:
            if not found:
                raise StoreError(f"no trial of study {name!r} has a value yet")
            emit(cell_of(opened, study, found[0]).to_json() + "\n")
            return
        stands, ledger = overview_and_ledger(opened, study)
        random = read_baseline(opened, name)
        reasons = failure_reasons(opened, study) if ledger.failed else []
    if as_json:
        emit_json(jsonable(_document(stands, found, ledger, random, reasons)))
        return
    _print(stands, found, ledger, random, store, reasons)


def _document(
    stands: Overview,
    best: list[TrialRecord],
    ledger: Ledger,
    random: Ledger | None,
    reasons: list[str],
) -> dict[str, Any]:
    study, metric = stands.study, stands.study.metric
    return {
        "name": study.name,
        "state": stands.state,
        "target": study.target,
        "window": study.window,
        "search": study.search,
        "evaluation": study.evaluation,
        "states": dict(stands.states),
        "statuses": dict(stands.statuses),
        "metric": metric_document(metric),
        "best": [
            {**asdict(trial), "shown": None if trial.value is None else metric.value(trial.value)}
            for trial in best
        ],
        "ledger": ledger.to_json(),
        "random": None if random is None else random.to_json(),
        "failures": reasons,
    }


def _print(
    stands: Overview,
    best: list[TrialRecord],
    ledger: Ledger,
    random: Ledger | None,
    place: str,
    reasons: list[str],
) -> None:
    from cellwright.search.studies.baseline import compare

    console, metric = stdout(), stands.study.metric
    print_facts(_facts(stands))
    console.print()
    if best:
        console.print(best_table(best, metric))
    else:
        console.print(no_value_line(ledger), style="dim")
    for line in reasons:
        console.print(printable(f"failed: {line}"), style="yellow", soft_wrap=True)
    console.print()
    console.print(ledger_table(ledger, random, metric))
    if random is not None:
        console.print()
        for line in verdict_lines(ledger, random, compare(ledger, random), metric):
            say(line)
    console.print()
    quoted = shlex.quote(stands.study.name)
    for what in ("plot", "export"):
        command = with_store(f"cellwright studies {what} {quoted}", place)
        say(f"{what + ':':<7} {command}")
    note = password_note(place)
    if note is not None:
        say(note, "dim")


def _facts(stands: Overview) -> list[tuple[str, str]]:
    study, states = stands.study, stands.states
    wanted = "" if study.target is None else f" of {study.target:,}"
    open_trials = [f"{states[name]:,} {name}" for name in ("running", "waiting") if states[name]]
    ended = f"{stands.ended:,}{wanted} trials have ended"
    space = study.search.get("space", {})
    settings = {**study.search.get("settings", {})}
    settings.pop("initial", None)
    facts = [
        ("study", study.name),
        ("state", ", ".join([stands.state, ended, *open_trials])),
        *_space(space.get("name", "?"), space.get("settings", {})),
        ("method", f"{study.search.get('method', '?')}: {_settings(settings)}"),
    ]
    code = study.search.get("source")
    if isinstance(code, dict) and code.get("file"):
        facts.append(("its code", f"{code['file']}, sha256 {str(code.get('sha256'))[:12]}…"))
    arguments = study.evaluation.get("arguments", {})
    recipe = arguments.get("recipe")
    if isinstance(recipe, dict):
        facts.append(("data", _data(recipe, arguments.get("most"), study.metric.items)))
        facts.append(("model", _settings(_table(recipe, "model"))))
        facts.append(("training", _settings(_table(recipe, "training"), leave_out=("epochs",))))
    begun = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(study.created_at))
    facts.append(("begun", begun))
    if stands.drivers:
        rate = f"{stands.recent_per_hour:,.0f} trials an hour"
        left = ""
        if study.target is not None and stands.recent_per_hour:
            hours = max(0, study.target - stands.ended) / stands.recent_per_hour
            left = f", {duration(3600 * hours)} left"
        facts.append(("at work", f"{count(stands.drivers, 'driver')}, {rate}{left}"))
    return facts


def _space(name: str, settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Where trials come from: a space of cells, or what is tuned."""
    from cellwright.cell import Cell, CellError
    from cellwright.spaces import Tuned

    if name != Tuned.name:
        return [("space", f"{name}: {_settings(settings)}")]
    try:
        cells = [Cell.from_json(text).name for text in settings["cells"]]
        varied = [_varied(each) for each in settings["varied"]]
    except (CellError, KeyError, TypeError):  # of a damaged store
        return [("tuned", "what cannot be read")]
    return [("cells", ", ".join(cells)), ("tuned", "; ".join(varied))]


def _varied(each: dict[str, Any]) -> str:
    options, when = each["options"], each["when"]
    if each["tied_to"]:
        times = "" if each["times"] == 1 else f"{each['times']:g} times "
        said = f"as {times}{each['tied_to']}"
    elif isinstance(options, dict):
        log = ", by logarithms" if options["log"] else ""
        said = f"{options['low']:g} to {options['high']:g}{log}"
    else:
        said = " or ".join(map(str, options))
    only = "" if not when else f" (with {', '.join(f'{k} {_or(v)}' for k, v in when.items())})"
    return f"{each['name']} {said}{only}"


def _or(values: list[Any]) -> str:
    return " or ".join(map(str, values))


def _data(recipe: dict[str, Any], most: dict[str, int] | None, items: str) -> str:
    limits = most if isinstance(most, dict) else {}
    parts = [f"the first {number:,} {items} of {part}" for part, number in limits.items()]
    return ", ".join([str(_table(recipe, "task").get("data", "?")), *parts])


def _table(recipe: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of a recipe; what another evaluator calls so need not be one."""
    found = recipe.get(name)
    return found if isinstance(found, dict) else {}


def _settings(settings: dict[str, Any], leave_out: tuple[str, ...] = ()) -> str:
    """Settings in a line."""
    shown = []
    for name, value in settings.items():
        if name in leave_out:
            continue
        text = " ".join(map(str, value)) if isinstance(value, list) else value
        shown.append(f"{name} {'none' if text is None else text}")
    return ", ".join(shown)
