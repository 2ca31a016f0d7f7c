"""Sentences and pairs that have no labels yet, to be told what they are, or for a submission."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from cellwright.base.errors import reason
from cellwright.data.errors import DataError
from cellwright.data.labelled.forms import own_form, separator_of
from cellwright.data.labelled.options import Options
from cellwright.data.labelled.tables import Table
from cellwright.data.labelled_sets import LABELLED, Form, KnownLabelled
from cellwright.data.sources import Text, file_text
from cellwright.data.tagged.untagged import lines_of


def read_examples(
    path: str | os.PathLike[str],
    *,
    name: str = "",
    per_example: int | None = None,
    options: Options | None = None,
) -> list[tuple[str, ...]]:
    """The sentences of each row of a file, as they are written; labels are not read.

    Args:
        path: a file in a form of the data that is named; or one with columns as `load` finds them;
            or one that ends in .txt, with a sentence a line, of a pair with a tab between the two.
        name: of known data, whose official files are read as such.
        per_example: how many sentences there have to be in a row.
        options: the columns of your own files.

    Raises:
        DataError: it is no such file. The message names the line.
    """
    text = file_text(Path(path).expanduser())
    return list(examples_of(text, name=name, per_example=per_example, options=options))


def examples_of(
    text: Text,
    *,
    name: str = "",
    per_example: int | None = None,
    options: Options | None = None,
    plain: bool = False,
) -> Iterator[tuple[str, ...]]:
    """The same of a text, one after the other, in memory that does not depend on its size.

    Args:
        text: that is read.
        name: of known data.
        per_example: how many sentences there have to be in a row.
        options: the columns of your own files.
        plain: whether it is plain text if it is no official file: a sentence a line, of a pair
            with a tab between the two. An empty line is an empty example, and what is no UTF-8
            becomes `�`.

    Raises:
        DataError: it is no such text. The message names the line.
    """
    options = Options() if options is None else options
    form = _official(text, LABELLED.get(name), options)
    if form is None and plain:
        yield from _plain(text, per_example or 1)
        return
    form = _own(text, per_example, options) if form is None else form
    if per_example is not None and form.per_example != per_example:
        has, needed = (("one sentence", "pairs of sentences")[many - 1] for many in (
            form.per_example, per_example,
        ))  # fmt: skip
        hint = "" if per_example == 2 else "; second = none takes the first"
        raise DataError(f"{text.label} has {has} a row, and {needed} should be there{hint}")
    for row in Table(text, form).rows():
        yield row.sentences


def _plain(text: Text, per_example: int) -> Iterator[tuple[str, ...]]:
    try:
        with text.open() as opened:
            lines = lines_of(io.BufferedReader(cast(Any, opened)))
            for number, line in enumerate(lines, 1):
                yield _sentences(line, per_example, f"{text.label}: line {number:,}")
    except OSError as error:
        raise DataError(f"{text.label}: {reason(error)}") from None


def _sentences(line: str, per_example: int, where: str) -> tuple[str, ...]:
    if per_example == 1:
        return (line,)
    sentences = tuple(line.split("\t")) if line.strip() else ("", "")
    if len(sentences) != per_example:
        found = "no tab" if len(sentences) == 1 else f"{len(sentences) - 1} tabs"
        raise DataError(f"{where} has {found}; a pair is two sentences with a tab between them")
    return sentences


def _official(text: Text, known: KnownLabelled | None, options: Options) -> Form | None:
    """The form of a file of known data, if it is one."""
    if known is None or options.columns:
        return None
    form = known.forms.get(Path(text.label).name)
    if form is not None and _fits(text, form):
        return _unlabelled(form)
    for form in dict.fromkeys(map(_unlabelled, known.forms.values())):
        if form.header and _fits(text, form):
            return form
    return None


def _own(text: Text, per: int | None, options: Options) -> Form:
    plain = Path(text.label).suffix.lower() == ".txt" and options.separator == "auto"
    if plain and not options.columns:
        return Form(1, 2 if per == 2 else None, header=False, widths=(per or 1,))
    return _unlabelled(own_form(text, options, labelled=False))


def _unlabelled(form: Form) -> Form:
    return Form(form.first, form.second, None, form.separator, form.header, form.widths)


def _fits(text: Text, form: Form) -> bool:
    """Whether the first row is of a form."""
    if separator_of(text.label, Options()) == "json" and form.separator != "json":
        return False
    try:
        Table(text, form).check()
    except DataError:
        return False
    return True
