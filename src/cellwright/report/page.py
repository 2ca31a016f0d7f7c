"""`Page`: a report as one HTML file that needs nothing else: no network, no script, no fonts.

    page = Page("A comparison", lead="Two methods, thirty seeds.")
    page.section("Results")
    page.table(("method", "regret"), [("random search", 0.31), ("hyperband", 0.12)], highlight=1)
    page.figure(svg, "Regret against time", alt="two falling curves")
    page.write(Path("report.html"))

Whatever is handed over is text and is escaped. Pictures are data: addresses of `<img>`: a browser
runs no script in them and loads nothing for them, and the ids of several SVGs cannot clash. The
page's own policy forbids scripts and all other addresses besides.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from cellwright.base.errors import UserError
from cellwright.base.files import write_whole

TableCell = str | int | float | None
"""What stands in a table. None is an empty cell; a float is shown with four digits: hand over a
string for anything else."""

MOST_SECTIONS = 3
"""A page with more sections than this has a table of contents."""

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

_STYLE = """
:root { color-scheme: light dark; --text: #1c2024; --soft: #5b6470; --back: #ffffff;
  --line: #d9dee3; --band: #f4f6f8; --mark: #e3f0fa; --note: #fff6e0; --edge: #d08a00; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e7ea; --soft: #9aa4af; --back: #15181b;
  --line: #353c44; --band: #1e2327; --mark: #17344a; --note: #332a12; --edge: #d9a02b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; color: var(--text);
  background: var(--back); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.5rem 0 0.5rem; padding-top: 0.6rem;
  border-top: 1px solid var(--line); }
p, ul { max-width: 46rem; margin: 0.6rem 0; }
.lead { font-size: 1.1rem; color: var(--soft); }
nav { margin: 1.2rem 0; padding: 0.7rem 1rem; background: var(--band); border-radius: 6px; }
nav ol { margin: 0; padding-left: 1.4rem; }
a { color: inherit; }
figure { margin: 1.2rem 0; }
figure img { display: block; max-width: 100%; height: auto; padding: 0.5rem; background: #ffffff;
  border: 1px solid var(--line); border-radius: 6px; }
figcaption { max-width: 46rem; margin: 0.4rem 0; font-size: 0.9rem; color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.75rem; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
tr.marked td { background: var(--mark); font-weight: 600; }
.note { max-width: 46rem; margin: 1rem 0; padding: 0.6rem 1rem; background: var(--note);
  border-left: 4px solid var(--edge); border-radius: 0 6px 6px 0; }
pre { margin: 0.8rem 0; padding: 0.7rem 1rem; overflow-x: auto; background: var(--band);
  border-radius: 6px; font: 0.88rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
@media (max-width: 40rem) { th, td { padding: 0.3rem 0.45rem; } }
@media print { :root { color-scheme: light; --text: #000000; --soft: #444444; --back: #ffffff;
  --line: #bbbbbb; --band: #f4f4f4; --mark: #e8eef3; --note: #ffffff; --edge: #888888; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  h2, figcaption { break-after: avoid; } figure img, tr, .note { break-inside: avoid; }
  .wide, pre { overflow: visible; } pre { white-space: pre-wrap; } }
""".strip()


class PageError(UserError):
    """A page cannot be made: of a picture that is none, or a table whose rows differ in length."""


class Page:
    """A report that grows from top to bottom.

    Args:
        title: of the page.
        lead: what it is about, in a sentence or two, below the title.
    """

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self.lead = lead
        self._parts: list[str] = []
        self._sections: list[str] = []

    def section(self, heading: str) -> None:
        """Begin a section. A page with more than three has a table of contents."""
        self._sections.append(heading)
        self._parts.append(f'<h2 id="section-{len(self._sections)}">{escape(heading)}</h2>')

    def text(self, paragraph: str) -> None:
        """A paragraph."""
        self._parts.append(f"<p>{escape(paragraph)}</p>")

    def bullets(self, items: Iterable[str]) -> None:
        """A list."""
        self._parts.append("<ul>" + "".join(f"<li>{escape(i)}</li>" for i in items) + "</ul>")

    def links(self, items: Iterable[tuple[str, str]]) -> None:
        """A list of links: what each says, and the path of a file from the page's folder on.

        Raises:
            PageError: it is no such path.
        """
        found = []
        for words, path in items:
            if path.startswith("/") or ":" in path:
                raise PageError(f"a page links to files beside it, not to {path}")
            found.append(f'<li><a href="{escape(quote(path))}">{escape(words)}</a></li>')
        self._parts.append(f"<ul>{''.join(found)}</ul>")

    def note(self, text: str) -> None:
        """A remark that is seen: what the reader has to know before trusting a number."""
        self._parts.append(f'<p class="note" role="note">{escape(text)}</p>')

    def code(self, text: str) -> None:
        """A command, or anything else whose lines stand as they are."""
        self._parts.append(f"<pre><code>{escape(text)}</code></pre>")

    def table(
        self,
        header: Sequence[str],
        rows: Iterable[Sequence[TableCell]],
        *,
        numeric: Collection[int] | None = None,
        caption: str = "",
        highlight: int | Collection[int] = (),
    ) -> None:
        """A table.

        Args:
            header: names of the columns.
            rows: the rows, each as long as the header.
            numeric: columns that are aligned to the right; None for those of numbers alone.
            caption: below the table.
            highlight: the row, or rows, to stand out, counted from 0.

        Raises:
            PageError: a row has another length.
        """
        rows = [tuple(row) for row in rows]
        for number, row in enumerate(rows):
            if len(row) != len(header):
                raise PageError(
                    f"row {number} of a table has {len(row)} cells where the header has "
                    f"{len(header)}"
                )
        right = _numbers(rows, len(header)) if numeric is None else set(numeric)
        marked = {highlight} if isinstance(highlight, int) else set(highlight)
        kinds = [' class="number"' if place in right else "" for place in range(len(header))]
        head = "".join(
            f'<th scope="col"{kind}>{escape(name)}</th>'
            for name, kind in zip(header, kinds, strict=True)
        )
        body = "".join(
            ('<tr class="marked">' if number in marked else "<tr>")
            + "".join(
                f"<td{kind}>{escape(_shown(cell))}</td>"
                for cell, kind in zip(row, kinds, strict=True)
            )
            + "</tr>\n"
            for number, row in enumerate(rows)
        )
        self._parts.append(
            f'<figure><div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}</tbody>\n</table></div>{_caption(caption)}</figure>"
        )

    def figure(self, picture: bytes | str, caption: str = "", alt: str = "") -> None:
        """A picture.

        Args:
            picture: the contents of an SVG or PNG file.
            caption: below it.
            alt: what it shows, for those who cannot see it.

        Raises:
            PageError: it is neither.
        """
        data = picture.encode() if isinstance(picture, str) else picture
        kind = _picture_kind(data)
        address = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
        self._parts.append(
            f'<figure><img src="{address}" alt="{escape(alt or caption)}">'
            f"{_caption(caption)}</figure>"
        )

    def html(self) -> str:
        """The whole page."""
        contents = ""
        if len(self._sections) > MOST_SECTIONS:
            links = "".join(
                f'<li><a href="#section-{number}">{escape(heading)}</a></li>'
                for number, heading in enumerate(self._sections, 1)
            )
            contents = f'<nav aria-label="Contents"><ol>{links}</ol></nav>\n'
        lead = f'<p class="lead">{escape(self.lead)}</p>\n' if self.lead else ""
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n"
            f"<main>\n<h1>{escape(self.title)}</h1>\n{lead}{contents}"
            + "\n".join(self._parts)
            + "\n</main>\n</body>\n</html>\n"
        )

    def write(self, path: Path) -> None:
        """Write the page into a file, whole.

        Raises:
            RunError: it cannot be written.
        """
        write_whole(path, self.html().encode("utf-8", "replace"))


def _shown(cell: TableCell) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _numbers(rows: Sequence[Sequence[TableCell]], columns: int) -> set[int]:
    """The columns that have numbers and nothing else."""
    found = set()
    for place in range(columns):
        cells = [row[place] for row in rows if row[place] is not None]
        if cells and not any(isinstance(cell, str) for cell in cells):
            found.add(place)
    return found


def _caption(text: str) -> str:
    return f"<figcaption>{escape(text)}</figcaption>" if text else ""


def _picture_kind(data: bytes) -> str:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if b"<svg" in data[:2000]:
        return "svg+xml"
    raise PageError("a page's picture is the contents of an SVG or PNG file")
