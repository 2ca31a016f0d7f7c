"""Rows of different lengths: sorted so that the rows at work are always the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from cellwright.engine import surroundings


@dataclass(frozen=True)
class Ragged:
    """The lengths of a batch's rows, longest first, and how to get there and back.

    What a layer reads and gives is kept without what lies behind the ends: the words of all rows at
    the first step, then those at the second, and so on, as in a `PackedSequence`.

    Where lengths may not be looked at, because a trace has to serve other lengths as well, rows
    stay in their order, all of them go through all steps, and padding is kept.
    """

    lengths: Tensor
    order: Tensor
    undo: Tensor
    steps: int
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
        if given.shape[0] != batch:
            raise ValueError(f"Expected {batch} lengths, one for each row, got {given.shape[0]}")
        if surroundings.transformed() is not None:
            as_they_are = torch.arange(batch, device="cpu")
            return cls(given, as_they_are, as_they_are, steps, seen=False)
        return cls.of_lengths(given, steps)

    @classmethod
    def of_lengths(cls, lengths: Tensor, steps: int) -> Ragged:
        """Check the numbers in a tensor of lengths, and sort."""
        if len(lengths) and int(lengths.min()) <= 0:
            raise RuntimeError(
                "Length of all samples has to be greater than 0, "
                "but found an element in 'lengths' that is <= 0"
            )
        if len(lengths) and int(lengths.max()) > steps:
            raise ValueError(
                f"Expected lengths of at most {steps}, the padded length, got {int(lengths.max())}"
            )
        if len(lengths) and int(lengths.min()) == steps:
            as_they_are = torch.arange(len(lengths), device="cpu")
            return cls(lengths, as_they_are, as_they_are, steps)
        ordered, order = torch.sort(lengths, descending=True, stable=True)
        return cls(ordered, order, torch.argsort(order), steps)

    @classmethod
    def of_packed(cls, packed: PackedSequence) -> Ragged:
        """The lengths that a packed sequence has."""
        sizes = packed.batch_sizes
        rows = torch.arange(int(sizes[0]), device="cpu")
        lengths = (sizes.unsqueeze(0) > rows.unsqueeze(1)).sum(1)
        order, undo = packed.sorted_indices, packed.unsorted_indices
        if order is None or undo is None:
            order = undo = rows
        return cls(lengths, order.cpu(), undo.cpu(), len(sizes))

    # -- who is at work --------------------------------------------------------------------

    @cached_property
    def _at_work(self) -> Tensor:
        """(steps, batch)."""
        return self.lengths.unsqueeze(0) > _steps(self.steps)

    @cached_property
    def sizes(self) -> Tensor:
        """How many rows are at work at each step."""
        return self._at_work.sum(1)

    @property
    def is_even(self) -> bool:
        """Whether all rows are seen to be as long as the batch, so that there is nothing to do."""
        return self.seen and len(self.lengths) > 0 and self._counts is None

    @property
    def active(self) -> list[int] | Tensor | None:
        """How many rows are at work at each step, None if always all; or each row's length."""
        return self._counts if self.seen else self.lengths

    @cached_property
    def _counts(self) -> list[int] | None:
        if not len(self.lengths) or int(self.lengths[-1]) == self.steps:
            return None
        counts: list[int] = self.sizes.tolist()
        return counts

    # -- with padding and without ----------------------------------------------------------

    @cached_property
    def _words(self) -> tuple[Tensor, Tensor]:
        """The step and the row of each word."""
        step, row = self._at_work.nonzero(as_tuple=True)
        return step, row

    @property
    def word_steps(self) -> Tensor:
        """The step that each word is at."""
        return self._words[0]

    @cached_property
    def word_rows(self) -> Tensor:
        """The row of the caller's batch that each word is from."""
        return self.order[self._words[1]]

    def packed(self, words: Tensor) -> PackedSequence:
        """What layers keep, for `Recurrent`."""
        order, undo = (places.to(words.device) for places in (self.order, self.undo))
        return PackedSequence(words, self.sizes, order, undo)

    @cached_property
    def _places(self) -> tuple[Tensor, Tensor, Tensor]:
        """Where each word is in the caller's batch, and in a layer's forwards and backwards."""
        (step, row), batch = self._words, len(self.lengths)
        back = self.lengths[row] - 1 - step
        return step * batch + self.word_rows, step * batch + row, back * batch + row

    def begin(self, x: Tensor) -> Tensor:
        """What layers keep of the caller's batch."""
        if not self.seen:
            return self.without_padding(x)
        return _Chosen.apply(x.flatten(0, 1), self._places[0].to(x.device))  # type: ignore[no-untyped-call, no-any-return]

    def end(self, x: Tensor) -> Tensor:
        """The caller's batch, zeros behind each row's end."""
        return self._padded(x, self._places[0]) if self.seen else x

    def enter(self, x: Tensor, backwards: bool) -> Tensor:
        """(steps, batch, width), as a layer reads it."""
        if not self.seen:
            return self._reversed(x) if backwards else x
        return self._padded(x, self._places[1 + backwards])

    def leave(self, x: Tensor, backwards: bool) -> Tensor:
        """The inverse of `enter`."""
        if not self.seen:
            return self._reversed(x) if backwards else x
        return _Chosen.apply(x.flatten(0, 1), self._places[1 + backwards].to(x.device))  # type: ignore[no-untyped-call, no-any-return]

    def _padded(self, x: Tensor, places: Tensor) -> Tensor:
        batch = len(self.lengths)
        padded = _spread(x, places.to(x.device), self.steps * batch)
        return padded.view(self.steps, batch, x.shape[1])

    def _reversed(self, x: Tensor) -> Tensor:
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


def evenly_packed(packed: PackedSequence) -> Tensor | None:
    """The padded batch that a packed one is already, if it is one in its own order.

    One sentence at a time is one, and it is over before a `Ragged` of it would be made.
    """
    steps, rows = len(packed.batch_sizes), len(packed.data)
    if rows == steps:
        return packed.data.unsqueeze(1)
    batch = int(packed.batch_sizes[0])
    if packed.sorted_indices is not None or rows != steps * batch:
        return None
    return packed.data.reshape(steps, batch, -1)


def _spread(x: Tensor, places: Tensor, rows: int) -> Tensor:
    """So many rows, with those of x at their places and zeros elsewhere."""
    return x.new_zeros(rows, x.shape[1]).index_add_(0, places, x)


class _Chosen(torch.autograd.Function):
    """`x.index_select(0, places)`, no place twice: torch's own way back is ten times as long."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.rows = len(x)
        return x.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        return _spread(gradient, places, ctx.rows), None


def _steps(count: int) -> Tensor:
    """The numbers of steps, below each other; where lengths are, whatever torch's default."""
    return torch.arange(count, device="cpu").unsqueeze(1)
