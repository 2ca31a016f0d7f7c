"""Lines of figures that come one by one, under a heading: the epochs of a training or a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NOTE_ROOM = 7
"""What is kept free for a short note behind the figures."""


@dataclass(frozen=True)
class Figure:
    """A figure of each line.

    Args:
        name: its heading.
        width: with the space before it.
        goes: when it is left out where room is short: the highest first, 0 never.
        left: whether it is a word, which stands at the left.
    """

    name: str
    width: int = 11
    goes: int = 0
    left: bool = False

    def shown(self, text: str) -> str:
        """A text in its column."""
        return f"  {text}".ljust(self.width) if self.left else text.rjust(self.width)


class Lines:
    """The figures for which there is room.

    >>> lines = Lines([Figure("epoch", 5), Figure("train", goes=1), Figure("valid")], 30, "F1")
    >>> lines.heading()
    ['F1 (not shown at this width: train)', 'epoch      valid']
    >>> lines.line({"epoch": "1", "train": "2.0", "valid": "1.5"}, "best")
    '    1        1.5   best'

    Args:
        figures: from left to right.
        room: how wide a line may be.
        about: what the figures are.
        notes: what is kept free for a note behind the figures.
    """

    def __init__(
        self, figures: Sequence[Figure], room: int, about: str, notes: int = NOTE_ROOM
    ) -> None:
        self._shown, self._room, self._about = list(figures), room, about
        for figure in sorted(figures, key=lambda figure: -figure.goes):
            if figure.goes and sum(f.width for f in self._shown) + notes > room:
                self._shown.remove(figure)
        self._gone = [figure.name for figure in figures if figure not in self._shown]

    def heading(self) -> list[str]:
        """Names of the figures, and what they are: behind that, or above if it is too long."""
        names = "".join(figure.shown(figure.name) for figure in self._shown).rstrip()
        whole = f"{names}   ({self._about})"
        if not self._gone and len(whole) <= self._room:
            return [whole]
        gone = f" (not shown at this width: {', '.join(self._gone)})" if self._gone else ""
        return [f"{self._about}{gone}", names]

    def line(self, values: Mapping[str, str], note: str = "") -> str:
        """The figures of one line."""
        figures = "".join(figure.shown(values[figure.name]) for figure in self._shown)
        return f"{figures}   {note}".rstrip()
