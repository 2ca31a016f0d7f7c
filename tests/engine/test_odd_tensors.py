"""Tensors and weights of any kind, defaults and modes: the numbers are torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from support import core_calls, on
from surroundings_cases import BATCH, OTHER, WIDTH, X, marks, near, network, numbers, on_torch
from torch import Tensor
from torch.func import functional_call
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from cellwright.cell.listings.supernets import darts_supernet
from cellwright.engine import Recurrent

pytestmark = marks


class Named(Tensor):
    """A tensor of another class."""


class Wrapped(Tensor):
    """A tensor without memory, around another."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> Wrapped:
        made = Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        def open_(value: Any) -> Any:
            return value.inner if isinstance(value, Wrapped) else value

        return function(*map(open_, args), **(kwargs or {}))


CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "sparse": lambda t: t.to_sparse() if t.dim() == 2 else t,
    "sparse rows": lambda t: t.to_sparse_csr() if t.dim() == 2 else t,
    "another class": lambda t: t.as_subclass(Named),
    "a wrapper": Wrapped,
    "zeros without memory": lambda t: torch._efficientzerotensor(t.shape),
    "strided": lambda t: t.repeat_interleave(2, -1)[..., ::2],
    "columns first": lambda t: t.t().contiguous().t() if t.dim() == 2 else t,
    "expanded": lambda t: t[:1].expand(t.shape),
    "negative views": lambda t: torch.complex(t, t).conj().imag,
    "shared memory": lambda t: t.clone().share_memory_(),
}


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
@pytest.mark.parametrize("change", CHANGES)
def test_weights_of_any_kind(change: str) -> None:
    module = network().requires_grad_(False)
    weights = {name: CHANGES[change](weight) for name, weight in module.named_parameters()}
    found = functional_call(module, weights, (OTHER,))[0]
    assert near(found, functional_call(on(module, "torch"), weights, (OTHER,))[0])


@pytest.mark.parametrize("change", [name for name in CHANGES if "sparse" not in name])
def test_inputs_and_states_of_any_kind(change: str) -> None:
    module = network("gru").requires_grad_(False)
    x, state = CHANGES[change](OTHER), CHANGES[change](numbers(1, BATCH, 6))
    found, final = module(x, state)
    expected, wanted = on(module, "torch")(x, state)
    assert type(found) is type(expected)
    assert near(found, expected)
    assert near(final, wanted)


def test_an_input_that_overlaps_its_state() -> None:
    memory = numbers(100)
    x, state = memory.as_strided((5, 3, 4), (1, 2, 3)), memory.as_strided((1, 3, 6), (0, 1, 2))
    module = network("gru")
    assert near(module(x, state)[0], on_torch(module, x, state)[0])


@pytest.mark.parametrize("learns", [False, True])
def test_a_tensor_that_outlived_its_transform(learns: bool) -> None:
    outlived = []

    def function(x: Tensor) -> Tensor:
        outlived.append(x)
        return x.square().sum()

    torch.func.grad(function)(OTHER)
    module = network().requires_grad_(learns)
    assert near(module(outlived[0])[0], module(OTHER)[0])


@pytest.mark.parametrize("what", ["weight", "input"])
def test_a_tensor_whose_memory_was_taken_is_torchs_error(what: str) -> None:
    module, x = network().requires_grad_(False), OTHER.clone()
    taken = x if what == "input" else module.layer0.i_h.weight_h0
    taken.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match=r"resize|storage"):
        module(x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_default_dtype_changes_nothing(dtype: torch.dtype) -> None:
    module, x = network(), OTHER.clone().requires_grad_()
    net = darts_supernet(2).cell
    supernet = Recurrent(net, WIDTH, WIDTH)
    theta = {n.theta_name: torch.ones(len(n.inputs)) for n in net.nodes if n.op == "mix"}

    def results() -> list[Tensor]:
        output, state = module(x, lengths=[5, 3, 2])
        mixed, _ = supernet(x, theta=theta)
        loss = output.sum() + mixed.sum()
        return [output, *state, mixed, *torch.autograd.grad(loss, [x, *module.parameters()])]

    expected = results()
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        found = results()
    finally:
        torch.set_default_dtype(before)
    assert all(map(torch.equal, found, expected))


def test_the_default_device_changes_nothing() -> None:
    module, x = network(bidirectional=True), OTHER.clone().requires_grad_()

    def results() -> list[Tensor]:
        output, state = module(x, lengths=[5, 3, 2])
        return [output, *state, *torch.autograd.grad(output.sum(), [x])]

    expected = results()
    with torch.device("meta"), core_calls() as calls:
        found = results()
    assert calls
    assert all(map(torch.equal, found, expected))


class Doubled(TorchFunctionMode):
    """A mode under which every product is twice what it is."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        return 2 * result if function is torch.nn.functional.linear else result


def test_modes_see_every_operation() -> None:
    module = network()
    results, flops = [], []
    for backend in ("auto", "torch"):
        on(module, backend)
        with Doubled():
            results.append(module(OTHER)[0])
        with FlopCounterMode(display=False) as counter:
            module(OTHER)
        flops.append(counter.get_total_flops())
    assert torch.equal(*results)
    assert flops[0] == flops[1] > 0


def test_autocast_is_obeyed() -> None:
    module = network()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, expected = module(OTHER)[0], on_torch(module, OTHER)[0]
    assert torch.equal(found, expected)
    assert not torch.equal(found, module(OTHER)[0])


# -- asked for by name ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("surroundings", "change", "reason"),
    [
        (torch.no_grad, lambda m: m.double(), "computes in torch.float32, not torch.float64"),
        (torch.no_grad, lambda m: m.to("meta"), "does not run on meta"),
        (lambda: torch.autocast("cpu"), lambda m: m, "autocast"),
        (forward_ad.dual_level, lambda m: m, "derivatives are taken forward"),
        (lambda: FlopCounterMode(display=False), lambda m: m, "wants to see all operations"),
    ],
)
def test_the_core_asked_for_by_name_says_what_it_cannot(
    surroundings: Any, change: Callable[[Recurrent], Recurrent], reason: str
) -> None:
    module = change(network(backend="native"))
    x = OTHER.to(next(module.parameters()))
    with surroundings(), pytest.raises(RuntimeError, match=f"{reason}.*with backend='auto', torch"):
        module(x)


def test_a_trace_on_the_core_is_refused() -> None:
    with pytest.raises(RuntimeError, match="records operations for a trace"):
        torch.jit.trace(network(backend="native"), (X,), strict=False)


def test_sparse_weights_on_the_core_are_refused() -> None:
    module = network(backend="native").requires_grad_(False)
    weights = {name: CHANGES["sparse"](weight) for name, weight in module.named_parameters()}
    with pytest.raises(RuntimeError, match="computes with numbers in memory"):
        functional_call(module, weights, (OTHER,))
