"""What `evaluate` shows of models of sentences: their errors, and where one is better than
another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cellwright.tasks.detail_tables import (
    TALLY_COLUMNS,
    confusion_table,
    percent,
    signed_percent,
    tally_figures,
)
from cellwright.tasks.details import Details, Subject, Table
from cellwright.tasks.sentences.classes import ExampleClass, by_length, by_score, by_unseen
from cellwright.tasks.sentences.judged import Floats, Judged, Numbers, check_same, judged
from cellwright.tasks.tally import Tally

MOST_SHOWN = 40
"""Words of a sentence that tables show."""

ERROR = "absolute error"


def errors_of(subject: Subject, top: int) -> Details:
    """What a model gets wrong, with so many examples."""
    found = judged(subject)
    return _of_labels(found, top) if found.data.target.labels else _of_scores(found, top)


def compared(subject: Subject, other: Subject, top: int) -> Details:
    """Where a model is better than another, by lengths and by words that training does not have."""
    first, second = judged(subject), judged(other)
    check_same(first, second)
    lengths, unseen = by_length(first.lengths), by_unseen(first.unseen)
    tables = [
        _compared("by how many words an example has", "words", lengths, first, second),
        _compared("by the share of words that training does not have", "of words", unseen,
                  first, second),
    ]  # fmt: skip
    found, facts = (_found if first.data.target.labels else _closer)(first, second)
    document = {
        **found,
        "by_length": _documents(lengths, first, second),
        "by_unseen": _documents(unseen, first, second),
    }
    return Details(tables, document, facts)


# -- labels ------------------------------------------------------------------------------------


def _of_labels(found: Judged, top: int) -> Details:
    labels = found.data.target.labels
    pairs = found.true.astype(np.int64) * len(labels) + found.said.astype(np.int64)
    counts = np.bincount(pairs, minlength=len(labels) ** 2).reshape(len(labels), -1)
    tallies = {
        label: Tally(int(counts[n, n]), int(counts[:, n].sum()), int(counts[n].sum()))
        for n, label in enumerate(labels)
    }
    wrong = np.flatnonzero(~found.right)
    wrong = wrong[np.argsort(-found.sure[wrong], kind="stable")]
    rows = counts.tolist()
    tables = [
        Table(
            "labels",
            ("label", *TALLY_COLUMNS),
            [(label, *tally_figures(tally)) for label, tally in tallies.items()],
        ),
        confusion_table(labels, rows, "examples by their true label", "examples", top),
        _examples(
            found,
            wrong[:top],
            "most surely wrong",
            ("true", "said", "probability"),
            lambda number: f"{found.sure[number]:.3f}",
        ),
    ]
    document = {
        "by_label": [{"label": label, **tally.document()} for label, tally in tallies.items()],
        "confusion": {"labels": list(labels), "examples": rows},
        "errors": list(_example_documents(found, wrong, "probability", found.sure)),
    }
    return Details(tables, document)


def _found(first: Judged, second: Judged) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """How many labels both models found, only one of them, or none."""
    here, there = first.right, second.right
    found = {
        "by both": int((here & there).sum()),
        "only by the run": int((here & ~there).sum()),
        "only by the other": int((~here & there).sum()),
        "by none": int((~here & ~there).sum()),
    }
    shown = ", ".join(f"{name} {many:,}" for name, many in found.items())
    return {"found": found}, [("labels found", shown)]


# -- scores ------------------------------------------------------------------------------------


def _of_scores(found: Judged, top: int) -> Details:
    errors = found.errors
    classes = list(by_score(found.data.target, found.true))
    columns = ("true score", "examples", "mean true", "mean said", "mean error", f"mean {ERROR}")
    rows = [
        (
            one.label,
            f"{one.many:,}",
            _figure(one.mean(found.true)),
            _figure(one.mean(found.said)),
            _figure(one.mean(errors), "+"),
            _figure(one.mean(abs(errors))),
        )
        for one in classes
    ]
    worst = np.argsort(-abs(errors), kind="stable")
    tables = [
        Table("by the true score; a positive error is a score that is too high", columns, rows),
        _examples(
            found,
            worst[:top],
            "largest errors",
            ("true", "said", "error"),
            lambda number: _figure(errors[number], "+"),
        ),
    ]
    document = {
        "by_score": [
            {
                "label": one.label,
                "examples": one.many,
                "mean_true": one.mean(found.true),
                "mean_said": one.mean(found.said),
                "mean_error": one.mean(errors),
                "mean_absolute_error": one.mean(abs(errors)),
            }
            for one in classes
        ],
        "errors": list(_example_documents(found, worst, "error", errors)),
    }
    return Details(tables, document)


def _closer(first: Judged, second: Judged) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The mean absolute errors of both models, and how often which is closer."""
    here, there = abs(first.errors), abs(second.errors)
    found = {
        "the run": int((here < there).sum()),
        "the other": int((there < here).sum()),
        "both alike": int((here == there).sum()),
    }
    shown = ", ".join(f"{name} {many:,}" for name, many in found.items())
    means = {"run": float(here.mean()), "against": float(there.mean())}
    facts = [
        (f"mean {ERROR}", f"{_figure(means['run'])}, of the other {_figure(means['against'])}"),
        ("closer", shown),
    ]
    return {"mean_absolute_error": means, "closer": found}, facts


# -- classes of examples -----------------------------------------------------------------------


def _compared(
    title: str, column: str, classes: Iterable[ExampleClass], first: Judged, second: Judged
) -> Table:
    labels = bool(first.data.target.labels)
    rows = []
    for one in classes:
        here, there = (one.mean(_worth(each)) for each in (first, second))
        if labels:
            figures = (percent(here, 1), percent(there, 1), signed_percent(here - there, 1))
        else:
            figures = (_figure(here), _figure(there), _figure(here - there, "+"))
        rows.append((one.label, f"{one.many:,}", *figures))
    measured = "accuracy" if labels else f"mean {ERROR}"
    return Table(title, (column, "examples", measured, "against", "difference"), rows)


def _documents(
    classes: Iterable[ExampleClass], first: Judged, second: Judged
) -> list[dict[str, Any]]:
    name = "accuracy" if first.data.target.labels else "mean_absolute_error"
    return [
        {
            "label": one.label,
            "examples": one.many,
            name: one.mean(_worth(first)),
            "against": one.mean(_worth(second)),
        }
        for one in classes
    ]


def _worth(found: Judged) -> Floats:
    """1 for each label that was found, or how far away scores are."""
    return found.right.astype(np.float64) if found.data.target.labels else abs(found.errors)


# -- examples ----------------------------------------------------------------------------------


def _examples(
    found: Judged,
    numbers: Numbers,
    title: str,
    columns: tuple[str, ...],
    figure: Callable[[int], str],
) -> Table:
    rows = []
    for number in numbers.tolist():
        true, said = (
            each if isinstance(each, str) else _figure(each)
            for each in found.named(np.array([found.true[number], found.said[number]]))
        )
        rows.append((true, said, figure(number), *map(_shortened, found.texts(number))))
    names = ("sentence",) if found.part.per_example == 1 else ("first", "second")
    if not rows:
        title = f"{title}: nothing is"
    return Table(title, (*columns, *names), rows, texts=len(columns) + len(names))


def _example_documents(
    found: Judged, numbers: Numbers, name: str, values: Floats
) -> Iterator[dict[str, Any]]:
    true, said = list(found.named(found.true[numbers])), list(found.named(found.said[numbers]))
    for place, number in enumerate(numbers.tolist()):
        yield {
            "example": number,
            "sentences": found.texts(number),
            "true": true[place],
            "said": said[place],
            name: float(values[number]),
        }


def _shortened(text: str) -> str:
    words: Sequence[str] = text.split(" ")
    return text if len(words) <= MOST_SHOWN else f"{' '.join(words[:MOST_SHOWN])} …"


def _figure(value: float, sign: str = "") -> str:
    return "–" if np.isnan(value) else f"{value:{sign}.3f}"
