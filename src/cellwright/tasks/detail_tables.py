"""Tables and figures that kinds of tasks show of models in the same way."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.tasks.details import Table
from cellwright.tasks.tally import Tally

WIDEST = 12
"""Names of the widest confusion table; of more, the most frequent confusions are listed."""


def confusion_table(
    names: Sequence[str], counts: Sequence[Sequence[int]], title: str, items: str, top: int
) -> Table:
    """What is taken for what.

    Args:
        names: of types or labels.
        counts: rows are what is true, columns what was said.
        title: what is counted, by what is true.
        items: what is counted.
        top: how many confusions are listed, if names are too many for a table.
    """
    if len(names) <= WIDEST:
        rows = [
            (name, *(f"{many:,}" for many in row)) for name, row in zip(names, counts, strict=True)
        ]
        return Table(f"{title} (rows) and what was said", ("true", *names), rows)
    wrong = [
        (many, true, said)
        for true, row in zip(names, counts, strict=True)
        for said, many in zip(names, row, strict=True)
        if many and true != said
    ]
    most = sorted(wrong, key=lambda entry: -entry[0])[:top]
    rows = [(true, said, f"{many:,}") for many, true, said in most]
    return Table(f"the most frequent confusions of {items}", ("true", "said", items), rows, texts=2)


def tally_figures(tally: Tally) -> tuple[str, ...]:
    """How many are true and were said; precision, recall and F1 in percent."""
    return (
        f"{tally.true:,}",
        f"{tally.guessed:,}",
        percent(tally.precision, tally.guessed),
        percent(tally.recall, tally.true),
        percent(tally.f1, tally.true or tally.guessed),
    )


TALLY_COLUMNS = ("true", "said", "precision", "recall", "F1")
"""The columns of these."""


def percent(share: float, of: float) -> str:
    """A share in percent; a dash where it is one of nothing.

    >>> percent(0.5, 2), percent(0.0, 0)
    ('50.00', '–')
    """
    return f"{100 * share:.2f}" if of else "–"


def signed_percent(difference: float, of: float) -> str:
    """A difference of shares, likewise.

    >>> signed_percent(0.25, 2)
    '+25.00'
    """
    return f"{100 * difference:+.2f}" if of else "–"
