"""Comparing cells: trained alike, from the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.api.inputs import (
    Settings,
    TaskSource,
    as_cell,
    data_and_task,
    overrides,
    training_recipe,
)
from cellwright.api.progress import chosen
from cellwright.api.results import Comparison
from cellwright.api.watching import Watcher
from cellwright.cell import Cell
from cellwright.compare.contenders import Contender, contender, random_contenders
from cellwright.compare.plan import make_plan
from cellwright.compare.results import standings
from cellwright.compare.running import refuse_failures, train_all
from cellwright.report.comparison.page import write_report
from cellwright.runs.recipes import Recipe

FOLDER = Path("comparison")
"""Where a comparison goes unless said."""


def compare(
    cells: Sequence[Cell | Contender | str | Path],
    task: TaskSource | None = None,
    *,
    recipe: str | Path | Recipe | None = None,
    settings: Settings | None = None,
    epochs: int | None = None,
    seeds: int = 3,
    random: Sequence[str] = (),
    random_seed: int = 0,
    out: Path | str = FOLDER,
    workers: int | None = None,
    command: str = "",
    watcher: Watcher | None = None,
    progress: bool = True,
) -> Comparison:
    """Train cells by the same recipe from the same seeds, and set them side by side.

    Ctrl-C saves everything; the same call goes on from there, and trains only what is missing.
    """
    told = chosen(watcher, progress)
    contenders = [one if isinstance(one, Contender) else contender(as_cell(one)) for one in cells]
    for request in random:
        contenders += random_contenders(request, random_seed)
    data, about = data_and_task(task)
    with told.reading() as reading:
        changes = [*about, *overrides(settings, epochs=epochs)]
        found, suggested = training_recipe(recipe, data, changes, reading)
        if suggested:
            told.note(f"no recipe was named: {found.name} fits data of this size")
        plan = make_plan(Path(out), contenders, found, seeds, data=data, progress=reading)
    with told.comparing(plan, workers or 0) as watch:
        failures = train_all(plan, workers, watch)
    ranked = standings(plan)
    report = write_report(plan, ranked, command)
    refuse_failures(failures)
    return Comparison(plan, tuple(ranked), report)
