"""Two levels of learning: weights on some data, the architecture on other (DARTS, section 2.3).

The architecture's variables α should minimise L_valid(w*(α), α), where the weights w*(α) minimise
L_train(w, α). DARTS takes the weights after one step of gradient descent for w*(α):

    ∇α L_valid(w − ξ·∇w L_train(w, α), α)        (Eq. 6)

With ξ = 0 that is the first-order gradient. With ξ the learning rate of the weights it has a second
term, −ξ·∇²αw L_train(w, α)·∇w' L_valid(w', α) (Eq. 7), which is approximated by the difference of
two gradients (Eq. 8).

Nothing here knows of cells or texts: a loss is a function without arguments that computes it from
the current values of weights and variables. It is called up to three times at different weights,
and must be the same function each time: the same words, the same dropout masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from cellwright.training.clipping import gradient_norm, share_within

Loss = Callable[[], Tensor]


class Gradients(NamedTuple):
    """A loss, its gradient by each parameter (None where it has none), and the gradient's norm."""

    loss: float
    values: list[Tensor | None]
    norm: float


@dataclass(frozen=True)
class Step:
    """The step of plain gradient descent that the weights will take next: w − ξ·(c·∇w + λ·w).

    Args:
        rate: ξ, the learning rate.
        weight_decay: λ.
        clip: the largest norm of a gradient; c makes longer ones that long. None for any norm.
        radius: how far apart the two gradients of Eq. 8 are taken; DARTS' ε is radius / norm.
    """

    rate: float
    weight_decay: float = 0.0
    clip: float | None = None
    radius: float = 0.01


def first_order(valid: Loss, weights: Sequence[Tensor], variables: Sequence[Tensor]) -> Gradients:
    """∇α L_valid(w, α). Gradients of the weights, most of the work otherwise, are not made."""
    with _constant(weights):
        return _gradients(valid(), variables)


def second_order(
    train: Loss, valid: Loss, weights: Sequence[Tensor], variables: Sequence[Tensor], step: Step
) -> Gradients:
    """∇α L_valid(w', α) with w' = w − ξ·(c·∇w L_train(w, α) + λ·w): DARTS' Eqs. 6 to 8.

    As in DARTS' code for recurrent cells, c counts as constant, and the gradient by w' is clipped
    as well before it enters the second term. A weight without gradient stays where it is. The
    weights are the same afterwards, bit for bit.
    """
    down = _gradients(train(), weights)
    share = _share(down, step.clip)
    moves = [
        None if g is None else -step.rate * (share * g + step.weight_decay * w.detach())
        for g, w in zip(down.values, weights, strict=True)
    ]
    with _moved(weights, moves):
        both = _gradients(valid(), [*weights, *variables])
    ahead = _with_norm(both.loss, both.values[: len(weights)])
    direct = both.values[len(weights) :]
    if ahead.norm == 0:  # nothing to gain from other weights
        return _with_norm(both.loss, direct)
    v_share = _share(ahead, step.clip)
    epsilon = step.radius / (v_share * ahead.norm)
    sides = []
    for sign in (1, -1):
        away = [None if v is None else sign * epsilon * v_share * v for v in ahead.values]
        with _moved(weights, away), _constant(weights):
            sides.append(_gradients(train(), variables).values)
    found: list[Tensor | None] = []
    for now, plus, minus in zip(direct, *sides, strict=True):
        indirect = None
        if plus is not None and minus is not None:
            indirect = (plus - minus) * (-step.rate * share / (2 * epsilon))
        found.append(indirect if now is None else now if indirect is None else now + indirect)
    return _with_norm(both.loss, found)


def of_weights(train: Loss, weights: Sequence[Tensor], variables: Sequence[Tensor]) -> Gradients:
    """∇w L_train(w, α)."""
    with _constant(variables):
        return _gradients(train(), weights)


def _gradients(loss: Tensor, parameters: Sequence[Tensor]) -> Gradients:
    if not loss.requires_grad:  # it depends on none of them
        return Gradients(float(loss), [None] * len(parameters), 0.0)
    values = torch.autograd.grad(loss, list(parameters), allow_unused=True)
    return _with_norm(float(loss.detach()), values)


def _with_norm(loss: float, values: Sequence[Tensor | None]) -> Gradients:
    there = [value for value in values if value is not None]
    return Gradients(loss, list(values), gradient_norm(there))


def _share(gradients: Gradients, clip: float | None) -> float:
    """What a gradient is multiplied by to be no longer than `clip`."""
    return share_within(gradients.norm, clip)


@contextmanager
def _constant(parameters: Sequence[Tensor]) -> Iterator[None]:
    """No gradients by these."""
    learned = [parameter for parameter in parameters if parameter.requires_grad]
    for parameter in learned:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in learned:
            parameter.requires_grad_(True)


@contextmanager
def _moved(weights: Sequence[Tensor], moves: Sequence[Tensor | None]) -> Iterator[None]:
    """The weights elsewhere; afterwards they are what they were, bit for bit."""
    pairs = [(w, move) for w, move in zip(weights, moves, strict=True) if move is not None]
    before = [w.detach().clone() for w, _ in pairs]
    with torch.no_grad():
        for weight, move in pairs:
            weight.add_(move)
    try:
        yield
    finally:
        with torch.no_grad():
            for (weight, _), old in zip(pairs, before, strict=True):
                weight.copy_(old)
