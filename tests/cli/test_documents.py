"""The commands of documents that are written to be followed: they run, and print what they say."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("document", ["data.md", "cells.md", "tour.md", "paper-figure.md"])
def test_every_command_of_a_document(run, shell, document: str):
    if document == "paper-figure.md":
        pytest.importorskip("matplotlib")
    found = blocks(document, "console")
    assert found
    check_commands(run, shell, found)


def test_your_own_task(run, shell, folder: Path):
    shutil.copy(ROOT / "examples" / "bracket_task.py", folder)
    [recipe] = blocks("your-own-task.md", "toml")
    (folder / "brackets.toml").write_text(recipe)
    check_commands(run, shell, blocks("your-own-task.md", "console"))


SHORTER = {
    "--minutes 30": "--epochs 4 --set method.epochs=2 --set method.eta=2 --set final.seeds=2 "
    "--set child.model.hidden=8 --set text.train=4000 --executor in-process",
    "cellwright train studies/my-search/best.json": "cellwright train studies/my-search/best.json "
    "--set model.hidden=8 --set training.epochs=1 --set training.batch=64",
}
"""What the newcomer's commands have in a test, where half an hour is too long."""


def test_from_an_installation_to_a_cell_of_ones_own_in_five_commands(
    run, shell, folder: Path, monkeypatch
):
    text = (ROOT / "docs" / "your-own-text.md").read_text("utf-8")
    installing = re.findall(r"^pip install .*$", text, re.MULTILINE)
    setup, *found = blocks("your-own-text.md", "console")
    assert "<!-- setup -->\n```console\n" + setup in text
    lines = [command for block in found for command, _ in commands(block)]
    assert len(installing) + len(lines) <= 5
    assert [line.split()[1] for line in lines] == ["data", "search", "train", "export"]
    for block in (setup, *found):
        for long, short in SHORTER.items():
            block = block.replace(long, short)
        check_commands(run, shell, [block])
    [python] = blocks("your-own-text.md", "py")
    monkeypatch.syspath_prepend(folder)
    exec(compile(python, "your-own-text.md", "exec"), {})


def test_every_command_in_every_document_is_one():
    """Those that take hours as well: each command is there, with these options and this recipe."""
    from typer.main import get_command

    from cellwright.cli import app

    texts = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [line for path in texts for line in typed(path.read_text("utf-8"))]
    assert len(found) > 300
    root = get_command(app)
    assert [why for line in found if (why := wrong(root, line)) is not None] == []


def typed(text: str) -> list[str]:
    """Every command that a document shows, in a line of its own or within a sentence."""
    text = text.replace("\\\n", " ")
    fences = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^ *\$ (cellwright .*)$", text, re.MULTILINE)
    for block in fences.findall(text):
        lines += re.findall(r"^(cellwright .*)$", block, re.MULTILINE)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`(cellwright [a-z][^`]*)`", prose)
    return [" ".join(line.split()) for line in [*lines, *spans]]


RECIPES = {path.stem for path in ROOT.glob("src/cellwright/recipes/*/*.toml")}


def wrong(command: Any, line: str) -> str | None:
    """What is wrong with a command, if anything; placeholders stand for any argument."""
    words = shlex.split(re.split(r" [|>] | && |; ", line)[0], comments=True)[1:]
    context = command.context_class(command, info_name="cellwright")
    while hasattr(command, "list_commands"):
        if not words or not words[0][0].isalpha():
            return None  # a group of commands by its name
        name = words.pop(0)
        command = command.get_command(context, name)
        if command is None:
            return f"{line}: there is no command {name}"
        context = command.context_class(command, info_name=name, parent=context)
    try:
        options, arguments, _ = command.make_parser(context).parse_args(words)
    except Exception as error:  # click's own, of whichever copy
        mention = "requires an argument" in str(error)  # an option by its name alone
        return None if mention else f"{line}: {error}"
    takes = context.info_name in ("search", "tune", "grid", "sensitivity")
    named = [options.get("recipe"), *(arguments[:1] if takes else [])]
    for one in named:
        plain = isinstance(one, str) and re.fullmatch(r"[a-z][a-z0-9-]*", one)
        if plain and one not in RECIPES:
            return f"{line}: there is no recipe {one}"
    return None


def test_a_wrong_command_in_a_document_is_found():
    from typer.main import get_command

    from cellwright.cli import app

    root = get_command(app)
    for line in (
        "cellwright serch auto",
        "cellwright train gru --wrong",
        "cellwright grid nothing",
    ):
        assert wrong(root, line) is not None, line
    assert typed("`cellwright cells list`\n    $ cellwright data list\n") == [
        "cellwright data list", "cellwright cells list",
    ]  # fmt: skip


def test_the_example_is_the_one_in_the_document():
    [shown] = blocks("your-own-method.md", "py")
    example = (ROOT / "examples" / "tempered_evolution.py").read_text(encoding="utf-8")
    assert shown == example
    assert len(example.splitlines()) <= 40
    assert re.search(r"^class TemperedEvolution:$", example, re.MULTILINE)
