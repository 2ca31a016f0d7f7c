"""Tables about studies: their best trials, what they cost, and who won."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from cellwright.cli.figures import duration, loss, memory, perplexity
from cellwright.cli.output import count

if TYPE_CHECKING:
    from cellwright.search.studies.baseline import Verdict
    from cellwright.trials.store import Ledger, TrialRecord

NONE = "–"


def value_of(value: float | None, nats: bool) -> str:
    """A trial's value for people: the perplexity, where values are nats per word."""
    if value is None:
        return NONE
    return perplexity(value) if nats else f"{value:.6g}"


def value_name(nats: bool) -> str:
    """What a column of values is headed with."""
    return "perplexity" if nats else "value"


def best_table(trials: Sequence[TrialRecord], nats: bool) -> Table:
    """The best trials, the best first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("trial", justify="right", style="cyan", no_wrap=True)
    for name in (value_name(nats), "test", "epochs", "parameters", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cell", no_wrap=True)
    for trial in trials:
        test = trial.measures.get("test")
        table.add_row(
            str(trial.number),
            value_of(trial.value, nats),
            value_of(test, nats) if isinstance(test, float) else NONE,
            f"{trial.fidelity:,}",
            NONE if trial.parameters is None else f"{trial.parameters:,}",
            NONE if trial.seconds is None else duration(trial.seconds),
            trial.cell_id,
        )
    return table


def ledger_table(study: Ledger, random: Ledger | None, nats: bool) -> Table:
    """What a study has cost and found, with the random search beside it."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", style="dim", no_wrap=True)
    both = [study] if random is None else [study, random]
    for each in both:
        table.add_column(each.method if each is study else "random beside it", no_wrap=True)
    for name, figures in _ledger_rows(nats):
        table.add_row(name, *(figures(each) for each in both))
    return table


def _ledger_rows(nats: bool) -> Iterator[tuple[str, Callable[[Ledger], str]]]:
    def of_best(what: str) -> Callable[[Ledger], str]:
        def found(each: Ledger) -> str:
            number = None if each.best is None else getattr(each.best, what)
            if number is None:
                return NONE
            return memory(number) if what == "peak_memory" else f"{number:,}"

        return found

    yield "trials", _counts
    yield "attempts", lambda each: f"{each.attempts:,}, {each.wasted:,} came to nothing"
    yield "epochs", lambda each: f"{each.epochs:,}"
    yield "trial time", lambda each: duration(each.seconds)
    yield "of it training", lambda each: duration(each.training)
    yield "wall time", lambda each: duration(each.wall)
    yield f"best {value_name(nats)}", lambda each: _best(each, nats)
    yield "its test", lambda each: value_of(each.test, nats)
    yield "its parameters", of_best("parameters")
    yield "its peak memory", of_best("peak_memory")


def _counts(each: Ledger) -> str:
    return f"{each.trials:,}, {each.diverged:,} diverged, {each.failed:,} failed"


def _best(each: Ledger, nats: bool) -> str:
    shown = value_of(each.value, nats)
    return f"{shown} ({loss(each.value)} nats)" if nats and each.value is not None else shown


def verdict_lines(study: Ledger, random: Ledger, verdict: Verdict, nats: bool) -> list[str]:
    """Who won and by how much, and what that says."""
    cost = f"{count(study.epochs, 'epoch')} against {random.epochs:,}"
    cost += f", {duration(study.seconds)} of trials against {duration(random.seconds)}"
    if verdict.difference is None:
        what = {"nobody": "neither has found a cell", "method": "only the method has found a cell",
                "random": "only random search has found a cell"}[verdict.winner]  # fmt: skip
        return [what, f"at {cost}"]
    if verdict.winner == "nobody":
        first = f"nobody won: both have {value_of(study.value, nats)}"
    else:
        won, lost = (study, random) if verdict.winner == "method" else (random, study)
        who, whom = (each.method if each is study else "random search" for each in (won, lost))
        values = f"{value_of(won.value, nats)} against {value_of(lost.value, nats)} of {whom}"
        unit = " nats a word" if nats else ""
        first = f"{who} found the better cell: {values}, by {abs(verdict.difference):.4f}{unit}"
    lines = [first, f"at {cost}"]
    if verdict.test_difference is not None:
        tests = f"{value_of(study.test, nats)}, and {value_of(random.test, nats)} of random search"
        turned = verdict.test_difference * verdict.difference < 0
        lines.append(f"on the test text: {tests}{': the other way round' if turned else ''}")
    return [*lines, "one search of each: other seeds may say otherwise"]
