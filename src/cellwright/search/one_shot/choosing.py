"""The choice among what the seeds of a search propose, by short trainings from scratch.

The trainings are runs in the folder of the search. Those of candidates that are left behind stay as
they are; the others go on from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from cellwright.runs.curves import curve_of
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.lost_files import or_move_away
from cellwright.runs.recipes import Recipe
from cellwright.runs.run import Run, fresh_run, reopen
from cellwright.runs.runner import Event, train
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.halving import Rung, halve, rungs
from cellwright.search.one_shot.proposals import Proposal
from cellwright.training.results import best_of

Watched = Callable[[RunFolder, bool], AbstractContextManager[Callable[[Event], None] | None]]
"""Entered for each short training, with whether it goes on; what it gives is called with events."""


@dataclass(frozen=True)
class Candidate:
    """A cell that a seed proposes. Losses are those on the validation data.

    `supernet` is the search's own at its end, and `seconds` the time of it; `retrained` is the loss
    of the cell after a training of so many `epochs`, None without one.
    """

    seed: int
    cell_id: str
    status: str
    supernet: float
    seconds: float
    retrained: float | None = None
    retraining_seconds: float = 0.0
    number: int = 1
    origin: str = "found"
    epochs: int = 0
    dead: bool = False


def train_candidates(
    folder: SearchFolder, proposals: Sequence[Proposal], watched: Watched, checkpoint_seconds: float
) -> dict[Proposal, int]:
    """Train what there is to choose among; the epochs of the last rung that each was on."""
    tried, info = [each for each in proposals if each.tried], folder.info
    if len(tried) < 2:
        return {}
    recipe, settings = info.recipe.short_training(), info.recipe
    plan = [Rung(settings.selection_epochs, len(tried))]
    if settings.selection_cells > 1:
        plan = rungs(len(tried), settings.selection_epochs, settings.selection_eta)

    def train_to(proposal: Proposal, epochs: int) -> float:
        run = _retrain(folder, proposal, recipe, epochs, watched, checkpoint_seconds)
        return _loss_at(run, epochs)

    reached = halve(tried, plan, train_to)
    return {each: epochs for each, (epochs, _) in zip(tried, reached, strict=True)}


def candidate_of(folder: SearchFolder, proposal: Proposal, epochs: int | None) -> Candidate:
    """The figures of a proposal that was trained for so many epochs; None if it was not."""
    figures = folder.seed_folder(proposal.seed).figures()
    retrained, seconds = None, 0.0
    if epochs is not None:
        run = folder.retraining(proposal.seed, proposal.number)
        assert run is not None
        result, retrained = run.result(), _loss_at(run, epochs)
        seconds = curve_of(run)[-1].seconds if result is None else result.seconds
    return Candidate(
        seed=proposal.seed,
        cell_id=proposal.cell.id,
        status=figures["status"],
        supernet=figures["valid"],
        seconds=figures["seconds"],
        retrained=retrained,
        retraining_seconds=seconds,
        number=proposal.number,
        origin=proposal.origin,
        epochs=epochs or 0,
        dead=proposal.dead,
    )


def choose(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates, best first: by the loss after retraining; without it, the search's own.

    One that was trained for longer comes before those that were left behind. A cell that diverged
    when it was trained comes after all that did not, and one that cannot learn after all others.
    """

    def merit(candidate: Candidate) -> tuple[bool, bool, int, float, float]:
        trained = 0.0 if candidate.retrained is None else _finite(candidate.retrained)
        return (
            candidate.dead, trained == math.inf, -candidate.epochs, trained,
            _finite(candidate.supernet),
        )  # fmt: skip

    return sorted(candidates, key=merit)


def search_seconds(candidates: Sequence[Candidate]) -> float:
    """The time of the searches of all seeds, without that of the choice."""
    return sum({each.seed: each.seconds for each in candidates}.values())


def choice_seconds(candidates: Sequence[Candidate]) -> float:
    """The time of the choice by training."""
    return sum(each.retraining_seconds for each in candidates)


def all_diverged(candidates: list[Candidate]) -> bool:
    """Whether no seed came to its end. The cell is then what the first of them stood at."""
    return all(candidate.status != "ok" for candidate in candidates)


# -- parts of it -------------------------------------------------------------------------------


def _retrain(
    folder: SearchFolder,
    proposal: Proposal,
    recipe: Recipe,
    epochs: int,
    watched: Watched,
    checkpoint_seconds: float,
) -> RunFolder:
    """Train a candidate up to an epoch, from where it is."""
    seed, number = proposal.seed, proposal.number
    there = folder.retraining(seed, number)
    if there is not None:
        if there.info.cell.id != proposal.cell.id:
            raise RunError(
                f"{there.path} is of another cell than candidate {number} of seed {seed}, "
                f"{proposal.cell.id}; move it away"
            )
        goes_on = epochs < recipe.training.epochs  # else it has to come to its end
        if there.ended or (goes_on and len(curve_of(there)) >= epochs):
            return there
    run: Run
    if there is not None:
        with or_move_away(there.path, f"'{folder.go_on}'"):
            run = reopen(there.path)
    else:
        run = fresh_run(
            proposal.cell,
            recipe,
            seed,
            path=folder.retraining_path(seed, number),
            backend=folder.info.backend,
        )
    with watched(run.folder, there is not None) as watch:
        train(
            run.folder,
            run.training,
            watch=watch,
            checkpoint_seconds=checkpoint_seconds,
            pause_after=epochs,
        )
    return run.folder


def _loss_at(run: RunFolder, epochs: int) -> float:
    """The best loss of a run up to an epoch; infinite where there is none."""
    best = best_of(curve_of(run)[:epochs])
    return math.inf if best is None else best.valid


def _finite(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf
