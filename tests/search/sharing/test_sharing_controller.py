"""The controller: a policy over ENAS cells that learns from rewards."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
import torch
from sharing_cases import PlainPolicy

from cellwright.cell.errors import CellError
from cellwright.cell.listings import EnasListing
from cellwright.search.sharing.controller import Controller, moved_baseline, policy_loss

LISTING = EnasListing("relu", ((0, "identity"), (1, "tanh"), (0, "sigmoid")))
TWO = ("tanh", "relu")


def controller(nodes: int = 4, seed: int = 0, **options: object) -> Controller:
    torch.manual_seed(seed)
    return Controller(nodes, **{"units": 12, "init_range": 1.0, **options})


def every(nodes: int, operations: tuple[str, ...]) -> list[EnasListing]:
    """All listings there are."""
    choices = [list(itertools.product(range(max(1, i)), operations)) for i in range(nodes)]
    return [EnasListing(first[1], tuple(later)) for first, *later in itertools.product(*choices)]


def test_its_settings_are_those_of_the_paper():
    one = Controller(12)
    assert len(one.start) == 100
    assert (one.temperature, one.tanh_constant) == (5.0, 2.5)
    weights = torch.cat([parameter.flatten() for parameter in one.parameters()])
    assert 0.099 < weights.abs().max() <= 0.1


def test_probability_and_entropy_are_those_of_plain_arithmetic():
    one = controller()
    read = one.read(LISTING)
    log_probability, entropy = PlainPolicy(one)(LISTING)
    assert torch.allclose(read.log_probability, log_probability, atol=1e-5)
    assert torch.allclose(read.entropy, entropy, atol=1e-5)
    assert one.probability(LISTING) == pytest.approx(
        math.exp(float(log_probability.detach())), rel=1e-5
    )
    assert read.listing == LISTING


def test_probabilities_sum_to_one():
    one = controller(3, operations=TWO)
    assert sum(map(one.probability, every(3, TWO))) == pytest.approx(1, abs=1e-5)


def test_samples_come_as_often_as_their_probabilities_say():
    one = controller(2, operations=TWO, init_range=3.0)
    many = 400
    with torch.no_grad():
        counts = Counter(one.sample().listing for _ in range(many))
    chances = {listing: one.probability(listing) for listing in every(2, TWO)}
    assert max(chances.values()) > 1.5 * min(chances.values())
    chi2 = sum((counts[x] - many * p) ** 2 / (many * p) for x, p in chances.items())
    assert chi2 < 16.3  # 3 degrees of freedom: p = 0.001


def test_a_sample_knows_its_own_probability():
    one = controller()
    drawn = one.sample()
    again = one.read(drawn.listing)
    assert torch.equal(drawn.log_probability, again.log_probability)
    assert torch.equal(drawn.entropy, again.entropy)


def test_no_choice_is_ever_certain():
    one = controller(1, operations=TWO, init_range=1e4)
    most = 1 / (1 + math.exp(-5.0))
    assert max(map(one.probability, every(1, TWO))) <= most + 1e-6


def test_greedy_takes_the_likeliest_choice_each_time():
    one = controller(2, operations=TWO)
    first = {op: sum(one.probability(x) for x in every(2, TWO) if x.first == op) for op in TWO}
    best = max(first, key=first.__getitem__)
    rest = [x for x in every(2, TWO) if x.first == best]
    assert one.greedy() == max(rest, key=one.probability)


@pytest.mark.parametrize(
    ("listing", "says"),
    [
        (EnasListing("tanh"), "cells of 4 nodes, and this one has 1"),
        (EnasListing("tanh", ((0, "sigmoid"),) * 3), "has no 'sigmoid', only tanh, relu"),
    ],
)
def test_a_cell_of_another_space(listing: EnasListing, says: str):
    with pytest.raises(CellError, match=says):
        controller(operations=TWO).probability(listing)


# -- learning ------------------------------------------------------------------------------------


def test_the_expected_gradient_is_that_of_the_expected_reward():
    """Whatever the baseline is. REINFORCE, Williams 1992."""
    one = controller(2, operations=TWO)
    rewards = {listing: float(i * i) for i, listing in enumerate(every(2, TWO))}
    parameters = list(one.parameters())

    def expected() -> torch.Tensor:
        logs = [one.read(listing).log_probability for listing in rewards]
        return sum(log.exp() * r for log, r in zip(logs, rewards.values(), strict=True))

    wanted = torch.autograd.grad(expected(), parameters, allow_unused=True)
    total = [torch.zeros_like(parameter) for parameter in parameters]
    for listing, reward in rewards.items():
        loss = policy_loss([one.read(listing)], [reward], baseline=2.5)
        found = torch.autograd.grad(loss, parameters, allow_unused=True)
        for into, gradient in zip(total, found, strict=True):
            into.sub_(0 if gradient is None else one.probability(listing) * gradient)
    for mine, its in zip(total, wanted, strict=True):
        assert torch.allclose(mine, torch.zeros_like(mine) if its is None else its, atol=1e-5)
    # and autograd's gradient is the slope: one weight of the LSTM, moved to both sides
    at, step = (2, 3, 4), 0.05
    sides = []
    for sign in (1, -1):
        with torch.no_grad():
            one.gates[at] += sign * step
            sides.append(float(expected()))
            one.gates[at] -= sign * step
    slope = (sides[0] - sides[1]) / (2 * step)
    gates = [name for name, _ in one.named_parameters()].index("gates")
    assert float(wanted[gates][at]) == pytest.approx(slope, rel=0.05)


def test_the_loss_is_a_mean_over_samples():
    one = controller()
    samples = [one.read(LISTING), one.sample()]
    by_hand = -((3 - 2) * samples[0].log_probability + (1 - 2) * samples[1].log_probability) / 2
    assert torch.allclose(policy_loss(samples, [3.0, 1.0], 2.0), by_hand)


def test_the_baseline_starts_with_the_first_reward():
    first = moved_baseline(None, 3.0, 0.9)
    assert first == 3.0
    assert moved_baseline(first, 13.0, 0.9) == pytest.approx(4.0)


PLANTED = (1, "relu")


def learned(seed: int) -> Controller:
    """Rewards for the choices of node 2, a little for another, and noise."""
    torch.manual_seed(seed)
    one = Controller(3, units=16)
    optimizer = torch.optim.Adam(one.parameters(), 2e-2, fused=True)
    baseline = None
    for _ in range(130):
        sample = one.sample()
        found, little = sample.listing.later[1], sample.listing.first == "tanh"
        reward = (found == PLANTED) + 0.1 * little + 0.1 * float(torch.randn(()))
        loss = policy_loss([sample], [reward], reward if baseline is None else baseline)
        baseline = moved_baseline(baseline, reward, 0.9)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
    return one


def share_of_planted(one: Controller) -> float:
    """The probability of node 2's planted choices, after the likeliest ones before."""
    likely = one.greedy()
    pairs = list(itertools.product(range(2), one.operations))
    chances = [one.probability(EnasListing(likely.first, (likely.later[0], x))) for x in pairs]
    return chances[pairs.index(PLANTED)] / sum(chances)


def test_the_planted_choice_is_learned():
    """One predecessor and one operation, of eight pairs, in 9 of 10 seeds."""
    shares = [share_of_planted(learned(seed)) for seed in range(10)]
    assert sum(share > 0.9 for share in shares) >= 9
