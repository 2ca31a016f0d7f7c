"""How tagged sentences are written: as columns, as JSON lines, or as text with its spans marked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from cellwright.cli.output import printable

if TYPE_CHECKING:
    from cellwright.tasks.tagging.use import TaggedSentence

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
_BRIGHT = tuple(f"bright_{colour}" for colour in _COLOURS)


def columns(sentence: TaggedSentence) -> str:
    """A word and its tag a line, and an empty line at the end."""
    rows = zip(sentence.words, sentence.tags, strict=True)
    return "".join(f"{word} {tag}\n" for word, tag in rows) + "\n"


def json_line(sentence: TaggedSentence) -> str:
    """One JSON object in a line."""
    value: dict[str, Any] = {
        "words": sentence.words,
        "tags": sentence.tags,
        "spans": [span._asdict() for span in sentence.spans],
    }
    if sentence.probabilities is not None:
        value["probabilities"] = [round(share, 6) for share in sentence.probabilities]
    return json.dumps(value, ensure_ascii=False) + "\n"


def marked(sentence: TaggedSentence) -> str:
    """The words with spaces between them, and each span in brackets with its type behind."""
    return f"{sentence}\n"


def has_colours(console: Console) -> bool:
    """Whether a console shows them: a terminal does, unless NO_COLOR is set."""
    return console.is_terminal and not console.no_color and console.color_system is not None


def styles(types: Sequence[str]) -> dict[str, str]:
    """A colour for each type of span, always the same for the same types."""
    palette = _COLOURS + _BRIGHT
    return {type: palette[n % len(palette)] for n, type in enumerate(sorted(types))}


def coloured(sentence: TaggedSentence, styles: Mapping[str, str]) -> Text:
    """The words, each span in the colour of its type, with the type behind."""
    line, at = Text(), 0
    for span in sentence.spans:
        _add(line, sentence.words[at : span.start])
        _add(line, sentence.words[span.start : span.end], f"bold {styles[span.type]}")
        if span.type:
            _add(line, [span.type], f"dim {styles[span.type]}")
        at = span.end
    _add(line, sentence.words[at:])
    return line


def _add(line: Text, words: Sequence[str], style: str = "") -> None:
    if words:
        line.append(" " if line else "")
        line.append(printable(" ".join(words)), style)
