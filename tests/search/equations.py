"""The papers' equations written out, one line each, and what the tests run them on.

Weights are taken from a `Recurrent` by their keys; everything else is here. θ is a function of
(part, target, source, operation), so that nothing depends on how a supernet arranges it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from cellwright.cell.listings.supernets import Supernet
from cellwright.engine import Recurrent

STEPS, BATCH, X, H = 4, 3, 3, 5
OPERATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": torch.zeros_like,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "identity": lambda a: a,
}
Theta = Callable[[str, int, int, str], Tensor]


def inputs(dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(STEPS, BATCH, X, generator=torch.Generator().manual_seed(5)).to(dtype)


def module(supernet: Supernet, backend: str = "torch", **options: object) -> Recurrent:
    """A module with random weights of some size, in the dtype that the backend is for."""
    torch.manual_seed(3)
    rnn = Recurrent(supernet.cell, X, H, backend=backend, init_range=0.8, **options)
    return rnn.double() if backend == "torch" else rnn


def lookup(supernet: Supernet, theta: Mapping[str, Tensor]) -> Theta:
    """θ of one edge."""
    places = {edge: (n, k) for n, edges in supernet.edges.items() for k, edge in enumerate(edges)}

    def of(part: str, target: int, source: int, op: str) -> Tensor:
        name, k = places[part, target, source, op]  # type: ignore[index]
        return theta[name][k]

    return of


class Equations:
    """A supernet's outputs, step by step."""

    def __init__(self, rnn: Recurrent, supernet: Supernet, theta: Theta, norm: str) -> None:
        weights = {n: p.detach().double() for n, p in rnn.named_parameters()}
        self.w = lambda key: weights[f"layer0.bank.{key}"].T
        self.nodes, self.m, self.kind = supernet.nodes, supernet.m, supernet.edge_kind
        self.alpha, self.theta, self.normed = supernet.alpha, theta, norm

    def outputs(self, x: Tensor) -> Tensor:
        past_x = [torch.zeros_like(x[0])] * self.m
        past_h = [x.new_zeros(x.shape[1], H)] * max(self.m, 1)
        found = []
        for now in x:
            h_hat, x_hat = past_h[0], now
            if self.m:
                h_hat, x_hat = self.f(past_h[0], past_x), self.g(now, past_h)
            h = self.highway(h_hat, x_hat) if self.kind == "highway" else self.plain(h_hat, x_hat)
            past_x, past_h = [now, *past_x][: self.m], [h, *past_h][: max(self.m, 1)]
            found.append(h)
        return torch.stack(found)

    def mixed(self, part: str, i: int, j: int, value: Tensor) -> Tensor:
        """Σ_k θ_k·o_k(value)."""
        return sum(
            (self.theta(part, i, j, op) * act(value) for op, act in OPERATIONS.items()),
            start=torch.zeros_like(value),
        )

    # -- ESS Eqs. 8 and 9 with Eqs. 4 to 6 ----------------------------------------------

    def f(self, h: Tensor, past_x: list[Tensor]) -> Tensor:
        s = [self.mixed("f", i, 0, past_x[i - 1] @ self.w(f"f_{i}_w")) for i in self.back]
        return self.side("f_alpha", h) * (sum(s) / self.m)

    def g(self, x: Tensor, past_h: list[Tensor]) -> Tensor:
        s = [self.mixed("g", i, 0, past_h[i - 1] @ self.w(f"g_{i}_w")) for i in self.back]
        return self.side("g_alpha", x) * (sum(s) / self.m)

    def side(self, part: str, value: Tensor) -> Tensor:
        if not self.alpha:
            return value
        product = value @ self.w(f"{part}_w")
        linked = [op for op in OPERATIONS if op != "none"]
        return sum(self.theta(part, 1, 0, op) * OPERATIONS[op](product) for op in linked)

    @property
    def back(self) -> range:
        return range(1, self.m + 1)

    # -- inside the cell ----------------------------------------------------------------

    def plain(self, h: Tensor, x: Tensor) -> Tensor:
        """ESS Eq. 7, then Eq. 4 (I-DARTS Eq. 2), then Eq. 5."""
        s = [self.norm(torch.tanh(h @ self.w("w_in_h") + x @ self.w("w_in_x")))]
        for i in range(1, self.nodes + 1):
            edges = [self.mixed("intra", i, j, s[j] @ self.w(f"w_{j}")) for j in range(i)]
            s.append(self.norm(sum(edges)))
        return sum(s[1:]) / self.nodes

    def highway(self, h: Tensor, x: Tensor) -> Tensor:
        """DARTS' cell: s_j + c·(o(z) − s_j) for each edge, weighted and summed."""
        c = torch.sigmoid(x @ self.w("c_0_x") + h @ self.w("c_0_h"))
        z = torch.tanh(x @ self.w("h_0_x") + h @ self.w("h_0_h"))
        s = [self.norm(h + c * (z - h))]
        for i in range(1, self.nodes + 1):
            total = torch.zeros_like(h)
            for j in range(i):
                c, z = torch.sigmoid(s[j] @ self.w(f"c_{i}")), s[j] @ self.w(f"h_{i}")
                for op, act in OPERATIONS.items():
                    if op != "none":
                        total = total + self.theta("intra", i, j, op) * (s[j] + c * (act(z) - s[j]))
            s.append(self.norm(total))
        return sum(s[1:]) / self.nodes

    def norm(self, a: Tensor) -> Tensor:
        if self.normed == "none":
            return a
        over = {"row": 1, "batch": 0}[self.normed]
        centred = a - a.mean(over, keepdim=True)
        return centred / (centred.square().mean(over, keepdim=True) + 1e-5).sqrt()
