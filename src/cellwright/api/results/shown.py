"""What every result has: a title, a cost, a table, and a form for notebooks."""

from __future__ import annotations

import html
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.base.amounts import duration, memory

_MOST_ROWS = 50
"""That a notebook shows."""


@dataclass(frozen=True)
class Cost:
    """What something took: seconds, numbers that the model learns, bytes of memory at most."""

    seconds: float
    parameters: int | None = None
    peak_memory: int | None = None

    def __str__(self) -> str:
        said = [duration(self.seconds)]
        if self.parameters is not None:
            said.append(f"{self.parameters:,} parameters")
        if self.peak_memory is not None:
            said.append(f"{memory(self.peak_memory)} of memory")
        return ", ".join(said)


class Shown:
    """What shows itself: a title and a table as text, and in a notebook with a picture."""

    @property
    def title(self) -> str:
        """What it is, in a line."""
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """The table, a dictionary for each row."""
        raise NotImplementedError

    def table(self) -> Any:
        """The rows as a pandas DataFrame; as a list of dictionaries where there is no pandas."""
        rows = self.rows()
        if importlib.util.find_spec("pandas") is None:
            return rows
        import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return pandas.DataFrame(rows)

    def _picture(self) -> str | None:
        """An SVG."""
        return None

    def _shown_rows(self) -> list[dict[str, Any]]:
        """The rows that a notebook shows."""
        return self.rows()[:_MOST_ROWS]

    def __repr__(self) -> str:
        return f"<{self.title}>"

    def _repr_html_(self) -> str:
        drawn = self._picture()
        parts = [f"<p><b>{html.escape(self.title)}</b></p>"]
        if drawn is not None:
            parts.append(f"<div style='max-width:720px'>{drawn[drawn.find('<svg') :]}</div>")
        parts.append(html_table(self._shown_rows()))
        return "".join(parts)


def html_table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_written(row.get(name)))}</td>" for name in names)
        + "</tr>"
        for row in rows
    )  # fmt: skip
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _written(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.5g}" if isinstance(value, float) else str(value)
