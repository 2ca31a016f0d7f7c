"""The tasks that encoders are measured on: GLUE's, or those of a file of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.compare.suites.suite import Suite, find_suite, on_glue

SUITES: dict[str, Suite] = {
    "glue": on_glue("glue", "GLUE by frozen encoders", "frozen-{}"),
    "glue-laptop": on_glue(
        "glue-laptop", "GLUE by frozen encoders, with short trainings", "frozen-{}-laptop"
    ),
}
"""With jiant's numbers, and with those for laptops."""


def encoder_suite(suite: str | Path | Suite, tasks: Sequence[str] | None = None) -> Suite:
    """A suite, or some of its tasks.

    >>> encoder_suite("glue-laptop", ["rte", "cola"]).labels
    ('cola', 'rte')

    Args:
        suite: a name of `SUITES`, or a TOML file.
        tasks: labels of tasks; all of them unless said.

    Raises:
        UserError: there is no such suite, or no such task in it.
    """
    if not isinstance(suite, Suite):
        suite = SUITES[str(suite)] if str(suite) in SUITES else find_suite(suite)
    if tasks is None:
        return suite
    for label in tasks:
        if label not in suite.labels:
            hint = did_you_mean(label, suite.labels) or f"; there are {', '.join(suite.labels)}"
            raise UserError(f"the suite {suite.name} has no task {shown(label)}{hint}")
    chosen = tuple(task for task in suite.tasks if task.label in tasks)
    if not chosen:
        raise UserError("there is no task to measure encoders on")
    return suite.model_copy(update={"tasks": chosen})
