"""Help texts that teach by example, in terminals of any width.

typer's own epilogs keep line breaks in some versions and fold them in others, so the examples
are printed here. Its panels cut words where the terminal is narrow; there the help is plain text.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from rich.markup import escape
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from cellwright.cli.output import folded, stdout, trimmed

NARROW = 60
"""Terminals narrower than this have no room for panels."""


def examples(*rows: tuple[str, str]) -> str:
    """Examples for the end of a help text, as an epilog: what each shows, and the command."""
    lines = ["[bold]Examples[/]"]
    for comment, command in rows:
        if comment:
            lines.append(f"[dim]# {escape(comment)}[/]")
        lines.append(f"[cyan]$ {escape(command)}[/]")
    return "\n".join(lines)


class _Helpful:
    """What commands and groups have in common: an epilog that is a list of examples."""

    epilog: str | None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the usual help, then the examples."""
        epilog, self.epilog = self.epilog, None
        if stdout().width < NARROW:
            for line in _plain(self, ctx):
                stdout().print(line, soft_wrap=True)
        else:
            with trimmed():
                super().format_help(ctx, formatter)  # type: ignore[misc]
        self.epilog = epilog
        _print(epilog)


class Command(_Helpful, TyperCommand):
    """A command whose epilog is a list of examples."""


class Group(_Helpful, TyperGroup):
    """A group of commands whose epilog is a list of examples."""


def _plain(command: Any, ctx: Any) -> Iterator[str]:
    """The help of a command without panels: what each option does, below its name."""
    width = stdout().width
    usage = " ".join(command.collect_usage_pieces(ctx))
    yield from folded(f"Usage: {ctx.command_path} {usage}", width)
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield ""
        yield from folded(_unescaped(paragraph), width)
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for param in command.get_params(ctx):
        usual = "Arguments" if param.param_type_name == "argument" else "Options"
        title = getattr(param, "rich_help_panel", None) or usual
        record = param.get_help_record(ctx)
        if record is not None:
            sections.setdefault(title, []).append(record)
    names = command.list_commands(ctx) if isinstance(command, TyperGroup) else []
    found = [(name, command.get_command(ctx, name)) for name in names]
    sections["Commands"] = [(name, one.get_short_help_str(200)) for name, one in found]
    for title, rows in sections.items():
        if rows:
            yield ""
            yield from folded(title, width)
        for name, about in rows:
            yield from folded(f"  {name}", width)
            yield from folded(f"    {_unescaped(about or '')}", width)


def _unescaped(text: str) -> str:
    """A help text as it is meant: a bracket is escaped for the markup of the panels."""
    return " ".join(text.replace("\\[", "[").split())


def _print(epilog: str | None) -> None:
    if epilog:
        for line in ["", *epilog.splitlines()]:
            stdout().print(Text(" ") + Text.from_markup(line, emoji=False), soft_wrap=True)
