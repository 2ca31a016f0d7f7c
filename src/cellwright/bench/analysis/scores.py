"""Other figures of the trained models beside the metric: word similarity (Figures 9 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.bench.statistics import correlations
from cellwright.bench.summary import of_runs
from cellwright.data import load as load_corpus
from cellwright.data.fingerprint import fingerprint
from cellwright.data.word_pairs import load_pairs
from cellwright.tasks.language.similarity import agreement
from cellwright.tasks.language.skip_gram import SkipGramSettings, Watch, skip_gram
from cellwright.tasks.metric import Metric

BASELINE = "SGNS"


@dataclass(frozen=True, eq=False)
class Scores(Finding):
    """The scores of each run, beside its metric.

    Args:
        metric: of the table.
        values: of the metric on the test data, of each run that has a score.
        scores: by name, of the same runs; NaN where one has none.
        lines: what a baseline has, by the name of the score.
    """

    metric: Metric
    values: Floats
    scores: Mapping[str, Floats]
    lines: Mapping[str, float]


def scores(benchmark: Benchmark, baseline: Mapping[str, float] | None = None) -> Scores:
    """How each score of a benchmark goes with the metric on the test data.

    Both are of the epoch that validation would choose. Runs that diverged are left out.

    Args:
        benchmark: what to look at.
        baseline: what to compare with, by the name of the score: `similarity_baseline`.

    Raises:
        BenchError: no run that ended well has a score.
    """
    metric, lines = benchmark.metric, dict(baseline or {})
    known = [np.isfinite(found) for found in benchmark.scores.values()]
    test = of_runs(benchmark).test
    good = benchmark.has_status("ok") & np.isfinite(test)
    kept = np.flatnonzero(good & np.logical_or.reduce(known)) if known else np.empty(0, np.int64)
    if not len(kept):
        raise BenchError(
            f"{benchmark.title!r} has no scores beside the loss; "
            "'cellwright bench build --similarity' keeps how word vectors agree with people"
        )
    values = np.array([metric.value(loss) for loss in test[kept].tolist()], np.float64)
    found = {name: column[kept] for name, column in benchmark.scores.items()}
    numbers = {"runs": float(len(kept))}
    for name, column in found.items():
        there = np.isfinite(column)
        numbers[f"mean {name}"] = float(column[there].mean()) if there.any() else np.nan
        for kind, value in correlations(column[there], values[there]).items():
            numbers[f"{kind} of {name}, {metric.name}"] = value
        if name in lines:
            numbers[f"{name} of {BASELINE}"] = lines[name]
            numbers[f"runs above {BASELINE} in {name}"] = float((column > lines[name]).sum())
    rows = zip(
        [benchmark.names[number] for number in benchmark.architecture_of[kept]],
        benchmark.seed[kept].tolist(), test[kept].tolist(), values.tolist(),
        *(column.tolist() for column in found.values()), strict=True,
    )  # fmt: skip
    return Scores(
        "scores",
        f"{', '.join(found)} and test {metric.name} (Figures 9 and 13)",
        numbers,
        ("name", "seed", "test_loss", "test_value", *found),
        tuple(rows),
        metric,
        values,
        found,
        lines,
    )


def similarity_baseline(
    benchmark: Benchmark, settings: SkipGramSettings | None = None, watch: Watch | None = None
) -> dict[str, float]:
    """What word2vec has on the sets of word pairs that a benchmark's models were measured on.

    It is trained on the same text, and is as wide as the models' embeddings, as in section 4.2.

    Raises:
        BenchError: the models were not measured so, they differ in text or width, or the text is
            another one now.
        DataError: the text or the word pairs are not here.
    """
    asked = {
        (str(own.get("data")), int(own.get("model.embedding") or own.get("model.hidden") or 0),
         str(own.get("fingerprint")), tuple(own.get("task.similarity") or ()))
        for own in benchmark.settings
    }  # fmt: skip
    if len(asked) != 1:
        raise BenchError(f"the runs of {benchmark.title!r} differ in text or width")
    [(data, width, wanted, names)] = asked
    if not names:
        raise BenchError(f"{benchmark.title!r} has no word similarity to compare with {BASELINE}")
    corpus = load_corpus(data)
    if fingerprint(corpus) != wanted:
        raise BenchError(f"{data} is another text than {benchmark.title!r} was trained on")
    vectors = skip_gram(corpus, width, settings, watch)
    sets = [load_pairs(name) for name in names]
    return {pairs.name: agreement(vectors, pairs).pearson for pairs in sets}
