"""Pages of the site that are made when it is built: the commands, from their own help texts, and
documents that live elsewhere in the repository.

Documents link to files of the repository, so that they can be followed wherever the repository is
read; on the site these links lead to its own pages.
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

ELSEWHERE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmark-scripts.md",
}
"""Documents of the repository that are pages of the site."""

FILES = ("examples/bracket_task.py", "examples/tempered_evolution.py", "examples/tour.ipynb")
"""Files that pages link to."""


def on_files(files: Any, config: Any) -> Any:
    """Called by mkdocs with the files that it has found."""
    from mkdocs.structure.files import File

    for source, page in ELSEWHERE.items():
        text = (ROOT / source).read_text("utf-8")
        files.append(File.generated(config, page, content=text))
    for name in FILES:
        files.append(File.generated(config, name, content=(ROOT / name).read_bytes()))
    files.append(File.generated(config, "commands.md", content=command_pages()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Called by mkdocs with the text of each page."""
    sources = {page: source for source, page in ELSEWHERE.items()}
    return linked(markdown, sources.get(page.file.src_uri, f"docs/{page.file.src_uri}"))


def linked(markdown: str, source: str) -> str:
    """A document's text with links to pages of the site.

    >>> linked("[x](../CONTRIBUTING.md#tests)", "docs/zoo.md")
    '[x](contributing.md#tests)'
    >>> linked("[x](docs/zoo.md), [y](https://example.org)", "CHANGELOG.md")
    '[x](zoo.md), [y](https://example.org)'
    """
    folder = Path(source).parent

    def renamed(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        path = _plain(folder / target)
        page = ELSEWHERE.get(path, path.removeprefix("docs/"))
        return f"]({page}{anchor})"

    return re.sub(r"\]\(([^)#\s]+)(#[^)\s]*)?\)", renamed, markdown)


def _plain(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


# -- commands ----------------------------------------------------------------------------------


def command_pages() -> str:
    """A page with every command: what it does, its arguments and options, examples."""
    from typer.main import get_command

    from cellwright.cli import app

    lines = [
        "# Commands",
        "",
        "What `--help` says of each command. Wherever one takes a cell, it takes a name of the "
        "[zoo](zoo.md), a file, a folder, a zip file, or `-` for standard input.",
    ]
    for command, context in commands(get_command(app)):
        lines += ["", *_described(command, context)]
    return "\n".join(lines) + "\n"


def commands(command: Any, parent: Any = None) -> Iterator[tuple[Any, Any]]:
    """Every command below one that can be called, with its context."""
    name = "cellwright" if parent is None else command.name
    context = command.context_class(command, info_name=name, parent=parent)
    if not hasattr(command, "list_commands"):
        yield command, context
        return
    for each in command.list_commands(context):
        yield from commands(command.get_command(context, each), context)


def _described(command: Any, context: Any) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"## {context.command_path}"
    yield ""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield _text(paragraph)
        yield ""
    yield f"```text\n{context.command_path} {usage}\n```"
    yield ""
    rows = [
        (getattr(one, "rich_help_panel", None) or "", *record)
        for one in command.get_params(context)
        if (record := one.get_help_record(context)) is not None
    ]
    if rows:
        yield "| argument or option | |\n|---|---|"
        for panel, name, about in rows:
            note = f" *{_text(panel)}.*" if panel else ""
            yield f"| {_code(name)} | {_text(about or '')}{note} |"
        yield ""
    examples = re.findall(r"^\[(dim|cyan)\](.*)\[/\]$", command.epilog or "", re.MULTILINE)
    if examples:
        yield "```console"
        yield from (_unescaped(text) for _, text in examples)
        yield "```"


def _unescaped(text: str) -> str:
    """A text as it is meant: brackets are escaped for the markup of the terminal."""
    return text.replace("\\[", "[")


def _text(text: str) -> str:
    """A help text in Markdown: names in angles and underscores mean themselves."""
    text = " ".join(_unescaped(text).split())
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", text)


def _code(text: str) -> str:
    """Not in backticks: a table takes a bar in them for the end of a column."""
    text = html.escape(_unescaped(text).removesuffix(" <str>")).replace("|", "&#124;")
    return f"<code>{text}</code>"
