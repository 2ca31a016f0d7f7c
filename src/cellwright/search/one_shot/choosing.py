"""The choice among what the seeds of a search propose, by short trainings from scratch.

The trainings are runs in the folder of the search. Those of candidates that are left behind stay as
they are; the others go on from there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.runs.curves import curve_of
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.halving import Rung, halve, rungs
from cellwright.search.one_shot.proposals import Proposal
from cellwright.search.one_shot.short_trainings import ChoiceWatcher, loss_at, short_trainings


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
    folder: SearchFolder, proposals: Sequence[Proposal], watcher: ChoiceWatcher, checkpoint: float
) -> dict[Proposal, int]:
    """Train what there is to choose among; the epochs of the last rung that each was on.

    Args:
        folder: of the search.
        proposals: all of them; some may not be tried.
        watcher: told how it goes.
        checkpoint: the seconds between checkpoints of each training.
    """
    tried, settings = [each for each in proposals if each.tried], folder.info.recipe
    if len(tried) < 2:
        return {}
    plan = [Rung(settings.selection_epochs, len(tried))]
    if settings.selection_cells > 1:
        plan = rungs(len(tried), settings.selection_epochs, settings.selection_eta)

    with short_trainings(folder, plan, watcher, checkpoint) as train:
        reached = halve(tried, plan, train)
    return {each: epochs for each, (epochs, _) in zip(tried, reached, strict=True)}


def candidate_of(folder: SearchFolder, proposal: Proposal, epochs: int | None) -> Candidate:
    """The figures of a proposal that was trained for so many epochs; None if it was not."""
    figures = folder.seed_folder(proposal.seed).figures()
    retrained, seconds = None, 0.0
    if epochs is not None:
        run = folder.retraining(proposal.seed, proposal.number)
        assert run is not None
        result, retrained = run.result(), loss_at(run, epochs)
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


def _finite(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf
