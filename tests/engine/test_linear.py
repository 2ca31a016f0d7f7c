"""Products outside of cells against torch's in double precision, and what may not change them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from cellwright.base.threads import threads_for
from cellwright.engine.linear import Linear, bmm, linear

_native = pytest.importorskip("cellwright.engine._native")

SIZES = st.sampled_from([1, 2, 7, 9, 16, 47, 48, 49, 63, 130, 193, 400])
TURNS = st.booleans()


@pytest.fixture(params=_native.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    _native.use_instruction_set(request.param)
    yield request.param
    _native.use_instruction_set(_native.instruction_sets()[0])


on_each_set = pytest.mark.usefixtures("instruction_set")
many = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def numbers(*shape: int, turned: bool = False, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    if turned:
        shape = (*shape[:-2], shape[-1], shape[-2])
    found = torch.randn(shape, generator=generator)
    return found.transpose(-1, -2) if turned else found


def with_gradients(function, operands: list[Tensor]) -> list[Tensor]:
    """The result, and the gradients of a weighted sum over it."""
    leaves = [tensor.detach().clone(memory_format=torch.preserve_format) for tensor in operands]
    result = function(*(leaf.requires_grad_() for leaf in leaves))
    weights = numbers(*result.shape, seed=1).to(result.dtype)
    gradients = torch.autograd.grad((result * weights).sum(), leaves)
    return [result.detach(), *gradients]


def assert_is_torch(ours, torchs, operands: list[Tensor]) -> None:
    wanted = with_gradients(torchs, [tensor.double() for tensor in operands])
    found = with_gradients(ours, operands)
    for one, other in zip(found, wanted, strict=True):
        scale = other.abs().max().clamp_min(1e-2)
        assert one.shape == other.shape
        assert float((one.double() - other).abs().max() / scale) < 2e-5
    for threads in (1, 2, 3):
        with threads_for(threads):
            again = with_gradients(ours, operands)
        assert all(torch.equal(one, other) for one, other in zip(found, again, strict=True))


@on_each_set
@many
@given(SIZES, SIZES, SIZES, TURNS, TURNS, st.booleans())
def test_linear(rows, columns, depth, x_turned, weight_turned, has_bias):
    operands = [
        numbers(rows, depth, turned=x_turned),
        numbers(columns, depth, turned=weight_turned),
    ]
    if has_bias:
        operands.append(numbers(columns))
    assert_is_torch(linear, F.linear, operands)


@on_each_set
@many
@given(st.integers(1, 5), SIZES, SIZES, SIZES, TURNS, TURNS)
def test_bmm(batch, rows, columns, depth, a_turned, b_turned):
    if batch * rows * columns * depth > 2_000_000:
        rows = 9
    operands = [
        numbers(batch, rows, depth, turned=a_turned),
        numbers(batch, depth, columns, turned=b_turned),
    ]
    assert_is_torch(bmm, torch.bmm, operands)


@pytest.mark.parametrize(
    "shape", [(2000, 300, 200), (5000, 13, 700), (40, 10_000, 64), (1, 1000, 300)]
)
def test_sizes_of_models(shape):
    rows, columns, depth = shape
    assert_is_torch(
        linear, F.linear, [numbers(rows, depth), numbers(columns, depth), numbers(columns)]
    )


def test_parts_of_tensors_are_read_where_they_lie():
    whole = numbers(12, 40)
    for x in (whole[:, 5:25], whole[::3, :20], whole[:, ::2], whole[3:4].expand(6, 40)[:, :20]):
        weight = numbers(9, 20)
        torch.testing.assert_close(linear(x, weight), x @ weight.t())
    a = numbers(3, 1, 8).expand(3, 5, 8)
    b = numbers(1, 8, 4).expand(3, 8, 4)
    torch.testing.assert_close(bmm(a, b), torch.bmm(a, b))
    assert_is_torch(
        lambda x, w: linear(x.expand(7, 6), w),
        lambda x, w: F.linear(x.expand(7, 6), w),
        [numbers(1, 6), numbers(4, 6)],
    )


def test_shapes_are_those_of_torch():
    weight, bias = numbers(4, 3), numbers(4)
    for x in (numbers(3), numbers(0, 3), numbers(2, 0, 3), numbers(2, 5, 1, 3)):
        torch.testing.assert_close(linear(x, weight, bias), F.linear(x, weight, bias))
    assert linear(numbers(2, 0), numbers(4, 0), bias).equal(bias.expand(2, 4))
    assert bmm(numbers(0, 2, 3), numbers(0, 3, 4)).shape == (0, 2, 4)
    assert bmm(numbers(2, 2, 0), numbers(2, 0, 4)).equal(torch.zeros(2, 2, 4))


def test_what_does_not_fit_is_torchs_error():
    with pytest.raises(RuntimeError, match="shapes"):
        linear(numbers(2, 3), numbers(4, 5))
    with pytest.raises(RuntimeError):
        linear(numbers(2, 3), numbers(4, 3), numbers(5))
    with pytest.raises(RuntimeError):
        bmm(numbers(2, 3, 4), numbers(3, 4, 5))
    with pytest.raises(RuntimeError, match="dtype"):
        linear(numbers(2, 3).double(), numbers(4, 3))


def test_other_numbers_and_second_derivatives_are_torchs():
    x, weight = (t.double().requires_grad_() for t in (numbers(3, 4), numbers(5, 4)))
    assert torch.autograd.gradcheck(linear, (x, weight))
    a, b = numbers(2, 3).requires_grad_(), numbers(4, 3).requires_grad_()
    (first,) = torch.autograd.grad(linear(a, b).pow(3).sum(), a, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), b)
    (wanted,) = torch.autograd.grad((a @ b.t()).pow(3).sum(), a, create_graph=True)
    torch.testing.assert_close(second, torch.autograd.grad(wanted.sum(), b)[0])


def test_not_a_number_stays_one_and_only_where_it_is_read():
    x, weight = numbers(60, 20), numbers(50, 20)
    x[7, 3] = torch.nan
    x[9, 1] = torch.inf
    found = linear(x, weight)
    assert found[7].isnan().all()
    assert not found[9].isfinite().any()
    rest = [row for row in range(60) if row not in (7, 9)]
    assert found[rest].isfinite().all()


def test_the_layer_is_nn_linear():
    torch.manual_seed(0)
    ours = Linear(6, 4)
    theirs = torch.nn.Linear(6, 4)
    theirs.load_state_dict(ours.state_dict())
    x = numbers(3, 6)
    torch.testing.assert_close(ours(x), theirs(x))
    assert torch.equal(ours(x, "torch"), theirs(x))
