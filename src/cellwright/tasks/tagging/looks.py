"""What `evaluate` shows of taggers: their errors, and where one is better than another."""

from __future__ import annotations

from typing import Any

from cellwright.models.tagger import Tagger
from cellwright.tasks.detail_tables import (
    TALLY_COLUMNS,
    confusion_table,
    percent,
    signed_percent,
    tally_figures,
)
from cellwright.tasks.details import Details, Subject, Table
from cellwright.tasks.tagging.by_frequency import Heard, SpanClass, by_frequency, check_same
from cellwright.tasks.tagging.guesses import all_guesses
from cellwright.tasks.tagging.mistakes import KINDS, RIGHT, Mistake, Mistakes, mistakes
from cellwright.tasks.tagging.task import TaggingTask
from cellwright.tasks.tally import NONE

AROUND = 4
"""Words that are shown before and behind a mistake."""


def errors_of(subject: Subject, top: int) -> Details:
    """What a tagger gets wrong, with so many examples of each way."""
    heard = _heard(subject)
    found = mistakes(heard.tags, heard.vocabulary, heard.guesses)
    tables = [_types(found), _ways(found), _confusion(found, top), _examples(found, top)]
    return Details(tables, _errors_document(found))


def compared(subject: Subject, other: Subject, top: int) -> Details:
    """Where a tagger is better than another, by how often training has the words."""
    first, second = _heard(subject), _heard(other)
    check_same(first, second)
    classes = list(zip(by_frequency(first), by_frequency(second), strict=True))
    rows = [
        (
            here.label,
            f"{here.words:,}",
            f"{here.spans.true:,}",
            percent(here.spans.f1, here.spans.true),
            percent(there.spans.f1, there.spans.true),
            signed_percent(here.spans.f1 - there.spans.f1, here.spans.true),
            percent(_share(here), here.words),
            percent(_share(there), there.words),
        )
        for here, there in classes
    ]
    columns = ("in training", "words", "spans", "F1", "against", "difference")
    title = "by how often training has a span's rarest word (of tags: the word)"
    table = Table(title, (*columns, "tags right", "of against"), rows)
    only = _found_only(first, second)
    facts = [("spans found", ", ".join(f"{name} {many:,}" for name, many in only.items()))]
    document = {
        "found": only,
        "by_training_count": [
            {**_class_document(here), "against": _class_document(there)} for here, there in classes
        ],
    }
    return Details([table], document, facts)


def _heard(subject: Subject) -> Heard:
    assert isinstance(subject.task, TaggingTask)
    assert isinstance(subject.model, Tagger)
    data = subject.task.data
    return Heard(data.tags, data.vocabulary, all_guesses(subject.model, subject.batches))


def _found_only(first: Heard, second: Heard) -> dict[str, int]:
    """How many true spans both taggers found, only one of them, or none."""
    true = {*first.true()}
    here, there = true & {*first.said()}, true & {*second.said()}
    return {
        "by both": len(here & there),
        "only by the run": len(here - there),
        "only by the other": len(there - here),
        "by none": len(true - here - there),
    }


# -- tables ------------------------------------------------------------------------------------


def _types(found: Mistakes) -> Table:
    columns = ("type", *TALLY_COLUMNS, "unseen", "F1 of unseen")
    pairs = [
        (type or "spans", tally, found.unseen.get(type, NONE))
        for type, tally in found.counts.by_type.items()
    ]
    pairs.append(("all", found.counts.total, found.counts.unseen))
    rows = [
        (
            type,
            *tally_figures(tally),
            f"{unseen.true:,}",
            percent(unseen.f1, unseen.true or unseen.guessed),
        )
        for type, tally, unseen in pairs
    ]
    return Table("spans by type; unseen: with a word that training does not have", columns, rows)


def _ways(found: Mistakes) -> Table:
    kinds, by_type = (RIGHT, *KINDS), found.by_type()
    rows = [
        (type or "spans", *(f"{ways[kind]:,}" for kind in kinds)) for type, ways in by_type.items()
    ]
    totals = (f"{sum(ways[kind] for ways in by_type.values()):,}" for kind in kinds)
    title = "what is wrong, by the true type; what was invented, by the one that was said"
    return Table(title, ("type", *kinds), [*rows, ("all", *totals)])


def _confusion(found: Mistakes, top: int) -> Table:
    types = tuple(type or "spans" for type in found.types)
    return confusion_table(
        types, found.confusion.tolist(), "words by their true type", "words", top
    )


def _examples(found: Mistakes, top: int) -> Table:
    rows = []
    for kind in KINDS:
        for mistake in [one for one in found.found if one.kind == kind][:top]:
            types = [span.type if span else "–" for span in (mistake.true, mistake.said)]
            rows.append((kind, *types, _context(mistake, found.words(mistake.sentence))))
    columns = ("", "true", "said", "[what is true] and {what was said}")
    title = "examples" if rows else "examples: nothing is wrong"
    return Table(title, columns, rows, texts=4)


def _context(mistake: Mistake, words: list[str]) -> str:
    """The words around a mistake, with the true span in brackets and the other in braces."""
    spans = [span for span in (mistake.true, mistake.said) if span is not None]
    first = max(0, min(span.start for span in spans) - AROUND)
    last = min(len(words), max(span.end for span in spans) + AROUND)
    shown = list(words)
    for span, (opens, closes) in ((mistake.said, "{}"), (mistake.true, "[]")):
        if span is not None:
            shown[span.start] = opens + shown[span.start]
            shown[span.end - 1] += closes
    before, behind = "… " if first else "", " …" if last < len(words) else ""
    return f"{before}{' '.join(shown[first:last])}{behind}"


def _share(one: SpanClass) -> float:
    return one.words_right / one.words if one.words else 0.0


# -- for programs ------------------------------------------------------------------------------


def _errors_document(found: Mistakes) -> dict[str, Any]:
    by_type = found.by_type()
    return {
        "kinds": {kind: sum(ways[kind] for ways in by_type.values()) for kind in KINDS},
        "by_type": [
            {
                "type": type,
                **tally.document(),
                "unseen": found.unseen.get(type, NONE).document(),
                "kinds": {kind: by_type[type][kind] for kind in KINDS},
            }
            for type, tally in found.counts.by_type.items()
        ],
        "confusion": {"types": list(found.types), "words": found.confusion.tolist()},
        "errors": [
            {
                "kind": mistake.kind,
                "sentence": mistake.sentence,
                "words": found.words(mistake.sentence),
                "true": mistake.true and mistake.true._asdict(),
                "said": mistake.said and mistake.said._asdict(),
            }
            for mistake in found.found
        ],
    }


def _class_document(one: SpanClass) -> dict[str, Any]:
    return {
        "least": one.least,
        "most": one.most,
        "spans": one.spans.document(),
        "words": one.words,
        "words_right": one.words_right,
    }
