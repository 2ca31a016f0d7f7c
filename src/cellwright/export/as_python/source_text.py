"""Lines of Python source: indented, and broken where they would be too long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 100


def indented(lines: Iterable[str], by: int) -> list[str]:
    """The lines further right; those that are too long are broken at sums."""
    return [part for line in lines for part in _broken(line, " " * by)]


def plain_text(text: str, most: int = 200) -> str:
    """A text in one line that can stand in a docstring: no quotes, nothing that escapes.

    >>> plain_text('a "cell"\\nof mine')
    "a 'cell' of mine"
    """
    words = " ".join(text.split())[:most].replace("\\", "/").replace('"', "'")
    return "".join(sign if sign.isprintable() else "?" for sign in words)


def call(before: str, arguments: Sequence[str], after: str, by: int) -> list[str]:
    """A call, or the head of a function, in one line or with a line for each argument."""
    line = f"{' ' * by}{before}({', '.join(arguments)}){after}"
    if len(line) <= WIDTH:
        return [line]
    inner = [f"{' ' * (by + 4)}{argument}," for argument in arguments]
    return [f"{' ' * by}{before}(", *inner, f"{' ' * by}){after}"]


def _broken(line: str, indent: str) -> list[str]:
    if not line:
        return [""]
    if len(indent + line) <= WIDTH or " = " not in line:
        return [indent + line]
    name, _, value = line.partition(" = ")
    value, _, comment = value.partition("  # ")
    lines, current = [], ""
    for number, term in enumerate(value.split(" + ")):
        piece = f"+ {term}" if number else term
        if current and len(indent) + 5 + len(current) + len(piece) > WIDTH:
            lines.append(current)
            current = piece
        else:
            current = f"{current} {piece}" if current else piece
    behind = f"  # {comment}" if comment else ""
    body = [f"{indent}    {each}" for each in (*lines, current)]
    return [f"{indent}{name} = (", *body, f"{indent}){behind}"]
