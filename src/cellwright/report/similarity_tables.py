"""Word similarity as a table for notes and papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cellwright.data.word_pairs import WordPairs
from cellwright.report.tables import Column, Table, best_rows
from cellwright.runs.word_similarity import Row
from cellwright.tasks.language.metric import PERPLEXITY


def similarity_table(rows: Sequence[Row], sets: Sequence[WordPairs]) -> Table:
    """A row for each model, and for each set the two correlations."""
    columns = [
        Column("model", "model", right=False),
        Column("text", "corpus", right=False),
        Column("width", "dimensions", "{:,}".format),
        Column(PERPLEXITY.name, "perplexity", PERPLEXITY.written),
    ]
    for pairs in sets:
        columns += [
            Column(title, f"{pairs.name}_{which}", "{:.3f}".format)
            for title, which in ((f"{pairs.name} r", "pearson"), ("ρ", "spearman"))
        ]
    found: list[tuple[Any, ...]] = []
    for row in rows:
        values = [value for one in row.found for value in (one.common.pearson, one.common.spearman)]
        model = row.model
        found.append(
            (model.name, model.corpus, model.dimensions, PERPLEXITY.value(model.valid), *values)
        )
    best = best_rows([row[4] for row in found], higher_is_better=True) if len(found) > 1 else set()
    used = ", ".join(
        f"{rows[0].found[place].common.pairs:,} of {len(pairs):,} pairs of {pairs.name}"
        for place, pairs in enumerate(sets)
    )
    caption = (
        "Correlation of word vectors with people's judgements, Pearson's r and Spearman's ρ, on "
        f"{used}."
    )
    return Table(columns, found, caption, "tab:similarity", best)
