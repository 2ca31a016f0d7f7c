"""Reports: everything is escaped, nothing is fetched, and the HTML is well formed."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest

from cellwright.report.page import Page, PageError

NASTY = "<script>alert('&\"x\"')</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><defs id="a"/></svg>'
PNG = b"\x89PNG\r\n\x1a\n rest"

EMPTY_TAGS = {"meta", "img"}


class Reader(HTMLParser):
    """Tags with their attributes, the text, and whether every tag is closed by its own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in EMPTY_TAGS:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def nasty_page():
    page = Page(NASTY, lead=NASTY)
    for number in range(4):
        page.section(f"{NASTY} {number}")
    page.text(NASTY)
    page.note(NASTY)
    page.code(NASTY)
    page.bullets([NASTY, NASTY])
    page.table([NASTY, "b"], [(NASTY, 1), ("x", None)], caption=NASTY)
    page.figure(SVG, NASTY, NASTY)
    return page


def test_whatever_is_handed_over_is_text():
    read = Reader(nasty_page().html())
    assert not read.named("script")
    # title and heading, lead, text, note, code, two bullets, three in the table, one caption
    assert read.words.count(NASTY) == 12
    assert read.named("img")[0]["alt"] == NASTY


def test_a_page_fetches_nothing_and_runs_nothing():
    page = nasty_page()
    page.figure(PNG, "a PNG")
    read = Reader(page.html())
    sources = [image["src"] for image in read.named("img")]
    assert [source.split(";")[0] for source in sources] == ["data:image/svg+xml", "data:image/png"]
    assert base64.b64decode(sources[0].split(",")[1]) == SVG
    for _, attributes in read.tags:
        assert not {name for name in attributes if name.startswith("on")}
        assert attributes.get("href", "#").startswith("#")
    policy = next(m for m in read.named("meta") if "http-equiv" in m)["content"]
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert not re.search(r"url\(|@import", page.html())


def test_more_than_three_sections_have_a_table_of_contents():
    page = Page("Title")
    for heading in ("one", "two", "three"):
        page.section(heading)
    assert "<nav" not in page.html()
    page.section("two")
    read = Reader(page.html())
    ids = [heading["id"] for heading in read.named("h2")]
    assert len(set(ids)) == 4
    assert [link["href"] for link in read.named("a")] == [f"#{name}" for name in ids]


def test_a_table_aligns_numbers_and_marks_a_row():
    page = Page("Title")
    page.table(("a", "b", "c"), [("x", 1, 0.123456), ("y", None, float("nan"))], highlight=1)
    html = page.html()
    assert '<td>x</td><td class="number">1</td><td class="number">0.1235</td>' in html
    assert '<tr class="marked"><td>y</td><td class="number"></td><td class="number">nan<' in html
    page.table(("a",), [("1.50",)], numeric=[0])
    assert '<td class="number">1.50</td>' in page.html()
    with pytest.raises(PageError, match="row 1 of a table has 1 cells where the header has 2"):
        page.table(("a", "b"), [(1, 2), (1,)])


def test_something_else_than_a_picture_is_an_error():
    with pytest.raises(PageError, match="SVG or PNG"):
        Page("Title").figure(b"GIF89a")


def test_a_page_is_written_whole_and_the_same_each_time(tmp_path):
    nasty_page().write(tmp_path / "a.html")
    nasty_page().write(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.html", "b.html"]
