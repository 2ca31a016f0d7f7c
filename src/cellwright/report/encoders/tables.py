"""Encoders as tables: that of NAS-Bench-NLP (its Table 3), and a row for each run."""

from __future__ import annotations

import math
from typing import Any

from cellwright.compare.encoders.figures import (
    AVERAGE,
    FLAT,
    EncoderFigures,
    Measure,
    Statistics,
)
from cellwright.report.tables import Column, Said, Table, best_rows
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.sentences.glue_score import GLUE, NAS_BENCH_NLP


def over_runs(found: EncoderFigures) -> Table:
    """A row for each metric and average: what all runs have, the baselines, and how much it goes
    with perplexity, where there are runs enough."""
    texts = list(dict.fromkeys(t for m in found.measures for t in found.correlations(m)))
    columns = [
        Column("", "measure", right=False),
        *(Column(name, name) for name in Statistics._fields),
        *(Column(label, label) for label in found.baselines),
        *(
            Column("ρ" if len(texts) == 1 else f"ρ {text}", f"spearman_{text}", "{:.2f}".format)
            for text in texts
        ),
    ]
    rows = []
    for measure in found.measures:
        over = found.statistics(measure)
        values = [math.nan] * len(Statistics._fields) if over is None else list(over)
        values += [found.value(label, measure) for label in found.baselines]
        by_text = found.correlations(measure)
        rows.append(
            [
                str(measure),
                *(_said(measure, value) for value in values),
                *(by_text[text].rho if text in by_text else None for text in texts),
            ]
        )
    return Table(columns, rows, f"{caption(found)} {_about(bool(texts))}", "tab:encoders")


def each_run(found: EncoderFigures) -> Table:
    """A row for each run and baseline, the best flat mean first and in bold."""
    measures = found.measures
    columns = [
        Column("encoder", "encoder", right=False),
        Column("cell", "cell", right=False),
        Column("text", "text", right=False),
        Column(PERPLEXITY.name, "perplexity", PERPLEXITY.written),
        *(Column(str(each), str(each).replace(" ", "_"), each.shown) for each in measures),
    ]
    known = {one.label: one for one in found.encoders}
    rows: list[list[Any]] = []
    for label in ranked(found):
        one = known.get(label)
        about = (
            ["", "", math.nan]
            if one is None
            else [one.cell.name or one.cell.id, one.corpus, one.perplexity]
        )
        rows.append([label, *about, *(found.value(label, each) for each in measures)])
    best = best_rows([row[-1] for row in rows], higher_is_better=True) if len(rows) > 1 else set()
    return Table(columns, rows, caption(found), "tab:encoder-runs", best)


def ranked(found: EncoderFigures) -> list[str]:
    """All labels, the best flat mean first; those without one at last."""

    def key(label: str) -> float:
        value = found.value(label, Measure("", FLAT))
        return -value if math.isfinite(value) else math.inf

    return sorted(found.labels, key=key)


def caption(found: EncoderFigures) -> str:
    """What the figures are."""
    tasks = found.suite.tasks
    seeds = max(len(one.plan.seeds) for one in tasks)
    runs, metrics = len(found.encoders), len(found.measures) - 2
    glue = f" of {len(GLUE)}" if all(one.task.label in GLUE for one in tasks) else ""
    of = f" of {len(NAS_BENCH_NLP)}" if glue else ""
    what = f"{runs} frozen language models" if runs > 1 else "A frozen language model"
    how = f"mean over {seeds} seeds" if seeds > 1 else "one seed"
    return (
        f"{what} for encoding sentences, test data, {how}. {AVERAGE.capitalize()}: over "
        f"{len(tasks)}{glue} {'task' if len(tasks) == 1 else 'tasks'}, each counting once, as "
        f"GLUE's; {FLAT}: over {metrics}{of} metrics, as NAS-Bench-NLP's score."
    )


def _about(correlations: bool) -> str:
    more = " ρ: Spearman's correlation with perplexity." if correlations else ""
    return f"Mean, sample standard deviation, least, median and most over the models.{more}"


def _said(measure: Measure, value: float) -> Said | None:
    return Said(value, measure.shown(value)) if math.isfinite(value) else None
