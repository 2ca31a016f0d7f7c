"""Rows of different lengths: sorted so that the rows at work are always the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cellwright.engine import surroundings


@dataclass(frozen=True)
class Ragged:
    """The lengths of a batch's rows, longest first, and how to get there and back.

    Where lengths may not be looked at, because a trace has to serve other lengths as well, rows
    stay in their order, and all of them go through all steps.
    """

    lengths: Tensor
    order: Tensor
    undo: Tensor
    seen: bool = True

    @classmethod
    def of(cls, lengths: Tensor | Sequence[int], steps: int, batch: int) -> Ragged:
        """Check lengths against the padded batch, and sort."""
        given = torch.as_tensor(lengths, device="cpu")
        if not given.numel():
            given = given.long()
        if given.dtype.is_floating_point or given.dtype == torch.bool or given.dim() != 1:
            raise ValueError(
                "lengths must be a list or a 1-D tensor of integers, "
                f"got {given.dim()}-D of {given.dtype}"
            )
        given = given.to(torch.int64)
        if len(given) != batch:
            raise ValueError(f"Expected {batch} lengths, one for each row, got {len(given)}")
        if surroundings.transformed() is not None:
            as_they_are = torch.arange(batch, device="cpu")
            return cls(given, as_they_are, as_they_are, seen=False)
        if batch and int(given.min()) <= 0:
            raise RuntimeError(
                "Length of all samples has to be greater than 0, "
                "but found an element in 'lengths' that is <= 0"
            )
        if batch and int(given.max()) > steps:
            raise ValueError(
                f"Expected lengths of at most {steps}, the padded length, got {int(given.max())}"
            )
        ordered, order = torch.sort(given, descending=True, stable=True)
        return cls(ordered, order, torch.argsort(order))

    def active(self, steps: int) -> list[int] | Tensor | None:
        """How many rows are at work at each step, or which; None if always all."""
        if self.seen and (not len(self.lengths) or int(self.lengths[-1]) == steps):
            return None
        at_work = self.lengths.unsqueeze(0) > _steps(steps)
        if not self.seen:
            return at_work
        counts: list[int] = at_work.sum(1).tolist()
        return counts

    def reversed(self, x: Tensor) -> Tensor:
        """Each row's steps backwards; what lies behind its end stays there."""
        steps = _steps(x.shape[0])
        back = self.lengths.unsqueeze(0) - 1 - steps
        index = torch.where(back >= 0, back, steps.expand_as(back))
        return x.gather(0, index.to(x.device).unsqueeze(2).expand_as(x))

    def last(self, x: Tensor, count: int) -> Tensor:
        """Each row's last `count` steps, oldest first, of x with `count` steps in front."""
        steps = _steps(count) + self.lengths.unsqueeze(0)
        index = steps.to(x.device).unsqueeze(2).expand(-1, -1, x.shape[2])
        return x.gather(0, index)

    def without_padding(self, x: Tensor) -> Tensor:
        """x with zeros behind each row's end, whatever was there."""
        beyond = _steps(x.shape[0]) >= self.lengths.unsqueeze(0)
        return x.masked_fill(beyond.to(x.device).unsqueeze(2), 0.0)


def _steps(count: int) -> Tensor:
    """The numbers of steps, below each other; where lengths are, whatever torch's default."""
    return torch.arange(count, device="cpu").unsqueeze(1)
