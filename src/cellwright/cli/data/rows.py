"""What `cellwright data list` says of each set of data, as JSON has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright.data import Corpus, Known
    from cellwright.data.tagged import Tagged

COUNTS = ("train", "valid", "test", "vocabulary")
"""What is shown as figures: the words of each part, and how many different ones there are."""


def named(name: str, reading: Mapping[str, str | None], tagged: bool) -> dict[str, Any]:
    """Data that was asked for: read, if need be.

    Args:
        name: a name, or a folder.
        reading: settings of tagged sentences.
        tagged: take a folder for sentences with tags, whatever its files are called.
    """
    from cellwright.cli.data.progress import bar
    from cellwright.data import load
    from cellwright.data.tagged import load as load_tagged
    from cellwright.data.tagged.files import looks_tagged

    with bar() as progress:
        if tagged or looks_tagged(name):
            given = {setting: value for setting, value in reading.items() if value is not None}
            return tagged_row(load_tagged(name, progress=progress, **given))  # type: ignore[arg-type]
        return _corpus_row(load(name, progress=progress))


def all_known() -> list[dict[str, Any]]:
    """All data that has a name; nothing is read that has not been before."""
    from cellwright.data import KNOWN, TAGGED, DataError
    from cellwright.data.sources import is_here

    rows = []
    for kind, known in [
        *(("text", known) for known in KNOWN.values()),
        *(("tagged", known) for known in TAGGED.values()),
    ]:
        where = problem = None
        try:
            if is_here(known.name):
                where, row = _peek_text(known) if kind == "text" else _peek_tagged(known)
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
        "name": found.name,
        "kind": "tagged",
        **_of_known(found.known),
        "where": found.where,
        "problem": None,
        "prepared": True,
        **{part: facts.words for part, facts in found.parts.items()},
        "vocabulary": len(found.vocabulary),
        "lines": {part: facts.sentences for part, facts in found.parts.items()},
        "unknown": {part: facts.unseen for part, facts in found.parts.items()},
        "as_published": found.as_published,
        "scheme": found.tags.scheme,
        "tags": list(found.tags.names),
        "spans": {part: dict(facts.spans) for part, facts in found.parts.items()},
        "notes": list(found.notes()),
        "description": found.describe(),
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
