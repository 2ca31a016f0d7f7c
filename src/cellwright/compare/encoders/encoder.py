"""Runs of language models that are to encode sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cellwright.cell import Cell
from cellwright.compare.contenders import contender
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RUNS
from cellwright.runs.trained import load_trained
from cellwright.runs.word_similarity import described
from cellwright.tasks.language.metric import PERPLEXITY


@dataclass(frozen=True)
class Encoder:
    """A trained language model.

    Args:
        label: tells it from the others, and names its files.
        path: the folder of its run, from anywhere.
        id: of the run.
        cell: around which it is.
        corpus: the name of its text.
        fingerprint: of the text.
        width: of its words' vectors.
        words: how many it knows.
        epoch: whose weights it has.
        valid: its loss on the validation text at that epoch.
        test: the same on the test text.
    """

    label: str
    path: str
    id: str
    cell: Cell
    corpus: str
    fingerprint: str
    width: int
    words: int
    epoch: int
    valid: float
    test: float

    @property
    def perplexity(self) -> float:
        """On the validation text."""
        return PERPLEXITY.value(self.valid)


def load_encoders(names: Sequence[str | Path], runs: Path = RUNS) -> list[Encoder]:
    """The language models of runs, by folder or name; a run that is named again is left out.

    Raises:
        RunError: there is none, or one is no run, has no weights yet, or has learned something
            else.
    """
    found: dict[str, Encoder] = {}
    for name in names:
        one = _load(name, runs, {each.label.lower() for each in found.values()})
        found.setdefault(one.path, one)
    if not found:
        raise RunError("there is no run to encode sentences with")
    return list(found.values())


def free_label(wanted: str, taken: set[str]) -> str:
    """A label that nobody has, in any case.

    >>> free_label("gru", {"gru", "gru-2"})
    'gru-3'
    """
    number, label = 1, wanted
    while label.lower() in taken:
        number += 1
        label = f"{wanted}-{number}"
    return label


def _load(name: str | Path, runs: Path, taken: set[str]) -> Encoder:
    trained = load_trained(name, runs=runs, alone=True)
    known, folder = described(trained), trained.folder
    cell = folder.cell()
    return Encoder(
        free_label(contender(cell, known.name).label, taken),
        str(folder.path.absolute()),
        folder.info.id,
        cell,
        known.corpus,
        folder.info.data.fingerprint,
        known.dimensions,
        known.words,
        trained.epoch,
        known.valid,
        known.test,
    )
