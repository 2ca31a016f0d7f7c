"""One-hot θ, fixed groups, and derived cells all compute the same with the same weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from equations import H, X, inputs, module
from torch import Tensor

from cellwright.cell import CellError
from cellwright.cell.listings import DartsListing, EssListing
from cellwright.cell.listings.supernets import Supernet, darts_supernet, ess_supernet
from cellwright.engine import Recurrent, WeightBank
from cellwright.search.gradient.architecture import Architecture
from cellwright.search.gradient.choices import fix, one_hot
from cellwright.search.gradient.derive import Derived, copy_weights, derive


class Kind(NamedTuple):
    """A kind of search: its supernet, its softmax, and how its cells are derived."""

    supernet: Supernet
    softmax: str
    options: dict[str, object]


KINDS = {
    "DARTS": Kind(darts_supernet(4, norm="none"), "pair", {}),
    "I-DARTS": Kind(darts_supernet(4, edges="plain", norm="none"), "node", {}),
    "I-DARTS, 2 edges": Kind(darts_supernet(3, edges="plain", norm="none"), "node", {"n": 2}),
    "I-DARTS, all edges": Kind(darts_supernet(2, norm="none"), "node", {"n": None}),
    "ESS": Kind(ess_supernet(3, 3), "pair", {"drop_unlinks": True}),
    "ESS without drop": Kind(ess_supernet(3, 2), "pair", {}),
    "ESS, both sides": Kind(ess_supernet(2, 3, alpha=True), "pair", {"drop_unlinks": True}),
    "ESS of highways": Kind(ess_supernet(3, 2, edges="highway"), "pair", {"n": 2}),
}
BACKENDS = {"torch": (torch.float64, 1e-12), "native": (torch.float32, 1e-5)}
SEEDS = range(6)


def drawn(kind: Kind, seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return Architecture(kind.supernet, kind.softmax, generator=generator, start=1.0).theta()


def derived(kind: Kind, seed: int) -> Derived:
    return derive(kind.supernet, drawn(kind, seed), **kind.options)  # type: ignore[arg-type]


def run(
    rnn: Recurrent, dtype: torch.dtype, theta: dict[str, Tensor] | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Outputs, and the gradients of all weights that have one."""
    rnn.zero_grad()
    output, _ = rnn(inputs(dtype), theta=theta)
    if output.requires_grad:
        output.square().sum().backward()
    found = {name: p.grad for name, p in rnn.named_parameters() if p.grad is not None}
    return output.detach(), {name: grad.clone() for name, grad in found.items()}


def assert_same(
    one: tuple[Tensor, dict[str, Tensor]], other: tuple[Tensor, dict[str, Tensor]], tolerance: float
) -> None:
    """Equal outputs and gradients, relative to the largest number of each tensor.

    A gradient that only `one` has must be zero.
    """
    assert other[1].keys() <= one[1].keys()
    for name, value in {"output": one[0], **one[1]}.items():
        expected = {"output": other[0], **other[1]}.get(name, torch.zeros_like(value))
        size = max(1.0, expected.abs().max().item())
        assert (value - expected).abs().max().item() <= tolerance * size, name


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", KINDS)
def test_one_hot_is_the_derived_cell(name: str, backend: str) -> None:
    kind = KINDS[name]
    dtype, tolerance = BACKENDS[backend]
    rnn = module(kind.supernet, backend)
    for seed in SEEDS:
        found = derived(kind, seed)
        single = Recurrent(found.cell, X, H, backend=backend).to(dtype)
        copy_weights(rnn, single)
        chosen = run(rnn, dtype, one_hot(kind.supernet, found.listing))
        assert_same(chosen, run(single, dtype), tolerance)


@pytest.mark.parametrize("name", ["DARTS", "I-DARTS", "ESS"])
def test_one_edge_per_node_is_the_same_bit_for_bit(name: str) -> None:
    """Nothing is added to the chosen edge but zeros, so there is nothing to round."""
    kind = KINDS[name]
    rnn = module(kind.supernet)
    for seed in SEEDS:
        found = derived(kind, seed)
        single = Recurrent(found.cell, X, H, backend="torch").double()
        copy_weights(rnn, single)
        with torch.no_grad():
            chosen, _ = rnn(inputs(), theta=one_hot(kind.supernet, found.listing))
            assert torch.equal(chosen, single(inputs())[0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("group", ["intra", "inter"])
@pytest.mark.parametrize("norm", ["batch", "row", "none"])
@pytest.mark.parametrize("edges", ["plain", "highway"])
def test_a_fixed_group_is_one_hot(edges: str, norm: str, group: str, backend: str) -> None:
    """ESS Figure 4: one group fixed, the other searched, on the same weights."""
    kind = Kind(ess_supernet(3, 2, edges=edges, norm=norm, alpha=True), "pair", {})
    dtype, tolerance = BACKENDS[backend]
    if norm != "none" and backend == "native":  # norms make rounding errors large: torch has 1e-4
        tolerance = 2e-4
    bank = WeightBank()
    rnn = module(kind.supernet, backend, bank=bank)
    for seed in SEEDS[:3]:
        listing = derived(kind, seed).listing
        fixed = fix(kind.supernet, group, listing)
        part = Recurrent(fixed.cell, X, H, backend=backend, bank=bank)
        assert {id(p) for p in part.parameters()} <= {id(p) for p in rnn.parameters()}
        theta = {n: t.detach().to(dtype).requires_grad_() for n, t in drawn(kind, seed + 9).items()}
        chosen = one_hot(kind.supernet, listing)
        searched = {n: theta[n] for n in fixed.edges}
        results = []
        for net, weights in ((rnn, {**chosen, **searched}), (part, searched)):
            output, gradients = run(net, dtype, weights)
            gradients |= {n: t.grad.clone() for n, t in searched.items()}
            for tensor in searched.values():
                tensor.grad = None
            results.append((output, gradients))
        assert_same(results[0], results[1], tolerance)


def test_fixed_parts_are_smaller() -> None:
    """What is not chosen costs nothing: no products, and no operations on their results."""
    supernet = ess_supernet(8, 3, edges="highway")
    kind = Kind(supernet, "pair", {})
    fixed = fix(supernet, "intra", derived(kind, 0).listing)
    assert fixed.groups == ("inter",)
    assert fixed.cell.multiply_adds(300, 300) < supernet.cell.multiply_adds(300, 300) / 2.5
    assert len(fixed.cell.nodes) < len(supernet.cell.nodes) / 4


def test_weights_keep_their_names_through_all_phases() -> None:
    kind = KINDS["ESS, both sides"]
    listing = derived(kind, 0).listing
    names = set(module(kind.supernet).state_dict())
    assert {"layer0.bank.w_in_x", "layer0.bank.w_1", "layer0.bank.f_3_w"} <= names
    for cell in (
        fix(kind.supernet, "intra", listing).cell,
        fix(kind.supernet, "inter", listing).cell,
        derive(kind.supernet, one_hot(kind.supernet, listing)).cell,
        darts_supernet(2, edges="plain", norm="none").cell,
    ):
        assert set(Recurrent(cell, X, H).state_dict()) <= names


def test_no_gates_fix_the_usual_recurrence() -> None:
    """ĥ = h(t−1) and x̂ = x(t): the DARTS supernet with the same weights."""
    supernet, plain = ess_supernet(2, 2), darts_supernet(2, edges="plain", norm="none")
    without = fix(supernet, "inter", DartsListing.of([("tanh", 0), ("tanh", 0)], edges="plain"))
    assert without.cell == plain.cell.simplified()
    rnn = module(plain)
    other = Recurrent(without.cell, X, H, backend="torch").double()
    copy_weights(rnn, other)
    theta = {name: value.double() for name, value in Architecture(plain).theta().items()}
    torch.testing.assert_close(rnn(inputs(), theta=theta)[0], other(inputs(), theta=theta)[0])


def test_one_missing_gate_is_bypassed_alone() -> None:
    supernet = ess_supernet(1, 1)
    intra = DartsListing.of([("tanh", 0)], edges="plain")
    fixed = fix(supernet, "inter", EssListing(intra, g_gate=("sigmoid",)))
    assert fixed.cell.inputs == ("x", "h0")
    assert [node.op for node in fixed.cell.nodes].count("mul") == 1


INTRA = DartsListing.of([("tanh", 0), ("relu", 1)], edges="plain")
MISFITS: dict[str, Callable[[], object]] = {
    "has highway edges, the supernet plain": lambda: one_hot(
        darts_supernet(1, edges="plain"), DartsListing.of([("tanh", 0)])
    ),
    "must have 3 nodes": lambda: one_hot(darts_supernet(3, edges="plain"), INTRA),
    "average them all": lambda: one_hot(
        darts_supernet(2, edges="plain"), DartsListing.of(INTRA.nodes, [2], "plain")
    ),
    "no edge relu from 1 to s_2": lambda: one_hot(
        darts_supernet(2, ("none", "tanh"), edges="plain"), INTRA
    ),
    "look back 1 steps, not 2": lambda: fix(
        ess_supernet(2, 2), "inter", EssListing(INTRA, ("tanh",), ("tanh",))
    ),
    "has no f_alpha, the supernet has an": lambda: one_hot(
        ess_supernet(2, 1, alpha=True), EssListing(INTRA, ("tanh",), ("tanh",))
    ),
    "has f_alpha, the supernet has no": lambda: one_hot(
        ess_supernet(2, 1), EssListing(INTRA, ("tanh",), ("tanh",), "relu", "relu")
    ),
    "no f gate": lambda: one_hot(ess_supernet(2, 1), INTRA),
}


@pytest.mark.parametrize("says", MISFITS)
def test_listings_that_do_not_fit(says: str) -> None:
    with pytest.raises(CellError, match=says):
        MISFITS[says]()
