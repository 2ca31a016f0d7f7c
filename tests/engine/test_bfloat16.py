"""Products of bfloat16 operands: torch's are the oracle, and the core's are the same.

A state that lies between two bfloat16 numbers may be rounded to one of them on torch and to the
other on the core, since their sums differ in the last bit. So tight bounds hold where all sums are
exact, or nothing that was summed is rounded again; elsewhere the core has to be far nearer to the
oracle than the oracle is to float32.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support import (
    Inputs,
    Results,
    assert_identical,
    core_calls,
    gap,
    on,
    poisoned_memory,
    random_state,
    run,
    shared_out,
    thetas,
)
from torch import Tensor

from cellwright.cell import Cell, Node
from cellwright.cell.listings import EnasListing, enas
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import (
    Recurrent,
    WeightBank,
    bfloat16,
    native_backend,
    native_cross_entropy,
    operators,
    torch_backend,
    triton_backend,
)
from cellwright.engine.backends import BACKENDS
from cellwright.engine.cross_entropy import _formula, linear_cross_entropy, token_losses
from cellwright.engine.directions import together

native = pytest.mark.skipif(
    not native_backend.available("bfloat16"), reason="the core has no bfloat16 on this processor"
)

CELLS: dict[str, Cell] = {
    "lstm": zoo["lstm"],
    "gru": zoo["gru"],
    "darts-v1": zoo["darts-v1"],
    "darts supernet": darts_supernet(3, norm="row").cell,
    "ess supernet": ess_supernet(2, 3).cell,  # reads both x and h several steps back
}


def case(name: str, *, ragged: bool = False, **options: Any) -> tuple[Recurrent, Inputs]:
    """Odd widths, so that pairs of numbers have to be filled up."""
    torch.manual_seed(0)
    options = {"bidirectional": True, "input_dropout": 0.2, "hidden_dropout": 0.2, **options}
    module = Recurrent(CELLS[name], 19, 37, precision="bfloat16", **options)
    lengths = [1 + 5 * row % 7 for row in range(21)] if ragged else None
    x = torch.randn(7, 21, 19, requires_grad=True)
    return module, Inputs(x, random_state(module, 21), lengths, thetas(CELLS[name]))


def far(one: Tensor | None, other: Tensor | None) -> float:
    """The root of the mean square of the differences."""
    if one is None or other is None:
        assert one is other
        return 0.0
    return float((one.detach().double() - other.detach().double()).square().mean().sqrt())


# -- what is rounded -----------------------------------------------------------------------------


def test_a_product_and_its_gradients_are_those_of_rounded_numbers() -> None:
    x, weight = torch.randn(5, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    y = bfloat16.product(bfloat16.rounded(x), bfloat16.rounded(weight))
    gradient = torch.randn(5, 4)
    y.backward(gradient)
    rx, rw, rg = (t.detach().bfloat16().float() for t in (x, weight, gradient))
    assert torch.equal(y, F.linear(rx, rw))
    assert torch.equal(x.grad, rg @ rw)
    assert torch.equal(weight.grad, rg.t() @ rx)


def test_numbers_that_are_not_finite_stay_so() -> None:
    x = torch.tensor([torch.inf, -torch.inf, torch.nan, 3.4e38, -0.0])
    for y in (bfloat16.rounded(x), bfloat16.with_rounded_gradient(x)):
        assert torch.equal(y.isnan(), x.isnan())
        assert torch.equal(y[:2], x[:2])
    assert bfloat16.rounded(x)[3] == torch.inf  # as the nearest bfloat16 number is


def test_biases_and_their_gradients_are_not_rounded() -> None:
    cell = Cell([Node("h", "linear", ("x", "h0"))], ["h"])
    for backend in ("torch", "auto"):
        module = Recurrent(cell, 3, 4, backend=backend, precision="bfloat16")
        bias = dict(module.named_parameters())["layer0.h.bias"]
        with torch.no_grad():
            bias.copy_(torch.tensor([1.001, 2.002, 3.003, 4.004]))
        y, _ = module(torch.zeros(1, 1, 3))
        assert torch.equal(y.flatten(), bias)
        y.backward(torch.full_like(y, 1.001))
        assert torch.equal(bias.grad, torch.full((4,), 1.001))


def test_all_tensors_stay_float32() -> None:
    module, inputs = case("lstm")
    assert {t.dtype for t in run(module, inputs).values() if t is not None} == {torch.float32}


def test_gradients_of_gradients_pass_through_rounding() -> None:
    module = Recurrent(zoo["lstm"], 3, 4, precision="bfloat16", backend="torch")
    x = torch.randn(3, 2, 3, requires_grad=True)
    (first,) = torch.autograd.grad(module(x)[0].square().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), x)
    module.precision = "float32"
    (first,) = torch.autograd.grad(module(x)[0].square().sum(), x, create_graph=True)
    (exact,) = torch.autograd.grad(first.square().sum(), x)
    assert far(second, exact) < 0.05 * float(exact.abs().max())


def test_transforms_of_torch_go_through_it() -> None:
    module = Recurrent(zoo["gru"], 3, 4, precision="bfloat16", backend="torch")
    x = torch.randn(5, 3, 2, 3)

    def loss(one: Tensor) -> Tensor:
        return module(one)[0].square().sum()

    expected = []
    for one in x:
        leaf = one.clone().requires_grad_()
        loss(leaf).backward()
        expected.append(leaf.grad)
    found = torch.func.vmap(torch.func.grad(loss))(x)
    # With rows of several calls in one product the last bit, and so a rounding, may be another one.
    assert far(found, torch.stack(expected)) < 0.01 * float(found.detach().abs().max())
    tangent = torch.func.jvp(loss, (x[0],), (torch.ones_like(x[0]),))[1]
    off = abs(float(tangent.detach()) - float(expected[0].sum()))
    assert off < 0.05 * float(expected[0].abs().sum())


# -- the core against torch ----------------------------------------------------------------------


@native
@pytest.mark.parametrize("ragged", [False, True], ids=["full", "ragged"])
@pytest.mark.parametrize("name", CELLS)
def test_the_core_is_far_nearer_to_the_oracle_than_float32_is(name: str, ragged: bool) -> None:
    module, inputs = case(name, ragged=ragged)
    expected = run(on(module, "torch"), inputs)
    with core_calls() as calls, poisoned_memory():
        found = run(on(module, "native"), inputs)
    assert len(calls) == 2
    module.precision = "float32"
    single = run(on(module, "torch"), inputs)
    for kind in ("output", "state", "gradient"):
        names = [name for name in expected if name.startswith(kind)]
        ours = sum(far(found[name], expected[name]) for name in names)
        theirs = sum(far(single[name], expected[name]) for name in names)
        assert ours < 0.2 * theirs, f"{kind}: {ours} and {theirs}"
    for name, result in found.items():
        difference, size = gap(result, expected[name])
        assert difference <= 0.03 * size + 1e-6, name


@native
@pytest.mark.parametrize("name", ["lstm", "rnn"])
def test_one_step_is_as_near_as_float32_sums_are(name: str) -> None:
    """All operands of the first products are given, and nothing that they sum is rounded."""
    torch.manual_seed(0)
    module = Recurrent(zoo[name], 61, 50, precision="bfloat16")
    inputs = Inputs(torch.randn(1, 13, 61), random_state(module, 13, grad=False))
    expected, found = (run(on(module, backend), inputs) for backend in ("torch", "native"))
    for result in ("output", "state 0"):
        difference, size = gap(found[result], expected[result])
        assert difference <= 2e-6 * size


def whole_numbers(module: Recurrent, batch: int, steps: int, ragged: bool) -> Inputs:
    """Numbers of which all sums are exact in float32, but which bfloat16 does not have."""
    generator = torch.Generator().manual_seed(0)

    def drawn(most: int, *shape: int) -> Tensor:
        return torch.randint(-most, most + 1, shape, generator=generator).float()

    with torch.no_grad():
        for parameter in module.parameters():
            keep = torch.rand(parameter.shape, generator=generator) < 1.5 / parameter.shape[1]
            parameter.copy_(drawn(1, *parameter.shape) * keep)
    lengths = [1 + row % steps for row in range(batch)] if ragged else None
    x = drawn(400, steps, batch, module.input_size).requires_grad_()
    return Inputs(x, None, lengths)


def exact_results(module: Recurrent, inputs: Inputs) -> Results:
    """As `run`, with a loss whose gradients are whole numbers."""
    inputs = inputs.at_leaf()
    module.zero_grad(set_to_none=True)
    output, state = module(inputs.x, lengths=inputs.lengths)
    generator = torch.Generator().manual_seed(1)
    weights = torch.randint(-400, 401, output.shape, generator=generator).float()
    (output * weights).sum().backward()
    results: Results = {"output": output.detach(), "state": state, "gradient of x": inputs.x.grad}
    return results | {name: p.grad for name, p in module.named_parameters()}


@native
@pytest.mark.parametrize("ragged", [False, True], ids=["full", "ragged"])
@pytest.mark.parametrize("width", [3, 7, 16, 33, 70])
def test_where_sums_are_exact_the_core_has_the_bits_of_torch(width: int, ragged: bool) -> None:
    cell = Cell([Node("s", "linear", ("x", "h0"), bias=False), Node("h", "relu", ("s",))], ["h"])
    module = Recurrent(cell, width + 2, width, bidirectional=True, precision="bfloat16")
    inputs = whole_numbers(module, 11, 3, ragged)
    expected = exact_results(on(module, "torch"), inputs)
    largest = max(float(t.detach().abs().max()) for t in expected.values() if t is not None)
    assert largest < 2**24  # else sums would be rounded
    assert_identical(exact_results(on(module, "native"), inputs), expected)
    module.precision = "float32"
    assert not torch.equal(exact_results(on(module, "torch"), inputs)["output"], expected["output"])


# -- how work is shared out ----------------------------------------------------------------------


@native
@pytest.mark.parametrize("ragged", [False, True], ids=["full", "ragged"])
@pytest.mark.parametrize("name", ["lstm", "darts supernet", "ess supernet"])
def test_results_do_not_depend_on_threads(name: str, ragged: bool) -> None:
    module, inputs = case(name, ragged=ragged, backend="native")
    with shared_out(None, 1):
        alone = run(module, inputs)
        assert_identical(run(module, inputs), alone, "again")
    for threads in (2, 3):
        for by in ("rows", "columns", "directions"):
            with shared_out(by, threads):
                assert_identical(run(module, inputs), alone, f"{threads} threads, {by}")


@native
def test_results_do_not_depend_on_threads_for_large_sizes() -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo["gru"], 65, 210, backend="native", precision="bfloat16")
    inputs = Inputs(torch.randn(9, 70, 65, requires_grad=True), random_state(module, 70))
    with shared_out(None, 1):
        alone = run(module, inputs)
    for by in ("rows", "columns"):
        for threads in (2, 3):
            with shared_out(by, threads):
                assert_identical(run(module, inputs), alone, f"{threads}, {by}")


@native
def test_a_call_goes_on_where_the_last_one_ended() -> None:
    module = Recurrent(zoo["lstm"], 9, 21, precision="bfloat16", backend="native")
    x = torch.randn(8, 5, 9)
    whole, end = module(x)
    first, state = module(x[:3])
    rest, last = module(x[3:], state)
    assert torch.equal(torch.cat([first, rest]), whole)
    assert all(map(torch.equal, last, end))


@native
def test_kept_weights_are_those_of_the_precision_and_never_old() -> None:
    module = Recurrent(zoo["lstm"], 20, 75, backend="native")
    x = torch.randn(6, 2, 20)
    with torch.no_grad():
        for step in range(6):
            module.precision = bfloat16.PRECISIONS[step // 2 % 2]
            next(module.parameters())[0, 0] += 0.5
            assert torch.equal(module(x)[0], copy.deepcopy(module)(x)[0])
            assert torch.equal(module(x)[0], copy.deepcopy(module)(x)[0])


@native
def test_memory_behind_rows_does_not_matter() -> None:
    """x has no padding: what follows a row is another one, and there is nothing behind the last."""
    module = Recurrent(zoo["lstm"], 3, 5, precision="bfloat16", backend="native")
    x = torch.randn(4, 3, 3)
    spoiled = x.clone()
    spoiled[2, 1] = torch.nan
    found, expected = module(spoiled)[0], module(x)[0]
    assert torch.equal(found[:, [0, 2]], expected[:, [0, 2]])
    assert torch.equal(found[:2], expected[:2])


# -- the cross-entropy ---------------------------------------------------------------------------


def decoding(rows: int = 400, width: int = 201, words: int = 1003) -> list[Tensor]:
    """More rows than one chunk has, and odd sizes."""
    torch.manual_seed(0)
    hidden, weight, bias = torch.randn(rows, width), torch.randn(words, width), torch.randn(words)
    targets = torch.randint(words, (rows,))
    return [*(t.div_(4).requires_grad_() for t in (hidden, weight, bias)), targets]


def losses_and_gradients(given: list[Tensor], precision: str) -> Results:
    for tensor in given[:3]:
        tensor.grad = None
    with torch.no_grad():
        losses = token_losses(*given, precision)
    mean = linear_cross_entropy(*given, precision)
    mean.backward()
    names = ("hidden", "weight", "bias")
    found: Results = {name: t.grad for name, t in zip(names, given[:3], strict=True)}
    return {"losses": losses, "mean": mean.detach(), **found}


@native
def test_a_cross_entropy_is_that_of_the_formula() -> None:
    given = decoding()
    found = losses_and_gradients(given, "bfloat16")
    single = losses_and_gradients(given, "float32")
    x, weight = (t.detach().bfloat16().float() for t in given[:2])
    scores = F.linear(x, weight) + given[2].detach()
    losses = F.cross_entropy(scores, given[3], reduction="none")
    assert gap(found["losses"], losses)[0] < 1e-5
    for tensor in given[:3]:
        tensor.grad = None
    _formula(*given, "bfloat16").mean().backward()
    for name, tensor in zip(("hidden", "weight", "bias"), given[:3], strict=True):
        # A few gradients of scores are rounded the other way.
        assert far(found[name], tensor.grad) < 0.05 * far(single[name], tensor.grad) + 1e-9, name


@native
@pytest.mark.parametrize("rows", [130, 400])
def test_a_cross_entropy_does_not_depend_on_threads(rows: int) -> None:
    given = decoding(rows)
    with shared_out(None, 1):
        alone = losses_and_gradients(given, "bfloat16")
    for threads in (2, 3):
        with shared_out("rows", threads):
            assert_identical(losses_and_gradients(given, "bfloat16"), alone, f"{threads} threads")


@pytest.mark.parametrize("precision", bfloat16.PRECISIONS)
def test_a_cross_entropy_on_torch_is_the_same(
    precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = decoding(60, 21, 103)
    expected = losses_and_gradients(given, precision)
    monkeypatch.setattr(native_cross_entropy, "serves", lambda *_: False)
    found = losses_and_gradients(given, precision)
    for name in expected:
        difference, size = gap(found[name], expected[name])
        assert difference <= (1e-5 if precision == "float32" else 1e-3) * size, name


def test_a_cross_entropy_of_an_unknown_precision_is_an_error() -> None:
    for function in (linear_cross_entropy, token_losses):
        with pytest.raises(ValueError, match="precision must be one of float32, bfloat16"):
            function(*decoding(2, 3, 4), "float16")


# -- where it is not served ----------------------------------------------------------------------


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A processor that has no bfloat16."""
    if not native_backend.available():
        pytest.skip("the core is not built")
    before = native_backend._native.instruction_sets()
    native_backend._native.use_instruction_set("plain")
    monkeypatch.setattr(native_backend, "_warned", set())
    yield
    native_backend._native.use_instruction_set(before[0])


@pytest.mark.usefixtures("without")
def test_without_it_torch_serves_and_says_so_once() -> None:
    module = Recurrent(zoo["lstm"], 3, 4, precision="bfloat16")
    x = torch.randn(2, 2, 3)
    with pytest.warns(RuntimeWarning, match="no bfloat16 on this processor") as said:
        found = [module(x)[0] for _ in range(2)]
    assert len(said) == 1
    assert torch.equal(found[0], on(module, "torch")(x)[0])
    module.precision = "float32"
    on(module, "native")(x)


@pytest.mark.usefixtures("without")
def test_without_it_native_refuses() -> None:
    module = Recurrent(zoo["lstm"], 3, 4, precision="bfloat16", backend="native")
    with pytest.raises(RuntimeError, match="no bfloat16 on this processor"):
        module(torch.randn(2, 2, 3))


@pytest.mark.usefixtures("without")
def test_without_it_an_operator_runs_on_torch() -> None:
    module = Recurrent(zoo["lstm"], 3, 4, precision="bfloat16")
    call = module._call(0, 0, torch.randn(2, 2, 3), [torch.zeros(2, 4)] * 2, {}, None)
    with torch.no_grad():
        assert torch.equal(operators.run(call).output, torch_backend.run(call).output)


def test_triton_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(triton_backend, "language", lambda: object())
    module = Recurrent(zoo["lstm"], 3, 4, precision="bfloat16", backend="triton")
    with pytest.raises(RuntimeError, match="float32, not bfloat16"):
        module(torch.randn(2, 2, 3))


# -- where it is said ----------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["float16", "bf16", "", None])
def test_an_unknown_precision_is_an_error(wrong: Any) -> None:
    with pytest.raises(ValueError, match="precision must be one of float32, bfloat16, not"):
        Recurrent(zoo["lstm"], 3, 4, precision=wrong)


def test_precision_stays_with_the_module() -> None:
    module = Recurrent(enas.lower(EnasListing("tanh", ()), keys=True), 3, 4, precision="bfloat16")
    assert "precision=bfloat16" in repr(module)
    assert "precision" not in repr(Recurrent(zoo["lstm"], 3, 4))
    assert copy.deepcopy(module).precision == "bfloat16"
    other = enas.lower(EnasListing("relu", ()), keys=True)
    assert module.around(other, WeightBank()).precision == "bfloat16"
    twin = Recurrent.from_torch(torch.nn.LSTM(3, 4), precision="bfloat16")
    assert twin.precision == "bfloat16"


@native
def test_exported_programs_keep_it() -> None:
    module = Recurrent(zoo["lstm"], 3, 4, precision="bfloat16")
    x = torch.randn(5, 2, 3)
    file = io.BytesIO()
    torch.export.save(torch.export.export(module, (x,)), file)
    file.seek(0)
    assert torch.equal(torch.export.load(file).module()(x)[0], module(x)[0])


@native
def test_operators_have_the_bits_of_eager_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """What compiled graphs consist of, forward and backward."""
    monkeypatch.setitem(
        BACKENDS,
        "operator",
        lambda calls, rows: together(calls, [*map(operators.run, calls)], rows),
    )
    module, inputs = case("lstm")
    assert_identical(run(on(module, "operator"), inputs), run(on(module, "native"), inputs))


@native
def test_compiled_graphs_keep_it() -> None:
    module = Recurrent(zoo["rnn"], 3, 4, precision="bfloat16")
    x = torch.randn(3, 2, 3, requires_grad=True)

    def step(network: Any) -> Results:
        (gradient,) = torch.autograd.grad(network(x)[0].sum(), x)
        return {"gradient of x": gradient, "output": network(x)[0].detach()}

    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    assert_identical(step(compiled), step(module))
