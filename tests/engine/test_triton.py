"""Triton's kernels compute what the torch backend computes.

They run on a stand-in of Triton's language. With Triton installed and TRITON_INTERPRET=1 they run
on its own interpreter; with Triton installed and without the variable they are compiled for GPUs.
"""

from __future__ import annotations

import importlib.util
import os
import random
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton_stand_in
from random_cases import random_case
from support import (
    Inputs,
    assert_native_is_torch,
    assert_same,
    call,
    describe,
    differences,
    on,
    poisoned_memory,
    random_state,
    rounding_sensitivity,
    run,
    thetas,
)
from test_native_equals_torch import SPACES

from cellwright.cell import Cell, Node
from cellwright.cell.listings import EnasListing
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.cell.ops import BATCH_NORMS, NORMS, OPS
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, native_backend, triton_backend, triton_code, triton_job
from cellwright.engine.triton_plan import Plan
from cellwright.search.sharing.children import child_cell
from effort import many

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
INSTALLED = importlib.util.find_spec("triton") is not None


@pytest.fixture(autouse=True)
def kernels_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(triton_backend, "_failure", None)
    if INTERPRETED and INSTALLED:
        yield
        return
    stand_in = (triton_stand_in.triton, triton_stand_in.language)
    for module in (triton_code, triton_backend):
        monkeypatch.setattr(module, "language", lambda: stand_in)
    monkeypatch.setattr(triton_backend, "_interpreted", lambda: True)
    triton_code.kernel.cache_clear()
    yield
    triton_code.kernel.cache_clear()


def assert_triton_is_torch(module: Recurrent, inputs: Inputs) -> None:
    expected = run(on(module, "torch"), inputs)
    with warnings.catch_warnings(), poisoned_memory():
        warnings.filterwarnings("error", "Triton fails")  # torch would take over
        found = run(on(module, "triton"), inputs)
    # Of equal rows, torch's own batch norm leaves a rounding error on CPUs, and the backend none.
    normed = any(node.op in BATCH_NORMS for node in module.cell.nodes)
    wrong = differences(found, expected, atol=1e-5 if normed else 1e-6)
    if wrong:  # see assert_native_is_torch
        sensitivity = rounding_sensitivity(module, inputs, expected)
        wrong = {n: pair for n, pair in wrong.items() if not pair[0] <= 30 * sensitivity[n]}
    assert not wrong, f"gap and size: {wrong}\n{describe(module, inputs)}"


@pytest.mark.parametrize("space", SPACES)
def test_random_cells_agree(space: str) -> None:
    for number in range(many(1)):
        rng = random.Random(f"{space} {number}")
        assert_triton_is_torch(*random_case(SPACES[space](rng), rng))


@pytest.mark.parametrize("name", ["rnn", "lstm", "gru", "enas", "darts-v2"])
def test_cells_of_the_zoo_agree(name: str) -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo[name], 5, 7, input_dropout=0.2, hidden_dropout=0.2, weight_dropout=0.2)
    x = torch.randn(4, 5, 5, requires_grad=True)
    assert_triton_is_torch(module, Inputs(x, random_state(module, 5), [4, 2, 3, 1, 4]))


@pytest.mark.parametrize("norm", ["batch", "row", "none"])
def test_supernets_agree(norm: str) -> None:
    torch.manual_seed(0)
    cells = darts_supernet(2, norm=norm).cell, ess_supernet(1, 2, norm=norm).cell
    for cell, lengths in zip(cells, ([4, 1, 3, 4], [3, 1, 2, 3]), strict=True):
        module = Recurrent(cell, 4, 6, hidden_dropout=0.2, init_range=0.2)
        x = torch.randn(4, 4, 4, requires_grad=True)  # at the second's last step nobody works
        assert_triton_is_torch(module, Inputs(x, random_state(module, 4), lengths, thetas(cell)))


def test_cells_as_enas_normalises_them_agree() -> None:
    torch.manual_seed(0)
    listing = EnasListing("tanh", ((0, "relu"), (0, "sigmoid"), (1, "identity")))
    module = Recurrent(child_cell(listing, norm="products"), 4, 4, hidden_dropout=0.2)
    x = torch.randn(4, 4, 4, requires_grad=True)
    for on_backend in (assert_triton_is_torch, assert_native_is_torch):
        on_backend(module, Inputs(x, random_state(module, 4), [4, 1, 3, 4]))


def test_a_mix_of_zeros_alone_agrees() -> None:
    nodes = [Node("z", "zero"), Node("m", "mix", ("z", "z")), Node("h", "add", ("m", "h0"))]
    cell = Cell(nodes, ["h"])
    x = torch.randn(2, 2, 3, requires_grad=True)
    assert_triton_is_torch(
        Recurrent(cell, 3, 3), Inputs(x, torch.ones(1, 2, 3).requires_grad_(), None, thetas(cell))
    )


def test_rows_wider_than_a_program_agree() -> None:
    torch.manual_seed(0)
    width = 2 * triton_job._BLOCK + 5
    nodes = [
        Node("n", "norm", ("h0",)),
        Node("t", "tanh", ("x",)),
        Node("m", "mix", ("t", "n", "x")),
        Node("s", "sigmoid", ("m",)),
        Node("h", "mul", ("s", "m")),
    ]
    cell = Cell(nodes, ["h"])
    module = Recurrent(cell, width, width)
    state = torch.randn(1, 2, width).requires_grad_()
    x = torch.randn(3, 2, width, requires_grad=True)
    assert_triton_is_torch(module, Inputs(x, state, None, thetas(cell)))


ELEMENTWISE = sorted(n for n, op in OPS.items() if op.meaning is not None and n not in NORMS)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, 1e-6, 20.0, -100.0, 1e30, torch.inf, -torch.inf, torch.nan]


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_every_operation_agrees_about_special_numbers(op: str) -> None:
    inputs = ("x", "h0", "h0")[: max(1, OPS[op].least)]
    x, state = torch.cartesian_prod(torch.tensor(SPECIAL), torch.tensor(SPECIAL)).T
    module = Recurrent(Cell([Node("h", op, inputs)], ["h"]), len(x), len(x))
    given = Inputs(x.view(1, 1, -1).requires_grad_(), state.view(1, 1, -1).requires_grad_())
    expected, found = (run(on(module, backend), given) for backend in ("torch", "triton"))
    for name, value in expected.items():
        other = found[name] if found[name] is not None else torch.zeros_like(x)
        right = value if value is not None else torch.zeros_like(other)
        assert torch.allclose(other, right, rtol=1e-5, atol=1e-6, equal_nan=True), (op, name)


def test_states_alike_sums_as_states_and_sums_of_sums_agree() -> None:
    nodes = [
        Node("v", "vector"),
        Node("a", "linear", ("h0", "h1@2", "x@1")),
        Node("b", "linear", ("a", "a")),
        Node("c", "linear", ("h0", "h1@2", "x@1"), bias=False),
        Node("z", "zero"),
        Node("h", "add", ("b", "c", "v")),
    ]
    for states, output in ((["a", "a"], "h"), (["h", "h"], "b"), (["z", "h"], "v")):
        torch.manual_seed(0)
        module = Recurrent(Cell(nodes, states, output), 3, 4)
        x = torch.randn(3, 3, 3, requires_grad=True)
        assert_triton_is_torch(module, Inputs(x, random_state(module, 3), [1, 3, 2]))


def test_a_step_of_an_lstm_is_one_product_and_one_kernel() -> None:
    plan = Plan(zoo["lstm"].simplified(), mask_hidden=False, mask_input=False, one_width=False)
    steps = [level for level in plan.levels if level.groups or level.phases]
    assert [(len(level.groups), len(level.phases)) for level in steps] == [(1, 1)]


def test_kernels_that_are_alike_are_one() -> None:
    plan = Plan(zoo["darts-v1"].simplified(), mask_hidden=False, mask_input=False, one_width=False)
    sources = [phase.forward.source for level in plan.levels for phase in level.phases]
    assert len(set(sources)) < len(sources)


def test_calls_without_gradients_keep_one_step() -> None:
    module = Recurrent(zoo["darts-v1"], 3, 4, backend="triton")
    x = torch.randn(6, 2, 3)
    with torch.no_grad():
        output = module(x)[0]
    assert torch.allclose(output, on(module, "torch")(x)[0], atol=1e-6)
    sizes = {}
    original = triton_job.Job._buffers

    def watched(job: triton_job.Job, *arguments: object) -> triton_job.Buffers:
        buffers = original(job, *arguments)  # type: ignore[arg-type]
        sizes.update({name: len(b) for name, b in buffers.items() if name.startswith("value")})
        return buffers

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(triton_job.Job, "_buffers", watched)
        on(module, "triton")(x)
    assert sizes
    assert set(sizes.values()) == {1}


def test_gradients_may_be_taken_twice_and_of_each_other() -> None:
    module = Recurrent(zoo["gru"], 3, 4, backend="triton")
    x = torch.randn(3, 2, 3, requires_grad=True)
    output = module(x)[0].square().sum()
    first = torch.autograd.grad(output, x, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(output, x, retain_graph=True)[0])
    again = torch.autograd.grad(output, x, create_graph=True)[0]
    assert torch.allclose(first, again, atol=1e-6)
    found = torch.autograd.grad(again.square().sum(), x)[0]
    output = on(module, "torch")(x)[0].square().sum()
    again = torch.autograd.grad(output, x, create_graph=True)[0]
    assert torch.allclose(found, torch.autograd.grad(again.square().sum(), x)[0], atol=1e-5)


def test_what_it_cannot_serve_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    module = Recurrent(zoo["lstm"], 3, 4, backend="triton")
    x = torch.randn(2, 2, 3)
    with pytest.raises(RuntimeError, match=r"does not serve this call \(.*float32"):
        module.double()(x.double())
    with pytest.raises(RuntimeError, match="trace"):
        torch.jit.trace(module.float(), (x,), strict=False)
    with monkeypatch.context() as patch:
        patch.setattr(triton_backend, "language", lambda: None)
        with pytest.raises(RuntimeError, match="Triton is not installed"):
            module(x)
    monkeypatch.setattr(triton_backend, "_interpreted", lambda: False)
    with pytest.raises(RuntimeError, match="does not run on cpu"):
        module(x)


def test_weights_of_another_shape_do_not_reach_a_kernel() -> None:
    module = Recurrent(zoo["lstm"], 3, 4, backend="triton")
    names = [name for name, _ in module.named_parameters()]
    small = {names[0]: torch.zeros(1, 1)}
    with pytest.raises(RuntimeError, match="not of the shape"):
        torch.func.functional_call(module, small, (torch.randn(2, 2, 3),))


def test_a_function_without_a_kernel_leaves_the_cell_to_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(native_backend, "_native", None)
    monkeypatch.delitem(triton_code._FUNCTIONS, "exp")
    module = Recurrent(Cell([Node("h", "exp", ("x",))], ["h"]), 3, 3)
    x = torch.randn(2, 2, 3)
    assert torch.equal(module(x)[0], x.exp())
    with pytest.raises(RuntimeError, match="no kernel for exp"):
        on(module, "triton")(x)


def test_auto_leaves_kernels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have not been run on a GPU: who wants them asks for them."""
    monkeypatch.setattr(native_backend, "_native", None)
    monkeypatch.setattr(native_backend, "_warned", set())
    monkeypatch.setattr(triton_backend, "run", lambda _: pytest.fail("a kernel was run"))
    module = Recurrent(zoo["gru"], 3, 4)
    with pytest.warns(RuntimeWarning, match="torch does"):
        call(module, Inputs(torch.randn(2, 2, 3)))


def break_kernels(monkeypatch: pytest.MonkeyPatch, *, backward_alone: bool) -> None:
    original = triton_code.kernel

    def broken(source: str) -> object:
        if not backward_alone or " g0" in source:
            raise OSError("no C compiler")
        return original(source)

    monkeypatch.setattr(triton_job, "kernel", broken)


def test_where_triton_fails_at_first_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    break_kernels(monkeypatch, backward_alone=False)
    with pytest.raises(RuntimeError, match="Triton fails here: OSError: no C compiler"):
        on(Recurrent(zoo["lstm"], 3, 4), "triton")(torch.randn(3, 2, 3))


def test_where_triton_fails_on_the_way_back_torch_takes_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_kernels(monkeypatch, backward_alone=True)
    module = Recurrent(zoo["lstm"], 3, 4)
    inputs = Inputs(torch.randn(3, 2, 3, requires_grad=True), random_state(module, 2))
    expected = run(on(module, "torch"), inputs)
    with pytest.warns(RuntimeWarning, match="Triton fails here: OSError: no C compiler"):
        found = run(on(module, "triton"), inputs)
    assert_same(found, expected)
    with pytest.raises(RuntimeError, match="Triton fails here"):
        on(module, "triton")(inputs.x)


@pytest.mark.skipif(not INSTALLED, reason="Triton is not installed (pip install triton)")
@pytest.mark.skipif(INTERPRETED, reason="with TRITON_INTERPRET=1 Triton compiles nothing")
@pytest.mark.parametrize("gpu", [("cuda", 80, 32), ("cuda", 90, 32), ("hip", "gfx942", 64)])
def test_kernels_compile_for_gpus_once(
    gpu: tuple[str, int | str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # With the arguments of real calls; Triton does everything but start them.
    monkeypatch.undo()
    triton_code.kernel.cache_clear()
    from triton.backends.compiler import GPUTarget
    from triton.runtime import jit

    compiled: list[tuple[str, str]] = []

    class Compiled:
        def __init__(self, source: str) -> None:
            self.source = source

        def __getitem__(self, grid: tuple[int, int]) -> Callable[..., None]:
            def compile(*arguments: Any, **options: int) -> None:
                built = triton_code.kernel(self.source).warmup(*arguments, grid=grid, **options)
                assert built.asm["cubin" if gpu[0] == "cuda" else "hsaco"]
                compiled.append((self.source, built.hash))

            return compile

    machine = SimpleNamespace(
        get_current_device=lambda: 0,
        get_current_stream=lambda device: 0,
        get_current_target=lambda: GPUTarget(*gpu),
    )
    monkeypatch.setattr(jit, "driver", SimpleNamespace(active=machine))
    monkeypatch.setattr(triton_backend, "_interpreted", lambda: True)
    monkeypatch.setattr(triton_job, "kernel", Compiled)
    every = [Node("e", "exp", ("x",)), Node("m", "max", ("e", "h0")), Node("h", "div", ("m", "x"))]
    for cell in (zoo["lstm"], darts_supernet(2, norm="row").cell, Cell(every, ["h"])):
        module = Recurrent(cell, 4, 4, hidden_dropout=0.2, input_dropout=0.2, backend="triton")
        x = torch.randn(18, 3, 4, requires_grad=True)  # steps that are 1, and multiples of 16
        try:
            module(x, theta=thetas(cell))[0].sum().backward()
        except triton_job.KernelError as error:
            if "linker" in str(error):  # AMD's, which older versions do not bring along
                pytest.skip(str(error))
            raise
    assert triton_backend._failure is None
    assert len(set(compiled)) == len({source for source, _ in compiled}) < len(compiled)
