"""The documentation as a site: it builds without a warning, every link leads somewhere, and nothing
is fetched from elsewhere."""

from __future__ import annotations

import doctest
import importlib.util
import logging
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]

for package in ("mkdocs", "material", "mkdocstrings"):
    pytest.importorskip(package, reason=f"{package} is not installed (extra: docs)")


def hook(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Page(HTMLParser):
    """What a page has that can be linked to, what it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.names |= {str(values[key]) for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        if tag in ("script", "img", "iframe") and values.get("src"):
            self.loads.append(str(values["src"]))
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(str(values["href"]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    said: list[str] = []
    handler = Heard(logging.WARNING)
    logging.getLogger("mkdocs").addHandler(handler)
    folder = tmp_path_factory.mktemp("site")
    try:
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
        build(config)
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    assert said == []
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_no_link_is_dead(pages: dict[Path, Page]):
    assert len(pages) > 30
    dead = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are those of a server's root
            continue
        for link in page.links:
            target, _, name = unquote(link).partition("#")
            if re.match(r"\w+:", link):
                continue
            place = (path.parent / target).resolve() if target else path
            known = pages.get(place)
            if not place.exists() or (name and known is not None and name not in known.names):
                dead.append(f"{path.name}: {link}")
    assert dead == []


def test_nothing_is_fetched_from_elsewhere(site: Path, pages: dict[Path, Page]):
    outside = re.compile(r"(\w+:)?//")
    loaded = [load for page in pages.values() for load in page.loads]
    assert len(loaded) > 100
    assert [load for load in loaded if outside.match(load)] == []
    for style in site.rglob("*.css"):
        found = re.findall(r"(?:@import|url\()\s*[\"']?([^\"')]+)", style.read_text("utf-8"))
        assert [one for one in found if outside.match(one)] == []


def test_every_command_is_described_with_its_options(site: Path):
    from typer.main import get_command

    from cellwright.cli import app

    text = (site / "commands.html").read_text("utf-8")
    found = list(hook("site_pages").commands(get_command(app)))
    assert len(found) > 30
    for command, context in found:
        section = text.partition(f">{context.command_path}<")[2].partition("<h2")[0]
        assert section, context.command_path
        for option in command.get_params(context):
            for name in option.opts:
                assert not name.startswith("--") or name in section, f"{command.name} {name}"


def test_every_name_of_the_front_door_is_described(pages: dict[Path, Page], site: Path):
    import cellwright
    import cellwright.api

    names = pages[site / "python.html"].names
    for name in cellwright.__all__:
        where: Any = getattr(cellwright.api, name, None)
        if callable(where):
            assert f"cellwright.api.{name}" in names, name


def test_links_of_the_repository_lead_to_pages():
    found = doctest.testmod(hook("site_pages"))
    assert found.attempted > 0
    assert found.failed == 0


def test_examples_of_docstrings_are_code():
    fenced = hook("doctest_fences").fenced
    assert fenced("A sum.\n\n>>> 1 + 1\n2\n\nMore.") == (
        "A sum.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore."
    )
    assert fenced("Is a > b?") == "Is a > b?"
