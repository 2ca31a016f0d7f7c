"""One step of the weights and one of the controller, and what children share."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from sharing_cases import PlainPolicy, bank_weight, plain_loss, sharing_search, sharing_settings
from texts import NO_DROPOUT, small_model, small_task

import cellwright as cw
from cellwright.base.seeds import seed_for, seeded
from cellwright.cell.listings import DartsListing, EnasListing
from cellwright.cell.listings.enas import lower
from cellwright.search.sharing.children import Children, child_cell
from cellwright.search.sharing.enas import SharingSearch
from cellwright.search.sharing.listings import uniform_listing

ONE = EnasListing("tanh", ((0, "relu"), (0, "identity"), (2, "sigmoid")))
OTHER = EnasListing("relu", ((0, "tanh"), (1, "tanh"), (2, "tanh")))
PLAIN = {"model": NO_DROPOUT, "bptt_spread": 0.0}


def children(nodes: int = 4, **model: Any) -> Children:
    space = sharing_settings(nodes=nodes).space()
    return Children(small_task(), small_model(**(model or NO_DROPOUT)), space, "auto", norm=False)


# -- what is shared ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["one-layer", "awd"])
def test_children_have_the_same_tensors(kind: str):
    shared = children(kind=kind)
    one, other = (dict(shared.child(x).named_parameters()) for x in (ONE, OTHER))
    assert one.keys() == other.keys() == shared.weights().keys()
    assert all(one[name] is other[name] is shared.weights()[name] for name in one)


def test_each_node_and_predecessor_has_a_pair_of_matrices():
    """12 nodes: 66 pairs, 4 matrices of node 0, the embeddings and the decoder's bias."""
    assert len(children(12).weights()) == 2 * 66 + 4 + 2
    assert len(children(1).weights()) == 4 + 2
    assert len(children(12, kind="awd", layers=2).weights()) == 2 * (2 * 66 + 4) + 2


def test_children_use_the_weights_of_their_own_pairs():
    shared = children()
    uses = []
    for listing in (ONE, OTHER):
        layer = shared.child(listing).recurrent.layer0
        uses.append({at: weight for (at, _), weight in layer.weights().items() if at != "c_0"})
    # Node 3 reads node 2 in both, node 2 reads node 0 in one and node 1 in the other.
    for gate in ("c", "h"):
        assert uses[0][f"{gate}_3"] is uses[1][f"{gate}_3"]
        assert uses[0][f"{gate}_2"] is not uses[1][f"{gate}_2"]
        assert uses[0][f"{gate}_2"] is bank_weight(shared.weights(), f"{gate}_2_0")
        assert uses[1][f"{gate}_2"] is bank_weight(shared.weights(), f"{gate}_2_1")


def test_the_first_weights_do_not_depend_on_what_is_sampled():
    one, other = sharing_search(), sharing_search()
    other.children.child(OTHER)
    for name, weight in one.weights().items():
        assert torch.equal(weight, other.weights()[name])


@pytest.mark.parametrize("listing", [ONE, OTHER])
@pytest.mark.parametrize("backend", ["native", "torch"])
def test_a_child_computes_what_a_network_of_its_own_does(listing: EnasListing, backend: str):
    """The same cell without names for its weights, with these copied into it."""
    shared = children()
    alone = cw.Recurrent(lower(listing), 6, 6, backend=backend)
    with torch.no_grad():
        for name, parameter in alone.named_parameters():
            _, linear, weight = name.split(".")  # such as layer0, c_2, weight_s_0
            source = weight.removeprefix("weight_").removeprefix("s_").replace("h0", "h")
            parameter.copy_(bank_weight(shared.weights(), f"{linear}_{source}"))
        x = torch.randn(5, 3, 6)
        mine, state = shared.child(listing).recurrent(x)
        its, its_state = alone(x)
    assert torch.allclose(mine, its, atol=1e-6)
    assert torch.allclose(state, its_state, atol=1e-6)


def test_a_normed_child_is_the_same_cell_with_a_norm_behind_it():
    plain, normed = (child_cell(ONE, norm=norm) for norm in (False, True))
    assert normed.nodes[:-1] == plain.nodes
    assert (normed.nodes[-1].op, normed.nodes[-1].inputs) == ("norm", plain.states)
    assert normed.states == (normed.nodes[-1].name,)


def test_random_cells_are_uniform():
    """Chi-square over all listings of a small space."""
    space = sharing_settings(nodes=3, operations=["tanh", "relu"]).space()
    rng = np.random.default_rng(0)
    counts: dict[EnasListing, int] = {}
    for _ in range(1600):
        listing = uniform_listing(space, rng)
        counts[listing] = counts.get(listing, 0) + 1
    assert len(counts) == space.size() == 16
    assert sum((n - 100) ** 2 / 100 for n in counts.values()) < 37.7  # 15 degrees: p = 0.001


# -- DARTS' cells --------------------------------------------------------------------------------


DARTS = {"kind": "random-sharing", "cells": "darts"}


def darts_children(nodes: int) -> Children:
    space = sharing_settings(nodes=nodes, **DARTS).space()
    return Children(small_task(), small_model(**NO_DROPOUT), space, "auto", norm=False)


def test_in_darts_cells_each_node_has_a_pair_of_matrices_whatever_it_reads():
    """Li and Talwalkar's code: genotypes in the network of DARTS. 8 nodes: 8 pairs."""
    assert len(darts_children(8).weights()) == 2 * 8 + 4 + 2
    shared = darts_children(3)
    edges = [[("tanh", 0), ("relu", 0), ("tanh", 1)], [("relu", 0), ("sigmoid", 1), ("tanh", 2)]]
    one, other = (shared.child(DartsListing.of(each)).recurrent.layer0.weights() for each in edges)
    assert {at for at, _ in one} == {at for at, _ in other}
    assert all(one[at] is other[at] for at in one)
    assert one["c_3", 0] is bank_weight(shared.weights(), "c_3")


def test_random_darts_cells_are_uniform():
    """Chi-square over all listings of a small space."""
    space = sharing_settings(nodes=3, operations=["tanh", "relu"], **DARTS).space()
    rng = np.random.default_rng(0)
    counts = Counter(uniform_listing(space, rng) for _ in range(4800))
    assert len(counts) == space.size() == 48
    assert sum((n - 100) ** 2 / 100 for n in counts.values()) < 82.7  # 47 degrees: p = 0.001


def test_the_controller_s_adam_is_as_the_settings_say():
    search = sharing_search(controller_beta1=0.0, controller_epsilon=1e-3)
    chosen = search._policy_optimizer.defaults
    assert (chosen["betas"], chosen["eps"]) == ((0.0, 0.999), 1e-3)


# -- one step of each ----------------------------------------------------------------------------


def child_of(search: SharingSearch, epoch: int, step: int) -> EnasListing:
    assert search.controller is not None
    with torch.no_grad(), seeded(search.seed, "child", epoch, step):
        return search.controller.sample().listing


@pytest.mark.parametrize(
    ("clip", "norm"), [(None, "row"), (0.05, "row"), (0.05, "none"), (None, "products")]
)
def test_a_step_of_the_weights_by_hand(clip: float | None, norm: str):
    """SGD on what the sampled cell uses; all other weights and the controller stay."""
    search = sharing_search(**PLAIN, clip=clip, norm=norm, weight_decay=0.01)
    assert search.controller is not None
    policy = {name: tensor.clone() for name, tensor in search.controller.state_dict().items()}
    before = search.weights()
    listing = child_of(search, 0, 0)
    leaves = {name: weight.clone().requires_grad_() for name, weight in before.items()}
    tokens, targets, _ = search.task.ordered("train", 4)[0]
    loss = plain_loss(listing, leaves, tokens, targets, norm)
    slopes = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    gradients = dict(zip(leaves, slopes, strict=True))
    length = math.sqrt(sum(float(g.square().sum()) for g in slopes if g is not None))
    share = 1.0 if clip is None else min(1.0, clip / length)
    assert (share < 1) == (clip is not None)

    step = next(search.run())
    assert (step.part, step.step, step.size) == ("weights", 1, 8 * 4)
    assert step.loss == pytest.approx(float(loss.detach()), abs=1e-5)
    after = search.weights()
    moved = set()
    for name, weight in before.items():
        gradient = gradients[name]
        if gradient is None:
            assert torch.equal(after[name], weight), name
        else:
            moved.add(name.rpartition(".")[2])
            wanted = weight - 0.5 * (share * gradient + 0.01 * weight)
            assert torch.allclose(after[name], wanted, atol=1e-6), name
    pairs = {f"{n}_{source}" for n, (source, _) in enumerate(listing.later, 1)} | {"0_x", "0_h"}
    used = {f"{gate}_{pair}" for gate in "ch" for pair in pairs}
    assert moved == used | {"weight", "decoder_bias"}
    assert all(torch.equal(t, policy[name]) for name, t in search.controller.state_dict().items())


def test_steps_of_the_controller_by_hand():
    """The first has only its own mean for a baseline, the second that of the first."""
    search = sharing_search(**PLAIN, epochs=1, entropy_weight=0.01, baseline_decay=0.75)
    assert search.controller is not None
    run = search.run()
    assert [next(run).part for _ in range(3)] == ["weights"] * 3  # 25 rows: 8, 8 and 8 words
    weights = search.weights()
    oracle = PlainPolicy(search.controller)
    trained = [p for name, p in oracle.named_parameters() if name != "lstm.bias_hh"]
    adam = torch.optim.Adam(trained, 1e-2)
    baseline = None
    for number in range(2):
        with torch.no_grad(), seeded(search.seed, "samples", 0, number):
            listings = [search.controller.sample().listing for _ in range(2)]
        generator = np.random.default_rng(seed_for(search.seed, "minibatch", 0, number))
        # 17 rows of 4 words: two minibatches of 8 rows and their targets.
        tokens, targets, _ = search.task.ordered("valid", 4)[int(generator.integers(2))]
        rewards, plain = [], []
        for listing in listings:
            with torch.no_grad():
                nats = float(plain_loss(listing, weights, tokens, targets, "row"))
            _, entropy = oracle(listing)
            plain.append(80 / math.exp(nats))
            rewards.append(plain[-1] + 0.01 * float(entropy.detach()))
        mean = sum(rewards) / 2
        b = mean if baseline is None else baseline
        loss = sum(-(r - b) * oracle(x)[0] for r, x in zip(rewards, listings, strict=True)) / 2
        adam.zero_grad()
        loss.backward()
        adam.step()
        baseline = mean if baseline is None else 0.75 * baseline + 0.25 * mean

        step = next(run)
        assert step.part == "controller"
        assert step.reward == pytest.approx(sum(plain) / 2, rel=1e-4)
        wanted = oracle.as_controller(dict(oracle.named_parameters()))
        for name, tensor in search.controller.named_parameters():
            assert torch.allclose(tensor, wanted[name], atol=2e-4), (number, name)
        assert search.snapshot().state["baseline"] == pytest.approx(baseline, rel=1e-4)
    for name, weight in search.weights().items():
        assert torch.equal(weight, weights[name])
