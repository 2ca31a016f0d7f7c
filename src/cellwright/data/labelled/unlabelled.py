"""Sentences and pairs that have no labels yet, to be told what they are, or for a submission."""

from __future__ import annotations

import os
from pathlib import Path

from cellwright.data.errors import DataError
from cellwright.data.labelled.forms import own_form, separator_of
from cellwright.data.labelled.options import Options
from cellwright.data.labelled.tables import Table
from cellwright.data.labelled_sets import LABELLED, Form, KnownLabelled
from cellwright.data.sources import Text, file_text


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
    options = Options() if options is None else options
    text = file_text(Path(path).expanduser())
    form = _form(text, LABELLED.get(name), per_example, options)
    if per_example is not None and form.per_example != per_example:
        has, needed = (("one sentence", "pairs of sentences")[many - 1] for many in (
            form.per_example, per_example,
        ))  # fmt: skip
        raise DataError(f"{text.label} has {has} a row, and {needed} are needed")
    return [row.sentences for row in Table(text, form).rows()]


def _form(text: Text, known: KnownLabelled | None, per: int | None, options: Options) -> Form:
    path = Path(text.label)
    if known is not None and not options.columns:
        form = known.forms.get(path.name)
        if form is not None and _fits(text, form):
            return _unlabelled(form)
        for form in dict.fromkeys(map(_unlabelled, known.forms.values())):
            if form.header and _fits(text, form):
                return form
    if path.suffix.lower() == ".txt" and not options.columns:
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
