"""Help texts that teach by example.

typer's own epilogs keep line breaks in some versions and fold them in others, so the examples
are printed here.
"""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from cellwright.cli.output import stdout


def examples(*rows: tuple[str, str]) -> str:
    """Examples for the end of a help text, as an epilog: what each shows, and the command."""
    lines = ["[bold]Examples[/]"]
    for comment, command in rows:
        if comment:
            lines.append(f"[dim]# {escape(comment)}[/]")
        lines.append(f"[cyan]$ {escape(command)}[/]")
    return "\n".join(lines)


class Command(TyperCommand):
    """A command whose epilog is a list of examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the usual help, then the examples."""
        epilog, self.epilog = self.epilog, None
        super().format_help(ctx, formatter)
        self.epilog = epilog
        _print(epilog)


class Group(TyperGroup):
    """A group of commands whose epilog is a list of examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the usual help, then the examples."""
        epilog, self.epilog = self.epilog, None
        super().format_help(ctx, formatter)
        self.epilog = epilog
        _print(epilog)


def _print(epilog: str | None) -> None:
    if epilog:
        for line in ["", *epilog.splitlines()]:
            stdout().print(Text(" ") + Text.from_markup(line, emoji=False), soft_wrap=True)
