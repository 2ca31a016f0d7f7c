"""Imports go one way: nothing lower knows anything higher."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import cellwright

ROOT = Path(cellwright.__file__).parent

LAYERS = (
    ("cli", "studio", "__main__"),
    ("api", "testing"),
    ("report",),
    ("search", "compare", "bench", "grids"),
    ("trials",),
    ("export",),
    ("runs",),
    ("training",),
    ("tasks",),
    ("models", "embeddings", "data"),
    ("spaces",),
    ("engine",),
    ("cell",),
    ("base",),
)
"""From the surface down, as docs/design.md has them."""

HEIGHT = {part: -depth for depth, parts in enumerate(LAYERS) for part in parts}

ALONE = {
    "search": ("bench", "compare", "grids"),
    "compare": ("bench", "grids"),
    "bench": ("grids",),
    "base": ("cell",),
}
"""What a part may not know beside it in its own layer."""


def imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Every module of ours that a file imports, also inside functions, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                yield node.lineno, ".".join([*base, node.module or ""]).rstrip(".")
            elif node.module == "cellwright":
                yield from ((node.lineno, f"cellwright.{name.name}") for name in node.names)
            else:
                yield node.lineno, node.module or ""


def upward(source: str, part: str, package: str) -> list[str]:
    """The imports of a file that go upwards, or aside where they may not."""
    found = []
    for line, module in imports(ast.parse(source), package):
        words = module.split(".")
        if words[0] != "cellwright" or len(words) == 1:
            continue
        other = words[1]
        if other not in HEIGHT:  # a name that the package itself exports
            continue
        if HEIGHT[other] > HEIGHT[part] or other in ALONE.get(part, ()):
            found.append(f"line {line}: {part} imports {module}")
    return found


def files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def test_every_folder_has_a_layer():
    parts = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in files()}
    assert parts <= HEIGHT.keys()


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path: Path):
    inside = path.relative_to(ROOT)
    part = inside.parts[0].removesuffix(".py")
    package = ".".join(("cellwright", *inside.parts[:-1]))
    assert upward(path.read_text(encoding="utf-8"), part, package) == []


@pytest.mark.parametrize(
    "line",
    [
        "from cellwright.cli import app",
        "import cellwright.search.blackbox.tpe",
        "def f():\n    from cellwright import report",
        "from ..trials import trial",
    ],
)
def test_an_import_that_goes_upwards_is_found(line: str):
    assert upward(line, "runs", "cellwright.runs")


def test_an_import_that_goes_downwards_is_not():
    assert not upward("from cellwright.cell import Cell\nimport json", "runs", "cellwright.runs")
