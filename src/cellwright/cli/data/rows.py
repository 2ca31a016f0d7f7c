"""What `cellwright data list` says of each set of data, as JSON has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright.data import Corpus, Known
    from cellwright.data.labelled import Labelled
    from cellwright.data.tagged import Tagged

COUNTS = ("train", "valid", "test", "vocabulary")
"""What is shown as figures: the words of each part, and how many different ones there are."""


def named(
    name: str, tagged: Mapping[str, str | None] | None, labelled: Mapping[str, str | None] | None
) -> dict[str, Any]:
    """Data that was asked for: read, if need be.

    Args:
        name: a name, or a folder.
        tagged: settings of tagged sentences, if it is to be taken for such, whatever its files are
            called.
        labelled: settings of sentences with labels, if it is to be taken for such.
    """
    from cellwright.cli.data.progress import bar
    from cellwright.data import load
    from cellwright.data.labelled import load as load_labelled
    from cellwright.data.labelled import looks_labelled
    from cellwright.data.tagged import load as load_tagged
    from cellwright.data.tagged.files import looks_tagged

    with bar() as progress:
        if labelled is not None or (tagged is None and looks_labelled(name)):
            return labelled_row(load_labelled(name, progress=progress, **_said(labelled)))
        if tagged is not None or looks_tagged(name):
            return tagged_row(load_tagged(name, progress=progress, **_said(tagged)))
        return _corpus_row(load(name, progress=progress))


def _said(settings: Mapping[str, str | None] | None) -> dict[str, Any]:
    return {name: value for name, value in (settings or {}).items() if value is not None}


def all_known() -> list[dict[str, Any]]:
    """All data that has a name; nothing is read that has not been before."""
    from cellwright.data import KNOWN, LABELLED, TAGGED, DataError
    from cellwright.data.sources import is_here

    peeks = {"text": _peek_text, "tagged": _peek_tagged, "labelled": _peek_labelled}
    rows = []
    for kind, known in [
        *(("text", known) for known in KNOWN.values()),
        *(("tagged", known) for known in TAGGED.values()),
        *(("labelled", known) for known in LABELLED.values()),
    ]:
        where = problem = None
        try:
            if is_here(known.name):
                where, row = peeks[kind](known)
                if row is not None:
                    rows.append(row)
                    continue
            else:
                problem = f"not here; cellwright data get {known.name}"
        except DataError as error:
            problem = str(error)
        rows.append(
            {
                "name": known.name,
                "kind": kind,
                **_of_known(known),
                "where": where,
                "problem": problem,
                "prepared": False,
                **dict.fromkeys((*COUNTS, "lines", "unknown", "as_published")),
            }
        )
    return rows


def tagged_row(found: Tagged) -> dict[str, Any]:
    """Sentences with tags. `description` is for people."""
    return {
        **_sentences_row(found, "tagged", {part: f.sentences for part, f in found.parts.items()}),
        "scheme": found.tags.scheme,
        "tags": list(found.tags.names),
        "spans": {part: dict(facts.spans) for part, facts in found.parts.items()},
        "notes": list(found.notes()),
        "description": found.describe(),
    }


def labelled_row(found: Labelled) -> dict[str, Any]:
    """Sentences or pairs with labels or scores. `description` is for people."""
    target, score = found.target, found.target.is_score
    return {
        **_sentences_row(found, "labelled", {part: f.examples for part, f in found.parts.items()}),
        "sentences": found.per_example,
        "labels": list(target.labels),
        "range": [target.lowest, target.highest] if score else None,
        "examples": {
            part: {"mean": facts.mean} if score else dict(facts.labels)
            for part, facts in found.parts.items()
        },
        "notes": list(found.notes()),
        "description": found.describe(),
    }


def _sentences_row(found: Tagged | Labelled, kind: str, lines: dict[str, int]) -> dict[str, Any]:
    return {
        "name": found.name,
        "kind": kind,
        **_of_known(found.known),
        "where": found.where,
        "problem": None,
        "prepared": True,
        **{part: facts.words for part, facts in found.parts.items()},
        "vocabulary": len(found.vocabulary),
        "lines": lines,
        "unknown": {part: facts.unseen for part, facts in found.parts.items()},
        "as_published": found.as_published,
    }


def _corpus_row(corpus: Corpus) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "kind": "text",
        **_of_known(corpus.known),
        "where": corpus.where,
        "problem": None,
        "prepared": True,
        **corpus.tokens,
        "vocabulary": len(corpus.vocabulary),
        "lines": dict(corpus.lines),
        "unknown": dict(corpus.unknown),
        "as_published": corpus.as_published,
    }


def _of_known(known: Known | None) -> dict[str, str | None]:
    return {
        "title": None if known is None else known.title,
        "licence": None if known is None else known.licence,
    }


def _peek_text(known: Known) -> tuple[str, dict[str, Any] | None]:
    from cellwright.data.cache import peek
    from cellwright.data.corpus import opened
    from cellwright.data.sources import locate

    source = locate(known.name)
    entry = peek(source)
    return source.where, None if entry is None else _corpus_row(opened(source, entry))


def _peek_tagged(known: Known) -> tuple[str, dict[str, Any] | None]:
    from cellwright.data.tagged.files import locate
    from cellwright.data.tagged.prepare import SHELF
    from cellwright.data.tagged.tagged import opened, options_for

    source, options = locate(known.name), options_for(known.name)
    entry = SHELF.peek(source, asdict(options))
    return source.where, None if entry is None else tagged_row(opened(source, options, entry))


def _peek_labelled(known: Known) -> tuple[str, dict[str, Any] | None]:
    from cellwright.data.labelled.labelled import peek

    where, found = peek(known.name)
    return where, None if found is None else labelled_row(found)
