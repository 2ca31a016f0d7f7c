"""Language models that encode sentences, frozen, for heads that learn on top."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellwright.api.comparing_suites import carried_out_suite
from cellwright.api.inputs import Settings, overrides
from cellwright.api.progress import chosen
from cellwright.api.results import EncoderComparison
from cellwright.api.watching import Watcher
from cellwright.compare.encoders.encoder import load_encoders
from cellwright.compare.encoders.entrants import Entrants
from cellwright.compare.encoders.figures import EncoderFigures
from cellwright.compare.encoders.folder import check_encoders, write_encoders
from cellwright.compare.encoders.suites import encoder_suite
from cellwright.compare.suites.figures import SuiteFigures
from cellwright.compare.suites.suite import Suite
from cellwright.report.encoders.page import write_encoder_report
from cellwright.runs.folder import RUNS
from cellwright.trials.executors import Limits
from cellwright.trials.executors.choosing import check_choice
from cellwright.trials.retries import Retries

FOLDER = Path("encoders")
"""Where everything goes unless said."""

_NO_LIMITS, _RETRIES = Limits(), Retries()


def compare_encoders(
    runs: Sequence[str | Path],
    suite: str | Path | Suite = "glue",
    *,
    tasks: Sequence[str] | None = None,
    baselines: bool = True,
    settings: Settings | None = None,
    epochs: int | None = None,
    seeds: int = 1,
    folder: Path | str = RUNS,
    out: Path | str = FOLDER,
    executor: str = "local",
    address: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    limits: Limits = _NO_LIMITS,
    retries: Retries = _RETRIES,
    command: str = "",
    watcher: Watcher | None = None,
    progress: bool = True,
) -> EncoderComparison:
    """Measure language models by what heads learn on their states, as NAS-Bench-NLP does.

    The models do not change. What they say of all sentences is computed once and kept. Ctrl-C saves
    everything; the same call goes on from there. Runs, tasks and seeds may be added, runs behind
    those of before.

    Args:
        runs: trainings of language models, by folder or name.
        suite: "glue", "glue-laptop", or a TOML file with recipes of the model "frozen".
        tasks: of the suite, by their labels; all whose data is here unless said.
        baselines: also train a bag of words and an LSTM over SGNS' vectors of the runs' text.
        settings: that go before those of every task's recipe, as `{"model.projection": 64}`.
        epochs: of each training; the recipes' numbers unless said.
        seeds: how often each head is trained: with the seeds 0, 1, ….
        folder: where runs are that are given by name.
        out: the folder; the comparison on each task is in one below it.
        executor: where trainings run: "local", "ray" or "in-process".
        address: of a Ray cluster.
        workers: how many trainings at once; as many as there are cores for unless said.
        threads: of each training.
        limits: what an attempt at a training may take.
        retries: how often a training that fails is tried again, from its last checkpoint.
        command: what made it, for the report.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Raises:
        UserError: something that was given is wrong, such as a run that is no language model, or
            no task has its data here. Trainings that fail are in `failures`.
        Stopped: Ctrl-C was pressed; everything is saved.
    """
    told, place = chosen(watcher, progress), Path(out)
    where: dict[str, Any] = {"workers": workers, "limits": limits, "address": address}
    check_choice(executor, threads=threads, **where)
    chosen_suite = encoder_suite(suite, tasks)
    encoders = load_encoders(runs, Path(folder))
    check_encoders(place, encoders)
    entrants = Entrants(encoders, baselines)

    def figures(found: SuiteFigures) -> EncoderFigures:
        return EncoderFigures(found, entrants.encoders, entrants.baselines)

    heads = carried_out_suite(
        chosen_suite,
        place,
        entrants.on,
        told,
        changes=overrides(settings, epochs=epochs),
        fixed={"seeds": seeds, "threads": threads},
        executor=executor,
        where=where,
        retries=retries,
        command=command,
        width=None,
        report=lambda found, how: write_encoder_report(figures(found), how),
        all_tasks=tasks is not None,
        begun=lambda: write_encoders(place, encoders),
    )
    return EncoderComparison(figures(heads.figures), heads)
