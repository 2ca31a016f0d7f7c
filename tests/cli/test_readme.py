"""The README is true: its Python runs, its commands run and print what it says they print.

A block after `<!-- not run -->` is left out. A line `…` stands for any lines, and `…` inside a
line for any text.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"(<!-- not run -->\s*)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    found = BLOCK.findall(README.read_text(encoding="utf-8"))
    return [text for skipped, name, text in found if name == language and not skipped]


def commands(block: str) -> list[tuple[str, str]]:
    """Each command of a console block with the output it should have."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block starts with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def matches(expected: str, output: str) -> bool:
    def lines(text: str) -> str:
        return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())

    pattern = re.escape(lines(expected))
    pattern = re.sub(r"^…\\?\n", r"(?:.*\\n)*", pattern, flags=re.MULTILINE)
    return re.fullmatch(pattern.replace("…", ".*"), lines(output)) is not None


def test_there_is_something_to_test():
    assert len(blocks("python")) >= 1
    assert len(blocks("console")) >= 1


def test_it_is_short_and_its_tables_are_those_of_the_documents():
    text = README.read_text("utf-8")
    assert len(text.splitlines()) < 150
    for document, row in (
        ("benchmarks.md", r"^\| [\w-]+ \| [\d,]+ \| train \|.*$"),
        ("results.md", r"^\| [\w-]+ \| [\d,]+ \| [\d.]+ \|.* min .*$"),
    ):
        rows = re.findall(row, text, re.MULTILINE)
        assert len(rows) >= 3
        known = (README.parent / "docs" / document).read_text("utf-8").splitlines()
        assert [one for one in rows if one not in known] == []


@pytest.mark.parametrize("code", blocks("python"))
def test_python(folder: Path, code: str):
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


def test_console(shell):
    for command, expected in [pair for block in blocks("console") for pair in commands(block)]:
        outcome = shell(command, COLUMNS="100")
        assert outcome.code == 0, f"{command}\n{outcome.err}"
        assert matches(expected, outcome.out), f"{command}\n{outcome.out}"


def test_pictures_are_there():
    for path in re.findall(r'(?:src="|\]\()((?:docs|examples)/[^")]+)', README.read_text("utf-8")):
        assert (README.parent / path).is_file(), path


@pytest.mark.parametrize(
    ("expected", "output", "fits"),
    [
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a …\n", "a bc  \n", True),
        ("a\n", "a\nb\n", False),
        ("a.c\n", "abc\n", False),
        ("…\nz\n", "a\nz\n", True),
    ],
)
def test_how_output_is_compared(expected: str, output: str, fits: bool):
    assert matches(expected, output) is fits
