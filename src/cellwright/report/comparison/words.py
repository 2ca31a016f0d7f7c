"""The outcome of a comparison in sentences that say no more than the numbers do."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing, named
from cellwright.compare.statistics import Difference, Spread, difference

HOW_COMPARED = (
    "A cell counts as better or worse if the 95 % interval of the difference of the means "
    "(Welch's) does not hold 0, and as seeming so if it does, but all of its seeds are on one side "
    "of all seeds of the other. An interval is of one pair: of many cells some look better by "
    "chance."
)


def number(value: float) -> str:
    """A perplexity.

    >>> number(103.52), number(1234567.0)
    ('103.5', '1e+06')
    """
    return f"{value:.1f}" if value < 1e6 else f"{value:.0g}"


def mean_text(spread: Spread | None) -> str:
    """A mean and its spread.

    >>> mean_text(Spread.of([101.0, 103.0])), mean_text(Spread.of([101.0])), mean_text(None)
    ('102.0 ± 1.4', '101.0', '–')
    """
    if spread is None:
        return "–"
    if spread.deviation is None:
        return number(spread.mean)
    return f"{number(spread.mean)} ± {number(spread.deviation)}"


def values_text(spread: Spread | None) -> str:
    """Each value."""
    return "–" if spread is None else ", ".join(map(number, spread.values))


def against(found: Difference) -> str:
    """A difference as a few words for a table."""
    amount = number(abs(found.value))
    margin = "" if found.margin is None else f" ± {number(found.margin)}"
    words = {
        "lower": f"better by {amount}{margin}",
        "higher": f"worse by {amount}{margin}",
        "seems lower": f"seems better by {amount}; too few seeds",
        "seems higher": f"seems worse by {amount}; too few seeds",
        "not distinguishable": "not distinguishable",
        "unknown": f"{'lower' if found.value < 0 else 'higher'} by {amount}, spread unknown",
    }
    return words[found.finding]


def compared(first: str, at: Spread, second: str, other: Spread) -> str:
    """How one cell stands to another, as a sentence."""
    found = difference(at, other)
    figures = f"{mean_text(at)} against {mean_text(other)}"
    amount = number(abs(found.value))
    words = {
        "lower": f"{first} is better than {second}",
        "higher": f"{first} is worse than {second}",
        "seems lower": f"{first} seems better than {second}, in every seed",
        "seems higher": f"{first} seems worse than {second}, in every seed",
        "not distinguishable": f"{first} and {second} are not distinguishable",
        "unknown": f"{first} came out {'lower' if found.value < 0 else 'higher'} than {second}",
    }
    if found.margin is not None and found.finding in ("lower", "higher"):
        behind = f", a difference of {amount} ± {number(found.margin)} (95 % interval)"
    elif found.finding == "unknown":
        behind = ", from one seed, which has no spread to measure a difference by"
    else:
        behind = "; more seeds would tell" if found.finding.startswith("seems") else ""
    return f"{words[found.finding]}: {figures}{behind}."


def outcome(standings: Sequence[Standing]) -> str:
    """Which cell did best, and what can be said of that."""
    ranked = [(one, one.valid) for one in standings if one.valid is not None]
    measured = [(one, spread) for one, spread in ranked if spread is not None]
    if not measured:
        return "No cell has a result."
    (best, at), *others = measured
    if not others:
        return f"{best.label} has a validation perplexity of {mean_text(at)}."
    lead = f"{best.label} has the lowest mean validation perplexity, {mean_text(at)}"
    groups: dict[str, list[str]] = {}
    for other, spread in others:
        groups.setdefault(difference(at, spread).finding, []).append(other.label)
    said = []
    if "lower" in groups:
        said.append(f"lower than that of {named(groups['lower'])} by more than chance explains")
    if "seems lower" in groups:
        said.append(
            f"lower than that of {named(groups['seems lower'])} in every seed, though the seeds "
            "are too few to be sure"
        )
    if "not distinguishable" in groups:
        said.append(f"not distinguishable from that of {named(groups['not distinguishable'])}")
    if "unknown" in groups:
        said.append(
            f"before {named(groups['unknown'])}, but a single seed has no spread to measure a "
            "difference by"
        )
    return f"{lead}: {'; '.join(said)}."


def remarks(plan: Plan, standings: Sequence[Standing]) -> list[str]:
    """What a reader has to know before trusting the figures."""
    found = []
    if len(plan.seeds) == 1:
        found.append(
            "There is one seed only. Another one would give other figures, by an amount that is "
            "not known; differences between cells may be chance."
        )
    elif len(plan.seeds) < 4:
        found.append(
            f"There are {len(plan.seeds)} seeds, so the spread itself is known only roughly."
        )
    for one in standings:
        found += _failures(one)
    late = [one.label for one in standings if _still_learned(one, plan.recipe.training.epochs)]
    if late:
        found.append(
            f"{named(late)} validated best in the last epoch with every seed: with more epochs the "
            "figures would be lower, and the order might be another one."
        )
    return found


def _failures(one: Standing) -> list[str]:
    lost = [run.seed for run in one.runs if run.diverged and run.result.best_epoch is None]
    kept = [seed for seed in one.diverged if seed not in lost]
    found = []
    if lost:
        found.append(
            f"{one.label} diverged with {_seeds(lost)} before an epoch ended. Its mean is without "
            "that, and so looks better than the cell is."
        )
    if kept:
        found.append(f"{one.label} diverged with {_seeds(kept)}; the best epoch before counts.")
    if one.missing:
        found.append(f"{one.label} has no result yet with {_seeds(one.missing)}.")
    return found


def _still_learned(one: Standing, epochs: int) -> bool:
    return bool(one.runs) and all(run.result.best_epoch == epochs for run in one.runs)


def _seeds(seeds: Sequence[int]) -> str:
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {named(seeds)}"
