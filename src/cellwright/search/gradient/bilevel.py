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

import torch
from torch import Tensor

from cellwright.training.gradients import Gradients, gradients_of

Loss = Callable[[], Tensor]


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
        return gradients_of(valid(), variables)


def second_order(
    train: Loss, valid: Loss, weights: Sequence[Tensor], variables: Sequence[Tensor], step: Step
) -> Gradients:
    """∇α L_valid(w', α) with w' = w − ξ·(c·∇w L_train(w, α) + λ·w): DARTS' Eqs. 6 to 8.

    As in DARTS' code for recurrent cells, c counts as constant, and the gradient by w' is clipped
    as well before it enters the second term. A weight without gradient stays where it is. The
    weights are the same afterwards, bit for bit.
    """
    down = gradients_of(train(), weights)
    share = down.share(step.clip)
    moves = [
        None if g is None else -step.rate * (share * g + step.weight_decay * w.detach())
        for g, w in zip(down.values, weights, strict=True)
    ]
    with _moved(weights, moves):
        both = gradients_of(valid(), [*weights, *variables])
    ahead = Gradients.of(both.loss, both.values[: len(weights)])
    direct = both.values[len(weights) :]
    if ahead.norm == 0:  # nothing to gain from other weights
        return Gradients.of(both.loss, direct)
    v_share = ahead.share(step.clip)
    epsilon = step.radius / (v_share * ahead.norm)
    sides = []
    for sign in (1, -1):
        away = [None if v is None else sign * epsilon * v_share * v for v in ahead.values]
        with _moved(weights, away), _constant(weights):
            sides.append(gradients_of(train(), variables).values)
    found: list[Tensor | None] = []
    for now, plus, minus in zip(direct, *sides, strict=True):
        indirect = None
        if plus is not None and minus is not None:
            indirect = (plus - minus) * (-step.rate * share / (2 * epsilon))
        found.append(indirect if now is None else now if indirect is None else now + indirect)
    return Gradients.of(both.loss, found)


def of_weights(train: Loss, weights: Sequence[Tensor], variables: Sequence[Tensor]) -> Gradients:
    """∇w L_train(w, α)."""
    with _constant(variables):
        return gradients_of(train(), weights)


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
