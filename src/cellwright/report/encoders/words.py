"""What is said of encoders, in sentences that say no more than the numbers do."""

from __future__ import annotations

import math

from cellwright.compare.encoders.correlation import Correlation
from cellwright.compare.encoders.figures import FLAT, LEAST_RUNS, EncoderFigures, Measure
from cellwright.report.suites.words import remarks as suite_remarks

_FLAT = Measure("", FLAT)

SURE = 0.05
"""What chance does more often than this is not said of models."""


def outcome(found: EncoderFigures) -> list[str]:
    """Which model is best, how many are above the baselines, and whether perplexity tells."""
    values = {one.label: found.value(one.label, _FLAT) for one in found.encoders}
    known = {label: value for label, value in values.items() if math.isfinite(value)}
    if not known:
        return ["No model has a result on every task."]
    best = max(known, key=lambda label: known[label])
    said = [f"{best} has the highest {FLAT} of the models, {_FLAT.shown(known[best])}."]
    for label in found.baselines:
        at = found.value(label, _FLAT)
        if math.isfinite(at):
            better = sum(value > at for value in known.values())
            said.append(
                f"{better} of {len(known)} {'is' if better == 1 else 'are'} above {label}, which "
                f"has {_FLAT.shown(at)}."
            )
    return said + _by_perplexity(found)


def _by_perplexity(found: EncoderFigures) -> list[str]:
    by_text = found.correlations(_FLAT)
    if not by_text:
        return [
            f"Whether lower perplexity goes with better scores takes {LEAST_RUNS} models of one "
            "text to say."
        ]
    several = len(by_text) > 1
    return [
        f"Spearman's correlation of perplexity and {FLAT} is {one.rho:.2f} over {one.pairs} models"
        f"{f' of {text}' if several else ''}: {_goes(one)}."
        if math.isfinite(one.rho)
        else f"All models{f' of {text}' if several else ''} have the same {FLAT}, or perplexity."
        for text, one in by_text.items()
    ]


def _goes(one: Correlation) -> str:
    if one.chance > SURE:
        return f"chance is as far from 0 in {100 * one.chance:.0f}% of all orders"
    return f"lower perplexity goes with {'better' if one.rho < 0 else 'worse'} scores"


def remarks(found: EncoderFigures) -> list[str]:
    """What a reader has to know before trusting the figures."""
    said = suite_remarks(found.suite)
    texts = {one.fingerprint for one in found.encoders}
    if len(texts) > 1:
        said.append("Perplexities of models of different texts do not compare.")
    return said
