"""The native core inside autograd: second gradients, frozen tensors, falling back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch
from support import as_tuple, core_calls, gap, on, random_state, thetas

from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, native_backend


@pytest.fixture(autouse=True)
def no_warnings_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(native_backend, "_warned", set())
    return


def lstm(**options: float) -> Recurrent:
    torch.manual_seed(0)
    return Recurrent(zoo["lstm"], 4, 6, **options)


def test_doubles_fall_back_to_torch_with_one_warning() -> None:
    module = lstm().double()
    x = torch.randn(5, 3, 4).double()
    with pytest.warns(RuntimeWarning, match="torch.float64") as caught:
        found = [module(x)[0] for _ in range(3)]
    assert len(caught) == 1
    assert torch.equal(found[0], on(module, "torch")(x)[0])
    assert found[0].dtype == torch.float64


def test_a_missing_core_falls_back_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    module = lstm()
    x = torch.randn(5, 3, 4)
    expected = module(x)[0]
    monkeypatch.setattr(native_backend, "_native", None)
    with pytest.warns(RuntimeWarning, match="core could not be built") as caught:
        found = [module(x)[0] for _ in range(3)]
    assert len(caught) == 1
    assert torch.allclose(found[0], expected, atol=1e-6)
    found[0].sum().backward()
    assert module.layer0.i_x.weight_x.grad.any()


def test_torch_backend_never_warns() -> None:
    module = on(lstm().double(), "torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module(torch.randn(5, 3, 4).double())


@pytest.mark.filterwarnings("ignore:the native backend does not serve")
@pytest.mark.parametrize("input_dropout", [0.0, 0.3])
@pytest.mark.parametrize("leaf", [True, False])
def test_gradients_of_gradients_are_torchs(leaf: bool, input_dropout: float) -> None:
    cell = darts_supernet(2, norm=False).cell
    torch.manual_seed(0)
    module = Recurrent(cell, 4, 6, 2, input_dropout=input_dropout, hidden_dropout=0.3)
    theta = thetas(cell)
    start = torch.randn(5, 3, 4)
    results = []
    for backend in ("torch", "native"):
        on(module, backend).zero_grad()
        for weight in theta.values():
            weight.grad = None
        torch.manual_seed(1)
        x = start.clone().requires_grad_()
        output, state = module(x if leaf else 2 * x, theta=theta)
        loss = output.square().sum() + state.sum()
        wanted = [x, *theta.values(), *module.parameters()]
        first = torch.autograd.grad(loss, wanted, create_graph=True)
        sum(g.square().sum() for g in first).backward()
        results.append([*first, *(t.grad for t in wanted)])
    for number, (expected, found) in enumerate(zip(*results, strict=True)):
        difference, size = gap(found, expected)
        assert difference <= 1e-3 * size + 1e-5, number


@pytest.mark.filterwarnings("ignore:the native backend does not serve")
def test_gradients_of_gradients_through_a_carried_state_are_torchs() -> None:
    module = lstm(weight_dropout=0.3)
    x = torch.randn(5, 3, 4, requires_grad=True)
    results = []
    for backend in ("torch", "native"):
        torch.manual_seed(1)
        on(module, backend)
        _, state = module(x)
        output, _ = module(x, state)  # depends on weights and x in two ways
        wanted = [x, *module.parameters()]
        first = torch.autograd.grad(output.square().sum(), wanted, create_graph=True)
        second = torch.autograd.grad(sum(g.square().sum() for g in first), wanted)
        results.append([*first, *second])
    for expected, found in zip(*results, strict=True):
        assert torch.allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_gradients_of_gradients_warn_once() -> None:
    module = lstm()
    x = torch.randn(5, 3, 4, requires_grad=True)
    losses = [module(x)[0].sum() for _ in range(3)]
    with pytest.warns(RuntimeWarning, match="gradients of gradients") as caught:
        found = [torch.autograd.grad(loss, x, create_graph=True)[0] for loss in losses]
    assert len(caught) == 1
    assert torch.equal(found[0], found[2])


def test_a_second_backward_pass_gives_the_same_gradients() -> None:
    module = lstm(hidden_dropout=0.5)
    x = torch.randn(5, 3, 4, requires_grad=True)
    loss = module(x)[0].square().sum()
    wanted = [x, *module.parameters()]
    first = torch.autograd.grad(loss, wanted, retain_graph=True)
    module(x)[0].sum().backward()  # another call in between, which may use the same memory
    second = torch.autograd.grad(loss, wanted, retain_graph=True)
    third = torch.autograd.grad(loss, wanted)
    for gradients in (second, third):
        assert all(map(torch.equal, first, gradients))


def test_a_second_backward_pass_needs_retain_graph() -> None:
    loss = lstm()(torch.randn(5, 3, 4))[0].sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


@pytest.mark.parametrize("what", ["weight", "bias", "input", "state"])
def test_changes_between_forward_and_backward_are_noticed(what: str) -> None:
    module = lstm()
    x, state = torch.randn(5, 3, 4), random_state(module, 3, grad=False)
    loss = module(x, state)[0].sum()
    target = {
        "weight": module.layer0.f_h.weight_h0, "bias": module.layer0.f_h.bias,
        "input": x, "state": state[1],
    }[what]  # fmt: skip
    with torch.no_grad():
        target.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_no_grad_computes_the_same_and_keeps_nothing() -> None:
    module = lstm()
    x = torch.randn(5, 3, 4, requires_grad=True)
    expected, _ = module(x)
    with torch.no_grad(), core_calls() as calls:
        found, state = module(x)
    assert calls
    assert torch.equal(found, expected)
    assert not any(t.requires_grad for t in (found, *as_tuple(state)))
    with torch.inference_mode():
        assert torch.equal(module(x)[0], expected)


def test_frozen_weights_get_no_gradient_and_change_no_other() -> None:
    module = lstm()
    x = torch.randn(5, 3, 4, requires_grad=True)
    module(x)[0].sum().backward()
    expected = {name: p.grad.clone() for name, p in module.named_parameters()}
    for frozen in ("layer0.f_x.weight_x", "layer0.o_h.weight_h0", "layer0.g_h.bias"):
        module.get_parameter(frozen).requires_grad_(False)
    module.zero_grad()
    module(x)[0].sum().backward()
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            assert torch.equal(parameter.grad, expected[name]), name
        else:
            assert parameter.grad is None


def test_only_the_input_learns() -> None:
    module = lstm().requires_grad_(False)
    x = torch.randn(5, 3, 4, requires_grad=True)
    module(x)[0].sum().backward()
    assert x.grad.any()
    assert not module(x.detach())[0].requires_grad


def test_strided_inputs_and_gradients() -> None:
    module = lstm()
    wide = torch.randn(3, 5, 8, requires_grad=True)
    output, _ = module(wide.transpose(0, 1)[..., ::2])
    output.transpose(0, 2)[::2].sum().backward()
    expected = wide.grad.clone()
    wide.grad = None
    output, _ = on(module, "torch")(wide.transpose(0, 1)[..., ::2])
    output.transpose(0, 2)[::2].sum().backward()
    assert torch.allclose(wide.grad, expected, atol=1e-5)


def test_inside_another_module_it_learns() -> None:
    torch.manual_seed(0)
    module = lstm()
    head = torch.nn.Linear(6, 1)
    optimizer = torch.optim.Adam([*module.parameters(), *head.parameters()], lr=0.02)
    x = torch.randn(8, 32, 4)
    target = x[0, :, :1]  # remember the first step's first number
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = (head(module(x)[0][-1]) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
