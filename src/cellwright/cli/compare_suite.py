"""What `cellwright compare --suite` prints: cells × tasks, and what that says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellwright.cli.output import printable, say, stdout
from cellwright.cli.tables import Column, Listing, name_column

if TYPE_CHECKING:
    from cellwright.api import SuiteComparison


def print_suite(found: SuiteComparison) -> None:
    """The tables of both parts, the outcome in words, what there is to know, and the report."""
    from cellwright.compare.suites.figures import PARTS
    from cellwright.report.suites.table import (
        AVERAGE,
        PARAMETERS,
        PART_WORDS,
        TIME,
        caption,
        suite_table,
    )
    from cellwright.report.suites.words import outcome, remarks

    # Which columns go where there is no room: the highest first, and the later tasks first.
    goes = {AVERAGE: 0, PARAMETERS: 2, TIME: 3}
    stdout().print()
    for part in PARTS:
        header, rows = suite_table(found.figures, part)
        name, *figures = header
        shown = Listing(
            name_column(name),
            *(Column(each, goes.get(each, 1), right=True) for each in figures),
            title=f"{PART_WORDS[part]} data",
        )
        for row in rows:
            shown.add(*row)
        stdout().print(shown)
        stdout().print()
    say(caption(found.figures), "dim")
    stdout().print()
    say(" ".join(outcome(found.figures)))
    for remark in remarks(found.figures):
        say(remark, "dim")
    stdout().print()
    stdout().print(printable(f"report: {found.report}"), soft_wrap=True)
