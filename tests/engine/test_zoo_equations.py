"""Published cells of the zoo against their papers' equations, written down independently."""

from __future__ import annotations

import pytest
import torch
from support import Inputs, Results, as_tuple, assert_same, on, random_state, run
from torch import Tensor
from zoo_equations import STEPS, Step, Weights, slstm_unstabilised

from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent


def unrolled(step: Step, module: Recurrent, x: Tensor, state: tuple[Tensor, ...]) -> Results:
    """What `run` gives for a module, from a paper's equations."""
    module.zero_grad(set_to_none=True)
    x = x.detach().clone().requires_grad_()
    leaves = tuple(tensor.detach().clone().requires_grad_() for tensor in state)
    states, outputs = tuple(tensor[0] for tensor in leaves), []
    for now in x:
        output, *states = step(Weights(module), now, *states)
        outputs.append(output)
    watched = [torch.stack(outputs), *(tensor.unsqueeze(0) for tensor in states)]
    generator = torch.Generator().manual_seed(1)
    sum((t * torch.randn(t.shape, generator=generator)).sum() for t in watched).backward()
    results: Results = {"output": watched[0].detach()}
    results |= {f"state {i}": tensor.detach() for i, tensor in enumerate(watched[1:])}
    results["gradient of x"] = x.grad
    results |= {f"gradient of state {i}": tensor.grad for i, tensor in enumerate(leaves)}
    for name, parameter in module.named_parameters():
        results[f"gradient of {name}"] = parameter.grad
    return results


def case(name: str) -> tuple[Recurrent, Tensor, tuple[Tensor, ...]]:
    """A layer, an input and a state; where the cell allows it, x is not as wide as h."""
    torch.manual_seed(0)
    cell = zoo[name]
    module = Recurrent(cell, 17 if cell.needs_equal_widths else 6, 17, init_range=0.5)
    state = as_tuple(random_state(module, 5))
    if name == "slstm":  # its normaliser is a sum of positive numbers
        with torch.no_grad():
            state[2].abs_().add_(0.1)
    return module, torch.randn(7, 5, module.input_size, requires_grad=True), state


@pytest.mark.parametrize("backend", ["torch", "native"])
@pytest.mark.parametrize("name", STEPS)
def test_a_cell_is_its_papers_equations(name: str, backend: str) -> None:
    module, x, state = case(name)
    expected = unrolled(STEPS[name], module, x, state)
    given = state if len(state) > 1 else state[0]
    assert_same(run(on(module, backend), Inputs(x, given)), expected, name)


def test_every_cell_that_is_not_of_a_search_space_has_its_equations() -> None:
    named = {"rnn", "lstm", "gru", "enas", "darts-v1", "darts-v2"}
    families = ("nbnlp-", "fenas-", "sentpair-")
    others = [name for name in zoo if name not in named and not name.startswith(families)]
    assert others == list(STEPS)


@pytest.mark.parametrize("backend", ["torch", "native"])
def test_slstm_begins_at_zero_and_its_stabiliser_changes_nothing(backend: str) -> None:
    module, x, _ = case("slstm")
    zeros = as_tuple(module.zero_state(5))
    expected = unrolled(slstm_unstabilised, module, x, zeros)["output"]
    found = on(module, backend)(x)[0]
    assert expected is not None
    assert torch.isfinite(found).all()
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["torch", "native"])
def test_slstm_is_finite_where_its_gates_overflow(backend: str) -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo["slstm"], 3, 5, backend=backend)
    with torch.no_grad():
        for gate in ("i_log", "f_log"):
            module.get_parameter(f"layer0.{gate}.bias").fill_(90.0)  # e^90 is no float
    x = torch.randn(20, 2, 3, requires_grad=True)
    output, _ = module(x)
    output.sum().backward()
    assert torch.isfinite(output).all()
    assert all(torch.isfinite(p.grad).all() for p in module.parameters() if p.grad is not None)


def test_parameters_are_what_the_papers_count() -> None:
    x, h = 7, 11
    gate = h * x + h * h + h
    assert zoo["cifg-lstm"].parameters(x, h) == 3 * gate
    assert zoo["peephole-lstm"].parameters(x, h) == 4 * gate + 3 * h
    assert zoo["mogrifier-lstm"].parameters(x, h) == 4 * gate + 5 * h * x
    assert zoo["slstm"].parameters(x, h) == 4 * gate
    assert zoo["janet"].parameters(x, h) == zoo["mgu"].parameters(x, h) == 2 * gate
    assert zoo["ugrnn"].parameters(x, h) == 2 * gate
    assert zoo["nas-cell"].parameters(x, h) == 8 * (gate - h)
    for depth in (2, 10):
        later = 2 * (depth - 1) * (h * h + h)
        assert zoo[f"rhn-{depth}"].parameters(x, h) == 2 * gate + later
    assert zoo["mut3"].parameters(x, h) == 3 * gate
    assert zoo["mut2"].parameters(h, h) == 5 * h * h + 3 * h
    assert zoo["mut1"].parameters(h, h) == 4 * h * h + 3 * h
    assert zoo["mingru"].parameters(x, h) == 2 * (h * x + h)
    assert zoo["minlstm"].parameters(x, h) == 3 * (h * x + h)
    assert zoo["sru"].parameters(h, h) == 3 * h * h + 4 * h
