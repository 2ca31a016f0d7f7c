"""A task as somebody else would write it, in a module of their own: is there more of a than of b?

Sentences are short rows of letters. The model reads them in both directions with two layers. What
is learned from is the cross-entropy; what is measured is the accuracy.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from cellwright.base.errors import UserError
from cellwright.base.seeds import seed_for
from cellwright.cell import Cell
from cellwright.engine import Recurrent, WeightBank
from cellwright.models.cell_model import Carried, CellModel, Loss, Theta
from cellwright.tasks.metric import Metric
from cellwright.tasks.registry import Kept, TaskKind
from cellwright.tasks.settings import TaskSettings
from cellwright.tasks.task import Part, Score

LETTERS, LONGEST = 4, 9
ACCURACY = Metric(name="accuracy", form="percent", items="sentences")


class ToySettings(TaskSettings):
    """What a recipe says of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["toy_task:toy_kind"] = "toy_task:toy_kind"
    data: str = "letters"
    sentences: int = Field(96, ge=8, description="in the training part; the others have half of it")


class ToyModelSettings(BaseModel):
    """The model around a cell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hidden: int = Field(6, ge=1)
    layers: int = Field(2, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)


@dataclass(frozen=True)
class ToyBatch:
    """Letters (steps, batch), how long each row is, and what is right."""

    letters: Tensor
    lengths: Tensor
    right: Tensor

    @property
    def size(self) -> int:
        return len(self.right)

    def rate(self, full: float) -> float:
        return full


class ToyModel(CellModel[ToyBatch]):
    """Letters to vectors, the cell in both directions, the mean of what it says, a decision."""

    def __init__(
        self, settings: ToyModelSettings, cell: Cell, backend: str, bank: WeightBank | None
    ) -> None:
        super().__init__()
        width = settings.hidden
        self.embedding = nn.Embedding(LETTERS, width)
        self.recurrent = Recurrent(
            cell, width, width, settings.layers, bidirectional=True, dropout=settings.dropout,
            backend=backend, bank=bank,
        )  # fmt: skip
        self.decision = nn.Linear(2 * width, 2)

    def decide(self, batch: ToyBatch, theta: Theta | None = None) -> Tensor:
        said, _ = self.recurrent(self.embedding(batch.letters), lengths=batch.lengths, theta=theta)
        return self.decision(said.sum(0) / batch.lengths.unsqueeze(-1))

    def loss(self, batch: ToyBatch, carried: Carried, *, theta: Theta | None = None) -> Loss:
        mean = F.cross_entropy(self.decide(batch, theta), batch.right)
        return Loss(mean, mean.new_zeros(()), ())

    def around(self, cell: Cell, bank: WeightBank) -> ToyModel:
        other = copy.copy(self)
        other._modules = {**self._modules, "recurrent": self.recurrent.around(cell, bank)}
        return other


Sentences = Sequence[tuple[np.ndarray, int]]


class ToyTask:
    """Three parts of sentences."""

    metric = ACCURACY

    def __init__(self, parts: Mapping[str, Sentences]) -> None:
        self._parts = parts

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for part in ("train", "valid", "test"):
            for letters, right in self._parts[part]:
                digest.update(letters.tobytes() + bytes([right, 255]))
        return digest.hexdigest()

    def describe(self) -> str:
        counts = ", ".join(f"{len(found)} {part}" for part, found in self._parts.items())
        return f"rows of letters: {counts}"

    def model(
        self,
        cell: Cell,
        settings: ToyModelSettings,
        *,
        bank: WeightBank | None = None,
        backend: str = "auto",
    ) -> ToyModel:
        return ToyModel(settings, cell, backend, bank)

    def batches(self, part: Part, size: int, seed: int, epoch: int) -> list[ToyBatch]:
        found = self._parts[part]
        order = np.random.default_rng(seed_for(seed, "toy", epoch)).permutation(len(found))
        return _batched([found[at] for at in order], size)

    def ordered(self, part: Part, size: int) -> list[ToyBatch]:
        return _batched(self._parts[part], size)

    @torch.no_grad()
    def measure(
        self, model: ToyModel, batches: Sequence[ToyBatch], *, theta: Theta | None = None
    ) -> Score:
        model.eval()
        right, entropy, count = 0, 0.0, 0
        for batch in batches:
            said = model.decide(batch, theta)
            right += int((said.argmax(-1) == batch.right).sum())
            entropy += float(F.cross_entropy(said, batch.right, reduction="sum"))
            count += batch.size
        return Score(1 - right / count, {"cross_entropy": entropy / count})

    def limited(self, most: Mapping[str, int]) -> ToyTask:
        unknown = [part for part in most if part not in self._parts]
        if unknown:
            raise UserError(f"there is no part {unknown[0]!r}")
        return ToyTask({part: s[: most.get(part, len(s))] for part, s in self._parts.items()})

    def halves(self) -> tuple[ToyTask, ToyTask]:
        train = self._parts["train"]
        middle = len(train) // 2
        first, second = train[:middle], train[middle:]
        return ToyTask({**self._parts, "train": first}), ToyTask({**self._parts, "train": second})


def _batched(sentences: Sentences, size: int) -> list[ToyBatch]:
    if len(sentences) < 1:
        raise UserError("there are no sentences")
    found = []
    for start in range(0, len(sentences), size):
        rows = sentences[start : start + size]
        lengths = torch.tensor([len(letters) for letters, _ in rows])
        table = torch.zeros(int(lengths.max()), len(rows), dtype=torch.long)
        for column, (letters, _) in enumerate(rows):
            table[: len(letters), column] = torch.from_numpy(letters.astype(np.int64))
        found.append(ToyBatch(table, lengths, torch.tensor([right for _, right in rows])))
    return found


def _drawn(count: int, seed: int) -> Sentences:
    rng = np.random.default_rng(seed)
    found: list[tuple[np.ndarray, int]] = []
    while len(found) < count:
        letters = rng.integers(0, LETTERS, rng.integers(3, LONGEST + 1), dtype=np.uint8)
        difference = int((letters == 0).sum()) - int((letters == 1).sum())
        if difference:
            found.append((letters, int(difference > 0)))
    return found


def _open(settings: ToySettings, progress: Any) -> ToyTask:
    if settings.data != "letters":
        raise UserError(f"there is no data {settings.data!r}; there is letters")
    half = settings.sentences // 2
    return ToyTask({"train": _drawn(settings.sentences, 0), "valid": _drawn(half, 1),
                    "test": _drawn(half, 2)})  # fmt: skip


def _kept(task: ToyTask) -> dict[str, bytes]:
    return {"letters.txt": b"abcd"}


def _restored(settings: ToySettings, files: Mapping[str, bytes]) -> ToyTask:
    if files["letters.txt"] != b"abcd":
        raise ValueError("other letters")
    return ToyTask({"train": [], "valid": [], "test": []})


def toy_kind() -> TaskKind:
    """What a recipe names as `toy_task:toy_kind`."""
    kept = Kept(_kept, _restored)
    return TaskKind("toy_task:toy_kind", ToySettings, ToyModelSettings, ACCURACY, _open, kept=kept)
