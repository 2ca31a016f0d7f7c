"""Supernets compute what the papers' equations say: outputs, and gradients of θ and of w."""

from __future__ import annotations

import math

import pytest
import torch
from equations import Equations, H, inputs, lookup, module
from torch import Tensor

from cellwright.cell import CellError
from cellwright.cell.listings.supernets import Supernet, darts_supernet, ess_supernet
from cellwright.search.gradient.architecture import Architecture

CASES = {
    f"{name} {nodes}": (make, nodes, softmax)
    for nodes in (2, 3)
    for name, make, softmax in (
        ("DARTS", lambda n: (darts_supernet(n), "batch"), "pair"),
        ("DARTS by rows", lambda n: (darts_supernet(n, norm="row"), "row"), "pair"),
        ("DARTS without norm", lambda n: (darts_supernet(n, norm="none"), "none"), "pair"),
        ("I-DARTS", lambda n: (darts_supernet(n, edges="plain", norm="none"), "none"), "node"),
        ("I-DARTS of highways", lambda n: (darts_supernet(n, norm="none"), "none"), "node"),
        ("ESS", lambda n: (ess_supernet(n, 2), "none"), "pair"),
        ("ESS both sides", lambda n: (ess_supernet(n, 3, alpha=True), "none"), "pair"),
        (
            "ESS of highways",
            lambda n: (ess_supernet(n, 2, edges="highway", norm="batch"), "batch"),
            "pair",
        ),
    )
}


def variables(supernet: Supernet, softmax: str) -> Architecture:
    """Far from uniform, so that no two edges can be mistaken for each other."""
    return Architecture(supernet, softmax, generator=torch.Generator().manual_seed(1), start=1.0)


def softmax_by_hand(
    supernet: Supernet, w: Architecture, softmax: str
) -> dict[tuple[str, int, int, str], Tensor]:
    """θ of each edge by I-DARTS Eq. 3 or Eq. 4: exp of its w, over the sum of its softmax."""
    edges = [edge for found in supernet.edges.values() for edge in found]
    raw = {}
    for edge in edges:
        row = w.group(edge.group)[edge.node][edge.source]
        ops = [e.op for e in edges if e[:3] == edge[:3]]
        raw[edge] = row[ops.index(edge.op)].exp()
    shared = 3 if softmax == "pair" else 2  # (part, target, source) or (part, target)
    return {
        tuple(edge): raw[edge] / sum(raw[e] for e in edges if e[:shared] == edge[:shared])
        for edge in edges
    }


def results(outputs: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    """Outputs, and the gradients of a fixed projection of them."""
    project = torch.randn(outputs.shape, generator=torch.Generator().manual_seed(9))
    loss = (outputs * project.to(outputs)).sum()
    return [outputs, *torch.autograd.grad(loss, leaves)]


@pytest.mark.parametrize("case", CASES)
def test_outputs_and_gradients_are_the_equations(case: str) -> None:
    make, nodes, softmax = CASES[case]
    supernet, norm = make(nodes)
    rnn = module(supernet)
    w = variables(supernet, softmax).double()
    theta = {name: t.detach().requires_grad_() for name, t in w.theta().items()}
    of = lookup(supernet, theta)
    found = results(rnn(inputs(), theta=theta)[0], list(theta.values()))
    expected = results(Equations(rnn, supernet, of, norm).outputs(inputs()), list(theta.values()))
    assert found[0].shape == (4, 3, H)
    for name, one, other in zip(["outputs", *theta], found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12, msg=name)


@pytest.mark.parametrize("case", CASES)
def test_gradients_reach_the_variables_through_the_papers_softmax(case: str) -> None:
    make, nodes, softmax = CASES[case]
    supernet, norm = make(nodes)
    rnn = module(supernet)
    w = variables(supernet, softmax).double()
    by_hand = softmax_by_hand(supernet, w, softmax)
    found = results(rnn(inputs(), theta=w.theta())[0], list(w.parameters()))
    direct = Equations(rnn, supernet, lambda *edge: by_hand[edge], norm)
    expected = results(direct.outputs(inputs()), list(w.parameters()))
    names = ["outputs", *(name for name, _ in w.named_parameters())]
    for name, one, other in zip(names, found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12, msg=name)


@pytest.mark.parametrize("case", CASES)
def test_the_native_core_computes_the_equations(case: str) -> None:
    make, nodes, softmax = CASES[case]
    supernet, norm = make(nodes)
    rnn = module(supernet, "native")
    w = variables(supernet, softmax)
    found = results(rnn(inputs(torch.float32), theta=w.theta())[0], list(w.parameters()))
    theta = {name: t.double() for name, t in w.theta().items()}
    direct = Equations(rnn, supernet, lookup(supernet, theta), norm)
    expected = results(direct.outputs(inputs()), list(w.parameters()))
    for one, other in zip(found, expected, strict=True):
        # Norms make rounding errors large: float32 on torch is as far away.
        near = 2e-5 if norm == "none" else 3e-4 * max(1.0, other.abs().max().item())
        torch.testing.assert_close(one, other.float(), rtol=1e-3, atol=near)


def test_operations_are_a_setting() -> None:
    supernet = darts_supernet(2, ("relu", "identity"), norm="none")
    rnn = module(supernet)
    weights = torch.tensor([0.7, 0.3]).double()
    known = {"relu": weights[0], "identity": weights[1]}
    theta = lambda _, i, j, op: known.get(op, torch.zeros(()).double())  # noqa: E731
    direct = Equations(rnn, supernet, theta, norm="none")
    found, _ = rnn(inputs(), theta=dict.fromkeys(supernet.edges, weights))
    torch.testing.assert_close(found, direct.outputs(inputs()), rtol=1e-10, atol=1e-12)


def test_both_sides_are_searched_without_drop() -> None:
    supernet = ess_supernet(1, 1, alpha=True)
    assert [edge.op for edge in supernet.edges["theta_g_alpha"]] == [
        "tanh", "relu", "sigmoid", "identity",
    ]  # fmt: skip


def test_the_number_of_edges_is_that_of_the_papers() -> None:
    """8 nodes have 36 pairs, 3 input vectors make 3 nodes for each gate; 5 operations each."""
    supernet = ess_supernet()
    assert [len(edges) for edges in supernet.edges.values()] == [5] * (36 + 3 + 3)
    assert supernet.groups == ("intra", "inter")
    assert darts_supernet().groups == ("intra",)


def test_the_start_of_a_search_is_all_but_uniform() -> None:
    theta = Architecture(ess_supernet(3, 2), generator=torch.Generator().manual_seed(0)).theta()
    for weights in theta.values():
        assert (weights - 0.2).abs().max() < 0.2 * 5e-3
        assert weights.max() > 0.2
        assert math.isclose(weights.sum().item(), 1, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("says", "make"),
    {
        "unknown operation 'tan'": lambda: darts_supernet(2, ("none", "tan")),
        "stands twice": lambda: darts_supernet(2, ("tanh", "tanh")),
        "at least one operation": lambda: darts_supernet(2, ()),
        "other than none": lambda: ess_supernet(2, 2, ("none",), alpha=True),
        "'highway' or 'plain'": lambda: darts_supernet(2, edges="straight"),
        "1 to 500 nodes.*not 0": lambda: darts_supernet(0),
        "m, how many steps.*not 65": lambda: ess_supernet(2, 65),
    }.items(),
)
def test_bad_settings(says: str, make: object) -> None:
    with pytest.raises(CellError, match=says):
        make()  # type: ignore[operator]
