"""How the rows of one's own files look: found out from the first row, or as options say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.base.errors import did_you_mean, shown
from cellwright.data.errors import DataError
from cellwright.data.labelled.options import Options
from cellwright.data.labelled.tables import raw_rows
from cellwright.data.labelled_sets import Form
from cellwright.data.sources import Text

FIRST = ("sentence1", "premise", "sentence_a", "question1", "text1", "sentence", "text")
SECOND = ("sentence2", "hypothesis", "sentence_b", "question2", "text2")
LABEL = ("label", "gold_label", "score", "target", "class")
"""What columns are called, in any case, if options do not say."""

NONE = "none"
"""The option `second` for files of which only one sentence is wanted."""

_SEPARATORS = {".csv": "commas", ".jsonl": "json", ".json": "json"}


def separator_of(path: str, options: Options) -> str:
    """What is between columns of a file."""
    if options.separator != "auto":
        return options.separator
    return _SEPARATORS.get(Path(path).suffix.lower(), "tabs")


def own_form(text: Text, options: Options, labelled: bool = True) -> Form:
    """How the rows of a file look.

    Args:
        text: the file.
        options: which columns, if that is said.
        labelled: whether it has to have labels.

    Raises:
        DataError: it has no such columns, or nothing in it.
    """
    separator = separator_of(text.label, options)
    for line, fields in raw_rows(text, separator):
        where = f"{text.label}: line {line:,}"
        if separator != "json" and _is_numbered(options, list(fields)):
            return _numbered(options, separator, len(fields), where, labelled)
        names = [name.strip() for name in fields]
        first = _column(options.first, FIRST, names, where, "a sentence")
        second = _column(options.second, SECOND, names, where)
        label = _column(options.label, LABEL, names, where, "a label" if labelled else "")
        assert first is not None
        taken = [each for each in (first, second, label) if each is not None]
        if len(set(taken)) < len(taken):
            raise DataError(f"{where}: first, second and label are not three different columns")
        return Form(first, second, label, separator=separator)
    raise DataError(f"{text.label} is empty; every file needs some rows")


def _is_numbered(options: Options, fields: Sequence[str]) -> bool:
    """Whether columns are said by number, and the first row is no header."""
    said = options.columns
    if "first" not in said or any(isinstance(each, str) and each != NONE for each in said.values()):
        return False
    label = said.get("label")
    if not isinstance(label, int) or label > len(fields):
        return True
    return fields[label - 1].strip().lower() not in LABEL


def _numbered(options: Options, separator: str, width: int, where: str, labelled: bool) -> Form:
    said = options.columns
    if labelled and "label" not in said:
        raise DataError(f"{where}: say the number of the labels' column with label, as of first")
    first, second, label = (said.get(name) for name in ("first", "second", "label"))
    if not labelled and isinstance(label, int) and label > width:
        label = None
    for number in (first, second, label):
        if isinstance(number, int) and number > width:
            raise DataError(f"{where} has {width} columns, and no column {number}")
    assert first is not None
    return Form(first, None if second == NONE else second, label, separator, header=False)


def _column(
    said: str | int, usual: Sequence[str], names: Sequence[str], where: str, needed: str = ""
) -> str | int | None:
    """The column that options say, or one with a usual name; None if there is none."""
    if said == NONE and not needed:
        return None
    if isinstance(said, int):
        if said > len(names):
            raise DataError(f"{where} has {len(names)} columns, and no column {said}")
        return names[said - 1]
    if said:
        if said in names or not (needed or usual is SECOND):
            return said if said in names else None
        hint = did_you_mean(said, names) or f"; its columns are {', '.join(map(shown, names[:8]))}"
        raise DataError(f"{where} has no column {shown(said)}{hint}")
    lower = {name.lower(): name for name in reversed(names)}
    found = next((lower[each] for each in usual if each in lower), None)
    if found is None and needed:
        option = "first" if usual is FIRST else "label"
        raise DataError(
            f"{where} names no column with {needed}, as {', '.join(usual[:3])}: it has "
            f"{', '.join(map(shown, names[:8]))}; say which one with {option}"
        )
    return found
