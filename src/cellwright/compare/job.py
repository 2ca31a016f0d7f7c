"""One training of a comparison, as an executor runs it, in any process and on any machine.

What it needs and what comes out is in the comparison's folder, so that has to be on a file system
that all machines share. An attempt that follows another goes on from its last checkpoint.
"""

from __future__ import annotations

import platform
from pathlib import Path

from cellwright.base.threads import threads_for
from cellwright.compare.plan import FILE, read_plan
from cellwright.compare.reached import Reporter, progress_path
from cellwright.runs.errors import RunError
from cellwright.runs.lost_files import or_move_away
from cellwright.runs.run import fresh_run, reopen
from cellwright.runs.runner import train
from cellwright.trials.run_jobs import stop_is_passed_on, wait_until_free


def train_run(folder: str, label: str, seed: int) -> str:
    """Do a training of a comparison, from the start or from where it was.

    Returns:
        the status of its result.
    """
    if not (Path(folder) / FILE).exists():
        raise RunError(
            f"the machine {platform.node()} has no {folder}: a comparison on several machines "
            "needs its folder, and the data, on a file system that all of them share"
        )
    plan = read_plan(Path(folder))
    there = plan.run(label, seed)
    if there is not None:
        wait_until_free(there.path)
        there.refresh()
        result = there.result() if there.ended else None
        if result is not None:  # the attempt before this one was killed after its last word
            return result.status
    with threads_for(plan.threads):
        if there is None:
            path = plan.run_path(label, seed)
            one = plan.find(label)
            run = fresh_run(one.cell, plan.recipe_of(one), seed, path=path)
        else:
            with or_move_away(there.path, "the same command"):
                run = reopen(there.path)
        watch = Reporter(progress_path(plan, label, seed))
        with stop_is_passed_on():
            return train(run.folder, run.training, watch=watch).status
