"""A task of one's own, in one file: is every bracket of a row closed?

docs/your-own-task.md goes from this file to a training, a search and a comparison.
"""

from __future__ import annotations

import copy
import hashlib
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from cellwright.base.errors import UserError
from cellwright.base.seeds import seed_for
from cellwright.engine import Recurrent
from cellwright.models.cell_model import CellModel, Loss
from cellwright.tasks.metric import Metric
from cellwright.tasks.registry import TaskKind
from cellwright.tasks.settings import TaskSettings
from cellwright.tasks.task import Score

ACCURACY = Metric(name="accuracy", form="percent", items="rows")  # shown as 100·(1 − loss)


class Settings(TaskSettings):
    """What `[task]` of a recipe says."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    data: str = "drawn"
    rows: int = Field(256, ge=16, description="in the training part; valid and test have half")
    length: int = Field(12, ge=2, le=100, description="brackets of a row")


class ModelSettings(BaseModel):
    """What `[model]` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    hidden: int = Field(16, ge=1)


class Batch(NamedTuple):
    """Rows of brackets (steps, batch), 0 opens and 1 closes; and whether each is balanced."""

    brackets: Tensor
    balanced: Tensor

    @property
    def size(self) -> int:
        return len(self.balanced)

    def rate(self, full: float) -> float:
        return full  # every batch takes a step of the full learning rate


class Model(CellModel[Batch]):
    """Brackets become vectors, the cell reads them, its last output decides."""

    def __init__(self, settings, cell, backend, bank):
        super().__init__()
        self.embedding = nn.Embedding(2, settings.hidden)
        width = settings.hidden
        self.recurrent = Recurrent(cell, width, width, backend=backend, bank=bank)
        self.decision = nn.Linear(width, 2)

    def decide(self, batch, theta=None):
        output, _ = self.recurrent(self.embedding(batch.brackets), theta=theta)
        return self.decision(output[-1])

    def loss(self, batch, carried, *, theta=None):
        mean = F.cross_entropy(self.decide(batch, theta), batch.balanced)
        return Loss(mean, mean.new_zeros(()), ())

    def around(self, cell, bank):  # the same model around another cell, for searches
        other = copy.copy(self)
        other._modules = {**self._modules, "recurrent": self.recurrent.around(cell, bank)}
        return other


class BracketTask:
    """Three parts: name → (rows, whether each is balanced)."""

    metric = ACCURACY

    def __init__(self, parts):
        self.parts = parts

    @property
    def fingerprint(self):
        data = b"".join(self.parts[name][0].tobytes() for name in sorted(self.parts))
        return hashlib.sha256(data).hexdigest()

    def describe(self):
        return ", ".join(f"{len(rows)} rows to {name}" for name, (rows, _) in self.parts.items())

    def model(self, cell, settings, *, bank=None, backend="auto"):
        return Model(settings, cell, backend, bank)

    def batches(self, part, size, seed, epoch):
        rows = len(self.parts[part][0])
        order = np.random.default_rng(seed_for(seed, "brackets", epoch)).permutation(rows)
        return self._cut(part, size, order)

    def ordered(self, part, size):
        return self._cut(part, size, np.arange(len(self.parts[part][0])))

    @torch.no_grad()
    def measure(self, model, batches, *, theta=None):
        model.eval()
        wrong = sum(
            int((model.decide(batch, theta).argmax(-1) != batch.balanced).sum())
            for batch in batches
        )
        return Score(wrong / sum(batch.size for batch in batches))  # a loss: lower is better

    def limited(self, most):
        if unknown := [name for name in most if name not in self.parts]:
            raise UserError(f"there is no part {unknown[0]!r}")
        return BracketTask({n: _some(p, slice(most.get(n))) for n, p in self.parts.items()})

    def halves(self):
        middle = len(self.parts["train"][0]) // 2
        return tuple(
            BracketTask({**self.parts, "train": _some(self.parts["train"], half)})
            for half in (slice(middle), slice(middle, None))
        )

    def _cut(self, part, size, order):
        rows, balanced = self.parts[part]
        return [
            Batch(torch.from_numpy(rows[at].T.copy()), torch.from_numpy(balanced[at]))
            for at in (order[start : start + size] for start in range(0, len(order), size))
        ]


def _some(part, which):
    return tuple(values[which] for values in part)


def _drawn(count, length, seed):
    """As many rows that are balanced as rows that are not."""
    rng, found = np.random.default_rng(seed), {True: [], False: []}
    while min(map(len, found.values())) < count // 2:
        row = rng.permutation(np.arange(2 * (length // 2)) % 2)
        depth = np.cumsum(1 - 2 * row)
        found[bool(depth.min() >= 0)].append(row)
    rows = np.array([row for kind in (True, False) for row in found[kind][: count // 2]])
    order = rng.permutation(len(rows))
    return rows[order], (order < count // 2).astype(np.int64)


def _open(settings, progress):
    sizes = {"train": settings.rows, "valid": settings.rows // 2, "test": settings.rows // 2}
    return BracketTask(
        {
            name: _drawn(size, settings.length, seed)
            for seed, (name, size) in enumerate(sizes.items())
        }
    )


def brackets():
    """What recipes name as `bracket_task.py:brackets`."""
    return TaskKind("bracket_task.py:brackets", Settings, ModelSettings, ACCURACY, _open)
