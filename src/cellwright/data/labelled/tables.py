"""The rows of a file with sentences: columns between tabs, commas or semicolons, or JSON lines.

Between tabs a quotation mark is a character like others; between commas and semicolons it stands
around fields, as in spreadsheets. Empty lines are left out. Memory does not depend on the size of
the file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cellwright.base.errors import did_you_mean, shown
from cellwright.data.byte_lines import EXAMPLE, blocks
from cellwright.data.errors import DataError
from cellwright.data.labelled_sets import Form
from cellwright.data.sources import Text

_MARKS = {"commas": ",", "semicolons": ";"}


class Row(NamedTuple):
    """An example as it is written, and its line. The label is empty if the file has none."""

    line: int
    sentences: tuple[str, ...]
    label: str


def _ignored(_: bytes) -> None: ...


def raw_rows(
    text: Text, separator: str, update: Callable[[bytes], object] = _ignored
) -> Iterator[tuple[int, Any]]:
    """Each row's line and its fields: a list, or of JSON lines a mapping.

    Raises:
        DataError: it cannot be read, or is no text in UTF-8. The message names the line.
    """
    lines = _lines(text, update)
    if separator == "tabs":
        return ((number, line.split("\t")) for number, line in lines if line.strip())
    if separator == "json":
        return ((number, _object(text, number, line)) for number, line in lines if line.strip())
    return _quoted(text, lines, _MARKS[separator])


def _lines(text: Text, update: Callable[[bytes], object]) -> Iterator[tuple[int, str]]:
    number = 0
    for some in blocks(text, update, EXAMPLE):
        for line in some:
            number += 1
            yield number, line.decode("utf-8")


def _quoted(text: Text, lines: Iterator[tuple[int, str]], mark: str) -> Iterator[tuple[int, Any]]:
    reader = csv.reader((f"{line}\n" for _, line in lines), delimiter=mark, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise DataError(
                f"{text.label}: line {start:,}: {error}; quotation marks stand around a whole "
                "field, and are doubled inside it"
            ) from None
        if fields is None:
            return
        if any(each.strip() for each in fields):
            yield start, fields


def _object(text: Text, number: int, line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(
            f"{text.label}: line {number:,} is no JSON object: {shown(line)}; a line is "
            '{"sentence": "…", "label": "…"}'
        )
    return found


@dataclass
class Table:
    """A file whose form is known.

    Attributes:
        broken: rows that were left out since they have too few or too many columns.
        unlabelled: rows that were left out since they have no label.
    """

    text: Text
    form: Form
    broken: int = 0
    unlabelled: int = 0
    _places: list[int] = field(default_factory=list)
    _part_place: int | None = None
    _widths: tuple[int, ...] = ()
    _header: str = ""

    def rows(self, update: Callable[[bytes], object] = _ignored) -> Iterator[Row]:
        """The examples; `update` is given every byte.

        Raises:
            DataError: a row is not of this form. The message names the line.
        """
        rows = raw_rows(self.text, self.form.separator, update)
        if self.form.separator == "json":
            yield from self._labelled(map(self._from_object, rows))
            return
        self._widths = self.form.widths
        if self.form.header:
            for line, fields in rows:
                self._read_header(line, list(fields))
                break
        else:
            self._places = [_index(column) for column in self._columns().values()]
        yield from self._labelled(
            found for row in rows if (found := self._from_fields(*row)) is not None
        )

    def check(self) -> None:
        """Look at the first row, and no further.

        Raises:
            DataError: it is not of this form.
        """
        next(self.rows(), None)

    def _columns(self) -> dict[str, str | int]:
        form = self.form
        columns = {"first": form.first, "second": form.second, "label": form.label}
        return {what: column for what, column in columns.items() if column is not None}

    def _labelled(self, rows: Iterator[Row]) -> Iterator[Row]:
        none = self.form.unlabelled
        for row in rows:
            if none and row.label == none:
                self.unlabelled += 1
            else:
                yield row

    def _read_header(self, line: int, names: list[str]) -> None:
        names = [name.strip() for name in names]
        where = f"{self.text.label}: line {line:,}"
        self._places = [column_index(column, names, where) for column in self._columns().values()]
        if self.form.part_column:
            self._part_place = column_index(self.form.part_column, names, where)
        self._widths, self._header = (len(names),), " ".join(names)

    def _from_fields(self, line: int, fields: Sequence[str]) -> Row | None:
        if not self._widths:
            self._widths = (len(fields),)
        if len(fields) not in self._widths or len(fields) <= max(self._places):
            if self.form.broken:
                self.broken += 1
                return None
            raise self._wrong_width(line, fields)
        if self._part_place is not None and fields[self._part_place].strip() != self.form.part:
            return None
        values = [fields[place] for place in self._places]
        return self._row(line, values)

    def _from_object(self, row: tuple[int, Mapping[str, Any]]) -> Row:
        line, found = row
        values = []
        for what, column in self._columns().items():
            if column not in found:
                hint = did_you_mean(str(column), found) or f"; it has {_listed(list(found))}"
                raise DataError(f"{self.text.label}: line {line:,} has no {shown(column)}{hint}")
            value = found[str(column)]
            if what != "label" and not isinstance(value, str):
                raise DataError(
                    f"{self.text.label}: line {line:,}: {column} is {shown(value)}, and no sentence"
                )
            if isinstance(value, (dict, list)):
                raise DataError(
                    f"{self.text.label}: line {line:,}: {column} is {shown(value)}; a label is a "
                    "word or a number"
                )
            text = value if isinstance(value, str) else "" if value is None else str(value)
            if not text.isascii():
                _check_characters(text, f"{self.text.label}: line {line:,}")
            values.append(text)
        return self._row(line, values)

    def _row(self, line: int, values: list[str]) -> Row:
        many = self.form.per_example
        label = " ".join(values[many].split()) if self.form.label is not None else ""
        if self.form.label is not None and not label:
            raise DataError(f"{self.text.label}: line {line:,} has no label")
        return Row(line, tuple(values[:many]), label)

    def _wrong_width(self, line: int, fields: Sequence[str]) -> DataError:
        found = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
        should = " or ".join(map(str, self._widths))
        if not self._header and max(self._places) >= max(self._widths):
            should = f"at least {max(self._places) + 1}"
        more = "…" if len(self._header) > 80 else ""
        why = f" ({self._header[:80]}{more})" if self._header else ""
        return DataError(
            f"{self.text.label}: line {line:,} has {found}, and should have {should}{why}: "
            f"{shown((self.form.separator == 'tabs' and chr(9).join(fields)) or list(fields))}"
        )


def column_index(column: str | int, names: Sequence[str], where: str) -> int:
    """The place of a column in a row, from 0 on, by its name in a header or its number.

    Raises:
        DataError: there is none. The message begins with `where`.
    """
    if isinstance(column, int):
        if column > len(names):
            raise DataError(f"{where} has {len(names)} columns, and no column {column}")
        return _index(column)
    if column in names:
        return list(names).index(column)
    hint = did_you_mean(column, names) or f"; it has {_listed(names)}"
    raise DataError(f"{where} has no column {shown(column)}{hint}")


def _index(column: str | int) -> int:
    return int(column) - 1


def _listed(names: Sequence[object]) -> str:
    most = 8
    more = ", …" if len(names) > most else ""
    return ", ".join(shown(name, 40) for name in names[:most]) + more


def _check_characters(text: str, where: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"{where} has half a character, \\u{ord(text[error.start]):04x}; save it as UTF-8"
        ) from None
