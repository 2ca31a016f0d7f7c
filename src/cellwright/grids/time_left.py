"""How long a grid will still take, from how long its stages took so far."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.grids.recipes import GridRecipe, SearchStage, Stage, TrainStage, TuneStage

_CELLS = 1.5
"""A training of another cell takes so many times that of an LSTM, as long as nobody knows."""


def time_left(
    recipe: GridRecipe, wall: Mapping[str, float], trials: Mapping[str, int], done: set[str]
) -> float | None:
    """Seconds that are left; None as long as nothing has been done that it could be told from.

    A stage that has not been done is taken to last as long as one of its kind and recipe did, for
    each of its trials or cells, or else as one of its kind.

    Args:
        recipe: of the grid.
        wall: seconds that each stage has taken so far.
        trials: that each stage which tunes will have.
        done: the stages that have ended.
    """
    left = 0.0
    for name, stage in recipe.stages.items():
        if name in done or stage.kind == "draw":
            continue
        wanted = _amount(name, stage, recipe, trials)
        each = _rate(stage, recipe, wall, trials, done)
        if each is None:
            return None
        left += max(0.0, each * wanted - wall.get(name, 0.0))
    return left


def _amount(name: str, stage: Stage, recipe: GridRecipe, trials: Mapping[str, int]) -> float:
    """How much there is to do: in trainings."""
    if isinstance(stage, TuneStage):
        return trials[name] + (recipe.seeds if stage.row else 0)
    if isinstance(stage, TrainStage):
        return recipe.seeds * max(1, len(stage.cells) + len(stage.cells_of))
    return 1.0


def _rate(
    stage: Stage,
    recipe: GridRecipe,
    wall: Mapping[str, float],
    trials: Mapping[str, int],
    done: set[str],
) -> float | None:
    """Seconds for each of these."""
    known = [
        (wall[name] / _amount(name, other, recipe, trials), other)
        for name, other in recipe.stages.items()
        if name in done and name in wall and other.kind != "draw"
    ]
    same = [each for each, other in known if _alike(stage, other) == 2]
    if same:
        return same[-1]
    near = [each for each, other in known if _alike(stage, other) == 1]
    if near:
        return sum(near) / len(near) * (1 if isinstance(stage, SearchStage) else _CELLS)
    if isinstance(stage, SearchStage) and known:  # about twenty trainings, as shipped ones are
        return 20 * max(each for each, _ in known)
    return None


def _alike(stage: Stage, other: Stage) -> int:
    """2 for the same work with the same kind of cells, 1 for work of the same kind."""
    if isinstance(stage, SearchStage) or isinstance(other, SearchStage):
        return 2 * (stage.kind == other.kind)
    if not isinstance(stage, TuneStage | TrainStage) or not isinstance(
        other, TuneStage | TrainStage
    ):
        return 0
    same_cells = bool(stage.cells_of) == bool(other.cells_of)
    return 2 if stage.recipe == other.recipe and same_cells else 1
