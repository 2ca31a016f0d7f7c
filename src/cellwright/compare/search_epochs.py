"""The cells that a search had come to on its way, to be trained: I-DARTS' Figure 2b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.base.errors import shown
from cellwright.compare.contenders import Contender
from cellwright.runs.errors import RunError
from cellwright.search.one_shot.cells import listed_cell
from cellwright.search.one_shot.epochs import epochs_of
from cellwright.search.one_shot.folder import SearchFolder


@dataclass(frozen=True)
class SearchEpochs:
    """Which cell a search had after some of its epochs.

    Args:
        name: of the search.
        cells: epochs and the ids of the cells, in order.
        contenders: the cells, each once, called by the first epoch that has it.
    """

    name: str
    cells: tuple[tuple[int, str], ...]
    contenders: tuple[Contender, ...]


def search_epochs(folder: SearchFolder, every: int, seed: int | None = None) -> SearchEpochs:
    """The cells after every so many epochs of a search, and after the last.

    Args:
        folder: of a one-shot search.
        every: how many epochs apart. I-DARTS has 10.
        seed: of the search, if there were several; the first unless said.

    Raises:
        RunError: the search has no such seed, or no epoch of it has ended.
    """
    seed = folder.info.seeds[0] if seed is None else seed
    if seed not in folder.info.seeds:
        known = ", ".join(map(str, folder.info.seeds))
        raise RunError(f"{folder.path} has no seed {shown(seed)}; it has {known}")
    records = epochs_of(folder.seed_folder(seed))
    if not records:
        raise RunError(f"no epoch of {folder.path} has ended")
    chosen = [r for r in records if r["epoch"] % every == 0 or r is records[-1]]
    found: dict[str, list[int]] = {}
    cells = {}
    for record in chosen:
        cell = listed_cell(record["listing"])
        found.setdefault(cell.id, []).append(record["epoch"])
        cells[cell.id] = cell
    contenders = tuple(
        Contender(f"epoch-{epochs[0]}", cells[id], f"{_said(epochs)} of {folder.path.name}")
        for id, epochs in found.items()
    )
    order = sorted((epoch, id) for id, epochs in found.items() for epoch in epochs)
    return SearchEpochs(folder.path.name, tuple(order), contenders)


def _said(epochs: Sequence[int]) -> str:
    return f"epoch {epochs[0]}" if len(epochs) == 1 else f"epochs {', '.join(map(str, epochs))}"
