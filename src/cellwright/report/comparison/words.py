"""The outcome of a comparison in sentences that say no more than the numbers do."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.base.statistics import Difference, Finding, Spread, difference
from cellwright.compare.contenders import dead_words
from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing, named
from cellwright.tasks.metric import Metric

HOW_COMPARED = (
    "A cell counts as better or worse if the 95 % interval of the difference of the means "
    "(Welch's) does not hold 0, and as seeming so if it does, but all of its seeds are on one side "
    "of all seeds of the other. An interval is of one pair: of many cells some look better by "
    "chance."
)


def mean_text(spread: Spread | None, metric: Metric) -> str:
    """A mean and its spread.

    >>> f1 = Metric(name="F1", form="percent")
    >>> mean_text(Spread.of([91.0, 93.0]), f1), mean_text(Spread.of([91.0]), f1)
    ('92.00 ± 1.41', '91.00')
    """
    if spread is None:
        return "–"
    if spread.deviation is None:
        return metric.written(spread.mean)
    return f"{metric.written(spread.mean)} ± {metric.written(spread.deviation)}"


def value_text(value: float, metric: Metric) -> str:
    """A value, or a dash where there is none."""
    return mean_text(Spread.of([value]), metric)


def judged(finding: Finding, metric: Metric) -> str:
    """A finding about values as one about cells: "better" and "worse" in place of "lower" and
    "higher", whichever it is.

    >>> judged("seems higher", Metric(name="F1", form="percent"))
    'seems better'
    """
    worse = "lower" if metric.higher_is_better else "higher"
    return finding.replace(metric.better_word, "better").replace(worse, "worse")


def against(found: Difference, metric: Metric) -> str:
    """A difference as a few words for a table."""
    amount = metric.written(abs(found.value))
    margin = "" if found.margin is None else f" ± {metric.written(found.margin)}"
    words = {
        "better": f"better by {amount}{margin}",
        "worse": f"worse by {amount}{margin}",
        "seems better": f"seems better by {amount}; too few seeds",
        "seems worse": f"seems worse by {amount}; too few seeds",
        "not distinguishable": "not distinguishable",
        "unknown": f"{'lower' if found.value < 0 else 'higher'} by {amount}, spread unknown",
    }
    return words[judged(found.finding, metric)]


def compared(first: str, at: Spread, second: str, other: Spread, metric: Metric) -> str:
    """How one cell stands to another, as a sentence."""
    found = difference(at, other)
    finding = judged(found.finding, metric)
    figures = f"{mean_text(at, metric)} against {mean_text(other, metric)}"
    words = {
        "better": f"{first} is better than {second}",
        "worse": f"{first} is worse than {second}",
        "seems better": f"{first} seems better than {second}, in every seed",
        "seems worse": f"{first} seems worse than {second}, in every seed",
        "not distinguishable": f"{first} and {second} are not distinguishable",
        "unknown": f"{first} came out {'lower' if found.value < 0 else 'higher'} than {second}",
    }
    if found.margin is not None and finding in ("better", "worse"):
        amount, margin = metric.written(abs(found.value)), metric.written(found.margin)
        behind = f", a difference of {amount} ± {margin} (95 % interval)"
    elif finding == "unknown":
        behind = ", from one seed, which has no spread to measure a difference by"
    else:
        behind = "; more seeds would tell" if finding.startswith("seems") else ""
    return f"{words[finding]}: {figures}{behind}."


def outcome(plan: Plan, standings: Sequence[Standing]) -> str:
    """Which cell did best, and what can be said of that."""
    metric = plan.metric
    ranked = [(one, one.valid) for one in standings]
    measured = [(one, spread) for one, spread in ranked if spread is not None]
    if not measured:
        failed = sum(len(one.failed) for one in standings)
        diverged = sum(len(one.diverged) for one in standings)
        if failed == len(plan.runs):
            return "No cell has a result: every training failed."
        if diverged == len(plan.runs):
            return "No cell has a result: every training diverged."
        return "No cell has a result."
    (best, at), *others = measured
    if not others:
        return f"{best.label} has a validation {metric.name} of {mean_text(at, metric)}."
    said = against_others(at, [(other.label, spread) for other, spread in others], metric)
    what = f"the {metric.best_word} mean validation {metric.name}"
    return f"{best.label} has {what}, {mean_text(at, metric)}: {said}."


def against_others(at: Spread, others: Sequence[tuple[str, Spread]], metric: Metric) -> str:
    """How the best mean stands to those of other cells, for the middle of a sentence."""
    groups: dict[str, list[str]] = {}
    for label, spread in others:
        finding = judged(difference(at, spread).finding, metric)
        groups.setdefault(finding, []).append(label)
    than = f"{metric.better_word} than that of"
    said = []
    if "better" in groups:
        said.append(f"{than} {named(groups['better'])} by more than chance explains")
    if "seems better" in groups:
        said.append(
            f"{than} {named(groups['seems better'])} in every seed, though the seeds are too few "
            "to be sure"
        )
    if "not distinguishable" in groups:
        said.append(f"not distinguishable from that of {named(groups['not distinguishable'])}")
    if "unknown" in groups:
        said.append(
            f"before {named(groups['unknown'])}, but a single seed has no spread to measure a "
            "difference by"
        )
    return "; ".join(said)


def remarks(plan: Plan, standings: Sequence[Standing]) -> list[str]:
    """What a reader has to know before trusting the figures."""
    found = dead_words([one.contender for one in standings])
    if any(one.contender.width is not None for one in standings):
        found.append(
            "Each model has a width of its own (model.hidden), the largest at which it has at most "
            "a given number of parameters."
        )
    found += seeds_remarks(len(plan.seeds))
    for one in standings:
        found += failure_remarks(one)
    late = [one.label for one in standings if _still_learned(one, plan.recipe.training.epochs)]
    if late:
        found.append(
            f"{named(late)} validated best in the last epoch with every seed: with more epochs the "
            f"figures would be {plan.metric.better_word}, and the order might be another one."
        )
    return found


def seeds_remarks(seeds: int) -> list[str]:
    """What so few seeds leave open."""
    if seeds == 1:
        return [
            "There is one seed only. Another one would give other figures, by an amount that is "
            "not known; differences between cells may be chance."
        ]
    if seeds < 4:
        return [f"There are {seeds} seeds, so the spread itself is known only roughly."]
    return []


def failure_remarks(one: Standing) -> list[str]:
    """The trainings of a cell that have no result like the others."""
    lost = [run.seed for run in one.runs if run.diverged and run.result.best_epoch is None]
    kept = [seed for seed in one.diverged if seed not in lost]
    found = []
    if lost and one.valid is None:
        found.append(f"{one.label} diverged with {_seeds(lost)} before an epoch ended.")
    elif lost:
        found.append(
            f"{one.label} diverged with {_seeds(lost)} before an epoch ended. Its mean is without "
            "that, and so looks better than the cell is."
        )
    if kept:
        found.append(f"{one.label} diverged with {_seeds(kept)}; the best epoch before counts.")
    for failure in one.failed:
        found.append(f"{one.label} failed with seed {failure.seed}: {failure.why}.")
    if one.missing:
        found.append(f"{one.label} has no result yet with {_seeds(one.missing)}.")
    return found


def _still_learned(one: Standing, epochs: int) -> bool:
    return bool(one.runs) and all(run.result.best_epoch == epochs for run in one.runs)


def _seeds(seeds: Sequence[int]) -> str:
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {named(seeds)}"
