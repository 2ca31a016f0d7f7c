"""Derivation picks what a hand calculation picks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from cellwright.base.errors import UserError
from cellwright.cell import formats
from cellwright.cell.listings import DartsListing, EssListing, darts, ess
from cellwright.cell.listings.supernets import Supernet, darts_supernet, ess_supernet
from cellwright.engine import Recurrent
from cellwright.search.gradient.architecture import Architecture
from cellwright.search.gradient.choices import fix, one_hot
from cellwright.search.gradient.derive import copy_weights, derive

OPS = ("none", "tanh", "relu")


def theta(**rows: list[float]) -> dict[str, Tensor]:
    """`_2_1=[…]` is θ of the operations from node 1 to node 2."""
    return {f"theta{name}": torch.tensor(row) for name, row in rows.items()}


def nodes(supernet: Supernet, weights: dict[str, Tensor], **options: object) -> tuple:
    listing = derive(supernet, weights, **options).listing  # type: ignore[arg-type]
    return (listing if isinstance(listing, DartsListing) else listing.intra).nodes


def test_darts_takes_the_predecessor_whose_best_operation_weighs_most() -> None:
    weights = theta(
        _1_0=[0.2, 0.3, 0.5],
        _2_0=[0.1, 0.2, 0.7], _2_1=[0.05, 0.75, 0.2],
        _3_0=[0.2, 0.4, 0.4], _3_1=[0.3, 0.45, 0.25], _3_2=[0.1, 0.41, 0.49],
    )  # fmt: skip
    found = derive(darts_supernet(3, OPS), weights)
    assert found.listing == DartsListing.of([("relu", 0), ("tanh", 1), ("relu", 2)])


def test_darts_never_takes_none() -> None:
    weights = theta(_1_0=[0.98, 0.005, 0.015], _2_0=[0.1, 0.45, 0.45], _2_1=[0.5, 0.46, 0.04])
    found = nodes(darts_supernet(2, OPS), weights)
    assert found == ((("relu", 0),), (("tanh", 1),))


def test_ties_go_to_the_earlier_predecessor_then_to_the_earlier_operation() -> None:
    equal = theta(_1_0=[0.2, 0.4, 0.4], _2_0=[0.2, 0.4, 0.4], _2_1=[0.2, 0.4, 0.4])
    assert nodes(darts_supernet(2, OPS), equal) == ((("tanh", 0),), (("tanh", 0),))
    turned = nodes(darts_supernet(2, ("relu", "none", "tanh")), {
        name: row[[2, 0, 1]] for name, row in equal.items()
    })  # fmt: skip
    assert turned == ((("relu", 0),), (("relu", 0),))
    later = theta(_1_0=[0.2, 0.4, 0.4], _2_0=[0.3, 0.3, 0.4], _2_1=[0.2, 0.4, 0.4])
    assert nodes(darts_supernet(2, OPS), later)[1] == (("relu", 0),)
    # For the last of three places, too:
    assert nodes(darts_supernet(2, OPS), equal, n=3)[1] == (("tanh", 0), ("relu", 0), ("tanh", 1))


def test_i_darts_takes_the_n_heaviest_edges_of_each_node() -> None:
    """Softmax over all edges: two edges between nodes 0 and 2, nodes 1 and 2 unlinked."""
    supernet = darts_supernet(2, OPS, edges="plain", norm="none")
    weights = theta(_1_0=[0.5, 0.1, 0.4], _2_0=[0.05, 0.2, 0.35], _2_1=[0.25, 0.05, 0.1])
    assert nodes(supernet, weights) == ((("relu", 0),), (("relu", 0),))
    assert nodes(supernet, weights, n=2) == (
        (("tanh", 0), ("relu", 0)),
        (("tanh", 0), ("relu", 0)),
    )
    assert nodes(supernet, weights, n=3)[1] == (("tanh", 0), ("relu", 0), ("relu", 1))
    every = (("tanh", 0), ("relu", 0), ("tanh", 1), ("relu", 1))
    assert nodes(supernet, weights, n=None)[1] == every
    assert nodes(supernet, weights, n=10**9)[1] == every


def test_drop_unlinks_two_nodes_where_it_is_heaviest() -> None:
    supernet = ess_supernet(3, 1, OPS)
    weights = theta(
        _f_1=[0.5, 0.2, 0.3], _g_1=[0.4, 0.2, 0.4],
        _1_0=[0.4, 0.35, 0.25],
        _2_0=[0.5, 0.1, 0.4], _2_1=[0.3, 0.3, 0.4],
        _3_0=[0.46, 0.09, 0.45], _3_1=[0.2, 0.42, 0.38], _3_2=[0.8, 0.1, 0.1],
    )  # fmt: skip
    intra = [("none", 0), ("relu", 1), ("tanh", 1)]
    found = derive(supernet, weights, drop_unlinks=True)
    assert found.listing == EssListing(DartsListing.of(intra, edges="plain"), ("drop",), ("relu",))
    # The same weights where drop never wins:
    kept = [("tanh", 0), ("relu", 0), ("relu", 0)]
    found = derive(supernet, weights)
    assert found.listing == EssListing(DartsListing.of(kept, edges="plain"), ("relu",), ("relu",))
    # Several edges: none come from an unlinked predecessor.
    both = derive(supernet, weights, n=2, drop_unlinks=True).listing
    assert both.intra.nodes[2] == (("tanh", 1), ("relu", 1))


def test_gates_take_one_operation_for_each_step_back() -> None:
    supernet = ess_supernet(1, 3, OPS, alpha=True)
    weights = theta(
        _f_1=[0.2, 0.5, 0.3], _f_2=[0.6, 0.3, 0.1], _f_3=[0.1, 0.1, 0.8],
        _g_1=[0.9, 0.05, 0.05], _g_2=[0.8, 0.1, 0.1], _g_3=[0.4, 0.4, 0.2],
        _f_alpha=[0.1, 0.9], _g_alpha=[0.5, 0.5],
        _1_0=[0.0, 0.0, 1.0],
    )  # fmt: skip
    found = derive(supernet, weights, drop_unlinks=True)
    assert found.listing == EssListing(
        DartsListing.of([("relu", 0)], edges="plain"),
        ("tanh", "drop", "relu"),
        ("drop", "drop", "tanh"),
        "relu",
        "tanh",
    )


def test_a_fixed_group_is_taken_as_fixed() -> None:
    supernet = ess_supernet(2, 2)
    fixed = EssListing(
        DartsListing.of([("relu", 0), ("sigmoid", 1)], edges="plain"),
        ("tanh", "drop"),
        ("sigmoid", "identity"),
    )
    weights = Architecture(supernet, generator=torch.Generator().manual_seed(0), start=1.0).theta()
    whole = derive(supernet, weights).listing
    intra_fixed = derive(fix(supernet, "intra", fixed), weights).listing
    inter_fixed = derive(fix(supernet, "inter", fixed), weights).listing
    assert intra_fixed == EssListing(fixed.intra, whole.f_gate, whole.g_gate)
    assert inter_fixed == EssListing(whole.intra, fixed.f_gate, fixed.g_gate)
    both = fix(fix(supernet, "inter", fixed), "intra", fixed)
    assert derive(both, {}).listing == fixed
    without = derive(fix(supernet, "inter", fixed.intra), weights).listing
    assert without == EssListing(whole.intra)


SUPERNETS = {
    "DARTS": darts_supernet(4),
    "I-DARTS": darts_supernet(3, edges="plain", norm="none"),
    "ESS": ess_supernet(3, 3),
    "ESS of highways": ess_supernet(2, 2, edges="highway", norm="batch", alpha=True),
}


@pytest.mark.parametrize("n", [1, 2, None])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("kind", SUPERNETS)
def test_derived_cells_are_cells_of_their_family(kind: str, drop: bool, n: int | None) -> None:
    supernet = SUPERNETS[kind]
    generator = torch.Generator().manual_seed(0)
    for _ in range(3):
        weights = Architecture(supernet, "pair", generator=generator, start=1.0).theta()
        found = derive(supernet, weights, n=n, drop_unlinks=drop, name="found")
        assert not found.cell.is_supernet
        assert found.cell.name == "found"
        if isinstance(found.listing, DartsListing):
            assert darts.lift(found.cell) == found.listing
            (read,) = formats.read(formats.write(found.cell, "darts"))
            assert darts.lift(read) == found.listing
            assert read == found.cell == darts.lower(found.listing)
        else:
            assert ess.lift(found.cell) == found.listing
            assert found.cell == ess.lower(found.listing)
        assert type(found.cell).from_json(found.cell.to_json()) == found.cell
        output, _ = Recurrent(found.cell, 3, 4, num_layers=2)(torch.randn(5, 2, 3))
        assert output.isfinite().all()
        assert output.shape == (5, 2, 4)


def test_a_cell_that_dropped_everything_still_runs() -> None:
    supernet = ess_supernet(2, 2)
    weights = {name: torch.tensor([0.6, 0.1, 0.1, 0.1, 0.1]) for name in supernet.edges}
    found = derive(supernet, weights, drop_unlinks=True)
    assert found.listing.intra.nodes == ((("none", 0),),) * 2
    assert found.listing.f_gate == found.listing.g_gate == ("drop", "drop")
    output, _ = Recurrent(found.cell, 3, 4)(torch.randn(5, 2, 3))
    assert torch.equal(output, torch.zeros(5, 2, 4))


def test_a_connected_cell_reads_its_input_and_its_state() -> None:
    supernet = ess_supernet(2, 2, OPS)
    weights = theta(
        _f_1=[0.6, 0.1, 0.3], _f_2=[0.5, 0.4, 0.1], _g_1=[0.8, 0.1, 0.1], _g_2=[0.4, 0.35, 0.25],
        _1_0=[0.5, 0.2, 0.3], _2_0=[0.5, 0.4, 0.1], _2_1=[0.1, 0.8, 0.1],
    )  # fmt: skip
    loose = derive(supernet, weights, drop_unlinks=True).listing
    assert loose.intra.nodes == ((("none", 0),), (("tanh", 1),))
    assert loose.f_gate == loose.g_gate == ("drop", "drop")
    # Node 1 drops its only predecessor; of its other edges the last is heavier.
    found = derive(supernet, weights, drop_unlinks=True, connected=True).listing
    assert found.intra.nodes == (((OPS[2], 0),), (("tanh", 1),))
    assert (found.f_gate, found.g_gate) == (("drop", "tanh"), ("drop", "tanh"))


def test_a_connected_cell_keeps_one_edge_where_all_are_dropped_whatever_n_is() -> None:
    supernet = darts_supernet(2, OPS)
    weights = theta(_1_0=[0.6, 0.3, 0.1], _2_0=[0.5, 0.2, 0.3], _2_1=[0.5, 0.35, 0.15])
    found = derive(supernet, weights, n=2, drop_unlinks=True, connected=True).listing
    assert found.nodes == ((("tanh", 0),), (("tanh", 1),))


def test_a_cell_that_is_connected_anyway_stays() -> None:
    supernet = ess_supernet(3, 2)
    generator = torch.Generator().manual_seed(0)
    same = 0
    for _ in range(20):
        weights = Architecture(supernet, "pair", generator=generator, start=1.0).theta()
        loose = derive(supernet, weights, drop_unlinks=True).listing
        tight = derive(supernet, weights, drop_unlinks=True, connected=True).listing
        gates = {"drop"} not in (set(loose.f_gate), set(loose.g_gate))
        if (("none", 0),) not in loose.intra.nodes and gates:
            assert tight == loose
            same += 1
        assert derive(supernet, weights, connected=True) == derive(supernet, weights)
    assert same > 3


def test_a_supernet_of_none_alone_links_nothing() -> None:
    supernet = darts_supernet(1, ("none",))
    assert nodes(supernet, theta(_1_0=[1.0])) == ((("none", 0),),)
    assert nodes(supernet, theta(_1_0=[1.0]), connected=True) == ((("none", 0),),)


def test_errors_say_what_is_wrong() -> None:
    supernet = darts_supernet(1, OPS)
    with pytest.raises(UserError, match="at least 1, not 0"):
        derive(supernet, theta(_1_0=[0.1, 0.2, 0.7]), n=0)
    with pytest.raises(UserError, match="no weights 'theta_1_0'"):
        derive(supernet, {})
    with pytest.raises(UserError, match="has 2 numbers, not 3"):
        derive(supernet, theta(_1_0=[0.5, 0.5]))
    with pytest.raises(UserError, match="diverged"):
        derive(supernet, theta(_1_0=[0.5, float("nan"), 0.1]))


def test_weights_of_another_cell_or_size_are_refused() -> None:
    supernet = darts_supernet(2, OPS)
    cell = derive(supernet, one_hot(supernet, DartsListing.of([("relu", 0), ("relu", 1)]))).cell
    source = Recurrent(supernet.cell, 3, 4)
    with pytest.raises(UserError, match="same sizes"):
        copy_weights(source, Recurrent(cell, 3, 5))
    with pytest.raises(UserError, match="no weight 'layer1"):
        copy_weights(source, Recurrent(cell, 3, 4, num_layers=2))
