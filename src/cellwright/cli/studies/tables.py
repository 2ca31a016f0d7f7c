"""Tables about studies: their best trials, what they cost, and who won."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cellwright.cli.figures import arrow, duration, memory
from cellwright.cli.output import count
from cellwright.cli.tables import Column, Listing

if TYPE_CHECKING:
    from cellwright.search.studies.baseline import Verdict
    from cellwright.tasks.metric import Metric
    from cellwright.trials.store import Ledger, TrialRecord

NONE = "–"


def value_of(loss: float | None, metric: Metric) -> str:
    """A trial's loss for people, as the study's metric shows it."""
    return NONE if loss is None else metric.shown(loss)


def best_table(trials: Sequence[TrialRecord], metric: Metric) -> Listing:
    """The best trials, the best first; with their settings where these differ."""
    tuned = any(_own_settings(trial) for trial in trials)
    table = Listing(
        Column("trial", right=True, style="cyan"),
        Column(arrow(metric), right=True),
        Column("test", 3, right=True),
        Column("epochs", 5, right=True),
        Column("parameters", 2, right=True),
        Column("time", 4, right=True),
        Column("cell", 1),
        *([Column("settings", 3, short="fold", least=30)] if tuned else []),
    )
    for trial in trials:
        test = trial.measures.get("test")
        table.add(
            str(trial.number),
            value_of(trial.value, metric),
            value_of(test, metric) if isinstance(test, float) else NONE,
            f"{trial.fidelity:,}",
            NONE if trial.parameters is None else f"{trial.parameters:,}",
            NONE if trial.seconds is None else duration(trial.seconds),
            trial.cell_id,
            *([settings_line(_own_settings(trial))] if tuned else []),
        )
    return table


def _own_settings(trial: TrialRecord) -> Mapping[str, Any]:
    found = trial.info.get("settings")
    return found if isinstance(found, Mapping) else {}


def settings_line(settings: Mapping[str, Any]) -> str:
    """The settings of a trial in a line.

    >>> settings_line({"model.hidden": 16, "training.learning_rate": 0.0123456})
    'hidden 16, learning_rate 0.01235'
    """
    return ", ".join(
        f"{name.partition('.')[2] or name} {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in settings.items()
    )


def no_value_line(ledger: Ledger) -> str:
    """Why a study has no best trial."""
    if not ledger.trials:
        return "no trial has a value yet"
    if ledger.failed == ledger.trials:
        return f"no cell was found: {_all(ledger.trials)} failed"
    if ledger.diverged == ledger.trials:
        return f"no cell was found: {_all(ledger.trials)} diverged"
    return f"no cell was found: {ledger.diverged:,} diverged, {ledger.failed:,} failed"


def _all(trials: int) -> str:
    return "the only trial" if trials == 1 else f"all {trials:,} trials"


def ledger_table(study: Ledger, random: Ledger | None, metric: Metric) -> Listing:
    """What a study has cost and found, with the random search beside it."""
    both = [study] if random is None else [study, random]
    names = [each.method if each is study else "random search" for each in both]
    table = Listing(Column("", style="dim"), *(Column(name, short="fold") for name in names))
    for name, figures in _ledger_rows(metric):
        table.add(name, *(figures(each) for each in both))
    return table


def _ledger_rows(metric: Metric) -> Iterator[tuple[str, Callable[[Ledger], str]]]:
    def of_best(what: str) -> Callable[[Ledger], str]:
        def found(each: Ledger) -> str:
            number = None if each.best is None else getattr(each.best, what)
            if number is None:
                return NONE
            return memory(number) if what == "peak_memory" else f"{number:,}"

        return found

    yield "trials", _counts
    yield "attempts", lambda each: f"{each.attempts:,}, {each.wasted:,} failed or stopped"
    yield "epochs", lambda each: f"{each.epochs:,}"
    yield "trial time", lambda each: duration(each.seconds)
    yield "time in training", lambda each: duration(each.training)
    yield "wall time", lambda each: duration(each.wall)
    yield f"best {metric.name}", lambda each: _best(each, metric)
    yield f"its test {metric.name}", lambda each: value_of(each.test, metric)
    yield "its parameters", of_best("parameters")
    yield "its peak memory", of_best("peak_memory")


def _counts(each: Ledger) -> str:
    return f"{each.trials:,}, {each.diverged:,} diverged, {each.failed:,} failed"


def _best(each: Ledger, metric: Metric) -> str:
    if each.value is None:
        return NONE
    loss = metric.loss_shown(each.value)
    return metric.shown(each.value) + (f" ({loss})" if loss else "")


def verdict_lines(study: Ledger, random: Ledger, verdict: Verdict, metric: Metric) -> list[str]:
    """Who won and by how much, and what that says."""
    cost = f"{count(study.epochs, 'epoch')} against {random.epochs:,}"
    cost += f", {duration(study.seconds)} of trials against {duration(random.seconds)}"
    if verdict.difference is None:
        what = {"nobody": "neither has found a cell", "method": "only the method has found a cell",
                "random": "only random search has found a cell"}[verdict.winner]  # fmt: skip
        return [what, f"at {cost}"]
    if verdict.winner == "nobody":
        first = f"nobody won: both have {value_of(study.value, metric)}"
    else:
        won, lost = (study, random) if verdict.winner == "method" else (random, study)
        who, whom = (each.method if each is study else "random search" for each in (won, lost))
        values = f"{value_of(won.value, metric)} against {value_of(lost.value, metric)} of {whom}"
        amount = _difference(verdict.difference, metric)
        first = f"{who} found the better cell by {metric.name}: {values}, {amount}"
    lines = [first, f"at {cost}"]
    if verdict.test_difference is not None:
        own, other = value_of(study.test, metric), value_of(random.test, metric)
        tests = f"{own}, and {other} of random search"
        turned = verdict.test_difference * verdict.difference < 0
        lines.append(f"on the test data: {tests}{': the other way round' if turned else ''}")
    return [*lines, "one search of each: other seeds may say otherwise"]


def _difference(losses: float, metric: Metric) -> str:
    """How far two losses are apart, in the unit of the loss where it has one.

    >>> from cellwright.tasks.metric import Metric
    >>> _difference(-0.0125, Metric(name="F1", form="percent"))
    'by 1.25'
    """
    if metric.unit:
        return f"by {abs(losses):.4f} {metric.unit}"
    scale = 100 if metric.form == "percent" else 1
    return f"by {metric.written(scale * abs(losses))}"
