"""The commands of documents that are written to be followed: they run, and print what they say."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from cli.test_readme import BLOCK, commands, matches

ROOT = Path(__file__).parents[2]


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    found = BLOCK.findall(text)
    return [block for skipped, name, block in found if name == language and not skipped]


def check_commands(run, shell, found: list[str]) -> None:
    """Ours in this process, where that is the same, since a new one takes seconds to import."""
    for command, expected in [pair for block in found for pair in commands(block)]:
        ours = re.fullmatch(r"cellwright ([^|;<>]*)", command)
        outcome = run(*shlex.split(ours[1]), width=100) if ours else shell(command, COLUMNS="100")
        assert outcome.code == 0, f"{command}\n{outcome.err}"
        assert matches(expected, outcome.out), f"{command}\n{outcome.out}"


def test_your_own_method(run, shell, folder: Path):
    for package in ("scipy", "matplotlib", "gensim"):
        pytest.importorskip(package)
    shutil.copy(ROOT / "examples" / "tempered_evolution.py", folder)
    [recipe] = blocks("your-own-method.md", "toml")
    (folder / "study.toml").write_text(recipe)
    check_commands(run, shell, blocks("your-own-method.md", "console"))


def marked(document: str) -> list[str]:
    """Console blocks of documents of which only some can be run: those after a mark."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    return re.findall(r"<!-- run -->\n```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", ["comparing.md", "runs.md", "studies.md", "bench.md"])
def test_for_a_paper(run, shell, document: str):
    for package in ("scipy", "matplotlib"):
        pytest.importorskip(package)
    found = marked(document)
    assert found
    check_commands(run, shell, found)


def test_text_from_a_language_model(run, shell):
    found = marked("generate.md")
    assert found
    check_commands(run, shell, found)


def test_one_command_that_finds_a_cell(run, shell):
    found = marked("auto.md")
    assert found
    check_commands(run, shell, found)


def test_your_own_texts(run, shell):
    check_commands(run, shell, blocks("data.md", "console"))


def test_the_example_is_the_one_in_the_document():
    [shown] = blocks("your-own-method.md", "py")
    example = (ROOT / "examples" / "tempered_evolution.py").read_text(encoding="utf-8")
    assert shown == example
    assert len(example.splitlines()) <= 40
    assert re.search(r"^class TemperedEvolution:$", example, re.MULTILINE)
