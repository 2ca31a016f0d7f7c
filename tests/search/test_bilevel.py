"""Gradients of both orders against algebra and against autograd, on problems of a few numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from cellwright.search.gradient.bilevel import (
    Step,
    first_order,
    of_weights,
    second_order,
)
from cellwright.training.gradients import Gradients

SEEDS = range(5)


def drawn(seed: int, *sizes: tuple[int, ...]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*size, generator=generator, dtype=torch.float64) for size in sizes]


class Quadratic:
    """L_train = ½·w·A·w + α·B·w and L_valid = ½·w·C·w + α·D·w + ½·α·F·α."""

    def __init__(self, seed: int) -> None:
        self.w, self.alpha, *rest = drawn(seed, (4,), (3,), (4, 4), (3, 4), (4, 4), (3, 4), (3, 3))
        a, self.b, c, self.d, f = rest
        self.a, self.c, self.f = a + a.T, c + c.T, f + f.T
        self.w.requires_grad_()
        self.alpha.requires_grad_()

    def train(self) -> Tensor:
        return self.w @ self.a @ self.w / 2 + self.alpha @ self.b @ self.w

    def valid(self) -> Tensor:
        w, alpha = self.w, self.alpha
        return w @ self.c @ w / 2 + alpha @ self.d @ w + alpha @ self.f @ alpha / 2

    def analytic(self, step: Step) -> Tensor:
        """The gradient of L_valid(w'(α), α) by α, written out."""
        w, alpha = self.w.detach(), self.alpha.detach()
        down = self.a @ w + self.b.T @ alpha
        share = shortened(down, step.clip)
        ahead = w - step.rate * (share * down + step.weight_decay * w)
        v = self.c @ ahead + self.d.T @ alpha
        v = v * shortened(v, step.clip)
        return self.d @ ahead + self.f @ alpha - step.rate * share * self.b @ v


def shortened(gradient: Tensor, clip: float | None) -> float:
    return 1.0 if clip is None else min(1.0, clip / float(gradient.norm()))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "step",
    [Step(0.1), Step(0.3, 0.05), Step(0.3, 0.05, clip=0.5), Step(0.3, clip=1e9), Step(0.0)],
    ids=str,
)
def test_second_order_of_a_quadratic_problem(seed: int, step: Step) -> None:
    problem = Quadratic(seed)
    found = second_order(problem.train, problem.valid, [problem.w], [problem.alpha], step)
    torch.testing.assert_close(found.values[0], problem.analytic(step), rtol=1e-9, atol=1e-9)
    assert found.norm == pytest.approx(float(problem.analytic(step).norm()))


@pytest.mark.parametrize("seed", SEEDS)
def test_first_order_of_a_quadratic_problem(seed: int) -> None:
    problem = Quadratic(seed)
    found = first_order(problem.valid, [problem.w], [problem.alpha])
    expected = problem.d @ problem.w + problem.f @ problem.alpha
    torch.testing.assert_close(found.values[0], expected.detach())
    assert found.loss == pytest.approx(problem.valid().item())


@pytest.mark.parametrize("seed", SEEDS)
def test_second_order_is_the_derivative_through_the_step(seed: int) -> None:
    """Autograd goes through the step of the weights itself; the difference is taken at 1e-2."""
    w, u, alpha, other = drawn(seed, (4, 3), (3,), (3,), (2,))

    def loss(w: Tensor, u: Tensor, alpha: Tensor, other: Tensor, target: float) -> Tensor:
        hidden = torch.tanh(w @ (alpha.softmax(0) * u))
        return (hidden.sum() * other.sigmoid().sum() - target).square() + u.square().sum() * alpha[
            0
        ]

    for tensor in (w, u, alpha, other):
        tensor.requires_grad_()
    down = torch.autograd.grad(loss(w, u, alpha, other, 0.7), [w, u], create_graph=True)
    ahead = [p - 0.2 * (g + 0.01 * p) for p, g in zip((w, u), down, strict=True)]
    expected = torch.autograd.grad(loss(*ahead, alpha, other, -0.4), [alpha, other])
    found = second_order(
        lambda: loss(w, u, alpha, other, 0.7),
        lambda: loss(w, u, alpha, other, -0.4),
        [w, u],
        [alpha, other],
        Step(0.2, 0.01),
    )
    for value, wanted in zip(found.values, expected, strict=True):
        torch.testing.assert_close(value, wanted, rtol=1e-3, atol=1e-4)


METHODS: dict[str, Callable[[Quadratic], Gradients]] = {
    "first order": lambda p: first_order(p.valid, [p.w], [p.alpha]),
    "second order": lambda p: second_order(p.train, p.valid, [p.w], [p.alpha], Step(0.1)),
    "weights": lambda p: of_weights(p.train, [p.w], [p.alpha]),
}


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_left_behind(method: str) -> None:
    """Weights and variables are the same bits, learn as before, and have no stray gradients."""
    problem = Quadratic(0)
    before = problem.w.detach().clone(), problem.alpha.detach().clone()
    METHODS[method](problem)
    assert torch.equal(problem.w, before[0])
    assert torch.equal(problem.alpha, before[1])
    for tensor in (problem.w, problem.alpha):
        assert tensor.requires_grad
        assert tensor.grad is None


def test_weights_come_back_after_an_error() -> None:
    problem = Quadratic(0)
    before = problem.w.detach().clone()

    def broken() -> Tensor:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        second_order(problem.train, broken, [problem.w], [problem.alpha], Step(0.1))
    assert torch.equal(problem.w, before)


def test_first_order_makes_no_gradients_of_weights() -> None:
    problem = Quadratic(0)
    learned = []

    def valid() -> Tensor:
        learned.append(problem.w.requires_grad)
        return problem.valid()

    first_order(valid, [problem.w], [problem.alpha])
    assert learned == [False]


def test_a_weight_that_no_loss_reads_stays() -> None:
    problem = Quadratic(1)
    (idle,) = drawn(2, (5,))
    idle.requires_grad_()
    seen = []

    def valid() -> Tensor:
        seen.append(idle.detach().clone())
        return problem.valid()

    step = Step(0.1, weight_decay=0.5)
    found = second_order(problem.train, valid, [problem.w, idle], [problem.alpha], step)
    torch.testing.assert_close(found.values[0], problem.analytic(step))
    assert torch.equal(seen[0], idle)
    assert of_weights(problem.train, [problem.w, idle], [problem.alpha]).values[1] is None


def test_a_valid_loss_without_weights_has_no_second_term() -> None:
    problem = Quadratic(3)
    found = second_order(
        problem.train, lambda: problem.alpha.square().sum(), [problem.w], [problem.alpha], Step(9.0)
    )
    torch.testing.assert_close(found.values[0], 2 * problem.alpha.detach())


def test_a_loss_without_variables_has_no_gradient() -> None:
    """A cell may have come to read nothing of what is searched."""
    problem = Quadratic(0)
    found = first_order(lambda: problem.w.square().sum(), [problem.w], [problem.alpha])
    assert (found.values, found.norm) == ([None], 0.0)
