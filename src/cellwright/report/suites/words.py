"""What a suite says of cells, in sentences that say no more than the numbers do."""

from __future__ import annotations

from cellwright.compare.contenders import dead_words
from cellwright.compare.results import named
from cellwright.compare.suites.figures import Part, SuiteFigures
from cellwright.report.comparison.words import against_others, failure_remarks, seeds_remarks
from cellwright.report.suites.table import PART_WORDS, spread_text


def outcome(found: SuiteFigures) -> list[str]:
    """Which cell has the best average, and on how many tasks it is first."""
    metric = found.metric
    if metric is None:
        return [
            "There is no average: some tasks are better the higher and others the lower.",
            _firsts(found, "valid"),
        ]
    averages = [(label, found.average(label, "valid")) for label in found.cells]
    measured = [(label, spread) for label, spread in averages if spread is not None]
    if not measured:
        return ["No cell has an average: none has a result on every task from any one seed."]
    (best, at), *others = measured
    over = f"over {_tasks(len(found.tasks))}"
    value = spread_text(at, metric)
    if not others:
        return [f"{best} has a validation average of {value} {over}."]
    said = against_others(at, others, metric)
    words = [f"{best} has the {metric.best_word} validation average, {value} {over}: {said}."]
    words.append(f"It is first on {_count(found, best, 'valid')}.")
    test = found.average(best, "test")
    if test is not None:
        words.append(
            f"On the test data its average is {spread_text(test, metric)}, and it is first on "
            f"{_count(found, best, 'test')}{_better_there(found, best)}."
        )
    return words


def _better_there(found: SuiteFigures, best: str) -> str:
    """The cell whose average on the test data is better than that of the best on validation."""
    metric = found.metric
    assert metric is not None
    spreads = [(label, found.average(label, "test")) for label in found.cells]
    means = {label: spread.mean for label, spread in spreads if spread is not None}
    top = (max if metric.higher_is_better else min)(means, key=lambda label: means[label])
    if means[top] == means[best]:
        return ""
    at = spread_text(found.average(top, "test"), metric)
    return f"; the {metric.best_word} is that of {top}, {at}"


def _count(found: SuiteFigures, label: str, part: Part) -> str:
    first = [one for one in found.tasks if label in one.best(part)]
    shared = sum(len(one.best(part)) > 1 for one in first)
    ties = f" ({shared} of them together with others)" if shared else ""
    return f"{len(first)} of {_tasks(len(found.tasks))}{ties}"


def _firsts(found: SuiteFigures, part: Part) -> str:
    counts = [f"{label} on {_count(found, label, part)}" for label in found.cells]
    return f"First on the {PART_WORDS[part]} data: {named(counts)}."


def _tasks(number: int) -> str:
    return f"{number} {'task' if number == 1 else 'tasks'}"


def remarks(found: SuiteFigures) -> list[str]:
    """What a reader has to know before trusting the figures."""
    said = [f"{label} is missing: {reason}." for label, reason in found.missing.items()]
    if found.missing and found.metric is not None:
        said.append(
            f"Averages are over {len(found.tasks)} of the {len(found.suite.tasks)} tasks of "
            f"{found.suite.title or found.suite.name}, and do not compare with those over all."
        )
    for one in found.tasks:
        if one.lacking:
            said.append(
                f"{one.task.label} counts by {one.names[0]} alone: its trainings have no "
                f"{named(one.lacking)}."
            )
    said += dead_words(found.tasks[0].plan.contenders)
    said += seeds_remarks(min(len(one.plan.seeds) for one in found.tasks))
    for one in found.tasks:
        for label in found.cells:
            said += [f"{one.task.label}: {words}" for words in failure_remarks(one.of(label))]
    return said + _averages_without(found)


def _averages_without(found: SuiteFigures) -> list[str]:
    """Cells whose averages lack seeds, or that have none."""
    said = []
    seeds = min(len(one.plan.seeds) for one in found.tasks)
    for label in found.cells if found.metric is not None else ():
        spread = found.average(label, "valid")
        if spread is None:
            said.append(f"{label} has no average: no seed has a result on every task.")
        elif len(spread.values) < seeds:
            said.append(
                f"The average of {label} is of {len(spread.values)} of {seeds} seeds, those that "
                "have a result on every task."
            )
    return said
