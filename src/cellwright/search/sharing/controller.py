"""ENAS' controller: an LSTM that lists cells, one choice after the other (Pham et al. 2018).

For each node the LSTM makes two steps. After the first it chooses the predecessor, by attention
over what the first steps of the earlier nodes left (node 0 has no choice); that is the second
step's input. After the second it chooses the operation, whose embedding is the next node's input.

Logits l become b·tanh(l / T), with a temperature T and a bound b: no choice is ever certain.

Products are sums of elementwise products: a library's would be free to add in another order in
another run. One listing is made at a time, whose tensors are too small to be worth two threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from cellwright.cell.errors import CellError
from cellwright.cell.listings import EnasListing
from cellwright.cell.listings.enas import OPERATIONS

Choose = Callable[[Tensor], int]
"""Makes a choice, from the logarithms of the probabilities of all there are."""


class Sampled(NamedTuple):
    """A listing, ln of its probability, and the sum of the entropies of the choices on its way."""

    listing: EnasListing
    log_probability: Tensor
    entropy: Tensor


class Controller(nn.Module):
    """A policy over all ENAS cells of a number of nodes.

    >>> controller = Controller(nodes=3)
    >>> listing = EnasListing("tanh", ((0, "relu"), (1, "relu")))
    >>> controller.probability(listing) < 1
    True

    Args:
        nodes: of each cell, node 0 included.
        operations: what a node may do.
        units: width of the LSTM and of all embeddings.
        init_range: all weights start uniform in ± this.
        temperature: T.
        tanh_constant: b.
    """

    def __init__(
        self,
        nodes: int,
        operations: Sequence[str] = OPERATIONS,
        *,
        units: int = 100,
        init_range: float = 0.1,
        temperature: float = 5.0,
        tanh_constant: float = 2.5,
    ) -> None:
        super().__init__()
        self.nodes, self.operations = nodes, tuple(operations)
        self.temperature, self.tanh_constant = temperature, tanh_constant
        many = len(self.operations)
        self.start = nn.Parameter(torch.empty(units))
        self.embeddings = nn.Parameter(torch.empty(many, units))
        self.gates = nn.Parameter(torch.empty(4, units, 2 * units))  # input, forget, cell, output
        self.gate_biases = nn.Parameter(torch.empty(4, units))
        self.of_operations = nn.Parameter(torch.empty(many, units))
        self.of_anchor = nn.Parameter(torch.empty(units, units))
        self.of_query = nn.Parameter(torch.empty(units, units))
        self.of_both = nn.Parameter(torch.empty(units))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -init_range, init_range)

    # -- listings --------------------------------------------------------------------------

    def sample(self) -> Sampled:
        """Draw a listing, from torch's generator."""
        return self._walk(lambda logs: int(torch.multinomial(logs.detach().exp(), 1)))

    @torch.no_grad()
    def greedy(self) -> EnasListing:
        """The listing in which each choice is the likeliest after those before it."""
        return self._walk(lambda logs: int(logs.argmax())).listing

    def read(self, listing: EnasListing) -> Sampled:
        """A given listing, as if it had been sampled."""
        if len(listing.later) + 1 != self.nodes:
            raise CellError(
                f"the controller lists cells of {self.nodes} nodes, "
                f"and this one has {len(listing.later) + 1}"
            )
        wanted = [self._number(listing.first)]
        for predecessor, op in listing.later:
            wanted += [predecessor, self._number(op)]
        rest = iter(wanted)
        return self._walk(lambda _: next(rest))

    @torch.no_grad()
    def probability(self, listing: EnasListing) -> float:
        """How likely `sample` is to give this listing."""
        return float(self.read(listing).log_probability.exp())

    def _number(self, op: str) -> int:
        if op not in self.operations:
            raise CellError(f"the controller has no {op!r}, only {', '.join(self.operations)}")
        return self.operations.index(op)

    # -- the policy ------------------------------------------------------------------------

    def _walk(self, choose: Choose) -> Sampled:
        """All choices of a listing."""
        logs: list[Tensor] = []
        entropies: list[Tensor] = []

        def chosen(logits: Tensor) -> int:
            bounded = self.tanh_constant * torch.tanh(logits / self.temperature)
            every = torch.log_softmax(bounded, 0)
            choice = choose(every)
            logs.append(every[choice])
            entropies.append(-(every.exp() * every).sum())
            return choice

        anchors: list[Tensor] = []  # what the first step of each node left,
        keys: list[Tensor] = []  # and as attention sees it
        nodes: list[tuple[int, str]] = []
        value: Tensor = self.start
        state = (torch.zeros_like(self.start), torch.zeros_like(self.start))
        for number in range(self.nodes):
            state = self._step(value, state)
            predecessor, value = 0, self.start
            if number:
                query = _product(self.of_query, state[0])
                predecessor = chosen(_product(torch.tanh(torch.stack(keys) + query), self.of_both))
                value = anchors[predecessor]
            anchors.append(state[0])
            keys.append(_product(self.of_anchor, state[0]))
            state = self._step(value, state)
            choice = chosen(_product(self.of_operations, state[0]))
            nodes.append((predecessor, self.operations[choice]))
            value = self.embeddings[choice]
        (_, first), *later = nodes
        listing = EnasListing(first, tuple(later))
        return Sampled(listing, torch.stack(logs).sum(), torch.stack(entropies).sum())

    def _step(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """One step of the LSTM."""
        h, c = state
        both = torch.cat([x, h])
        i, f, g, o = (
            _product(gate, both) + bias
            for gate, bias in zip(self.gates, self.gate_biases, strict=True)
        )
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


def _product(rows: Tensor, x: Tensor) -> Tensor:
    return (rows * x).sum(-1)


# -- learning ------------------------------------------------------------------------------------


def policy_loss(samples: Sequence[Sampled], rewards: Sequence[float], baseline: float) -> Tensor:
    """−1/n·Σ (R − b)·ln p: its gradient is REINFORCE's estimate (Williams 1992) of −∇E[R].

    Args:
        samples: what the controller drew.
        rewards: R of each.
        baseline: b, which must not depend on the samples.
    """
    terms = [
        (baseline - reward) * sample.log_probability
        for sample, reward in zip(samples, rewards, strict=True)
    ]
    return torch.stack(terms).mean()


def moved_baseline(baseline: float | None, reward: float, decay: float) -> float:
    """The moving average of rewards after one more; the first one is where it starts."""
    return reward if baseline is None else decay * baseline + (1 - decay) * reward
