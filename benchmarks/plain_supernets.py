"""Supernets as plain loops over time steps, in the manner of DARTS' search code."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from plain import ACTIVATIONS, EngineWeights, Highways, PlainLoop, States, gate_and_candidate
from torch import Tensor

from cellwright import Recurrent
from cellwright.cell.ops import NORM_EPSILON


class DartsSupernetLoop(Highways):
    """DARTS' search cell: each node's product over the stack of all earlier nodes."""

    def __init__(self, rnn: Recurrent, nodes: int, operations: Sequence[str]) -> None:
        self.nodes, self.operations = nodes, tuple(operations)
        super().__init__(rnn)

    def gathered(self, weights: EngineWeights) -> dict[str, Tensor]:
        found = {"w_0": self.first_weight(weights)}
        for number in range(1, self.nodes + 1):
            found[f"w_{number}"] = gate_and_candidate(weights, f"{number}_0")
        return found

    def step(self, x: Tensor, states: States, alpha: Tensor | None) -> States:
        assert alpha is not None
        size = self.hidden_size
        s_0 = _norm(self.first_node(x, states[0]))
        weights = F.softmax(alpha, dim=-1)
        values = s_0.unsqueeze(0)
        begin = 0
        for number in range(1, self.nodes + 1):
            product = self.masked(values).view(-1, size).mm(self._parameters[f"w_{number}"])
            c, z = product.view(number, -1, 2 * size).split(size, dim=-1)
            c = c.sigmoid()
            s = torch.zeros_like(s_0)
            for k, op in enumerate(self.operations):
                if op == "none":
                    continue
                edges = values + c * (ACTIVATIONS[op](z) - values)
                s = s + _weighted(weights[begin : begin + number, k], edges)
            values = torch.cat([values, _norm(s).unsqueeze(0)])
            begin += number
        return (values[-self.nodes :].mean(dim=0),)


class EssSupernetLoop(PlainLoop):
    """The ESS search cell (Eqs. 4 to 9) in the manner of DARTS' search cell.

    The gates read the last m inputs and states as stacks. A node's matrix is its own as a source
    (Eq. 4), so its product is taken once; its operations are applied for each target.
    """

    def __init__(self, rnn: Recurrent, nodes: int, m: int, operations: Sequence[str]) -> None:
        self.nodes, self.m, self.operations = nodes, m, tuple(operations)
        super().__init__(rnn)

    def gathered(self, weights: EngineWeights) -> dict[str, Tensor]:
        back = range(1, self.m + 1)
        found = {
            "w_f": torch.stack([weights.matrix(f"f_{i}_w").t() for i in back]),
            "w_g": torch.stack([weights.matrix(f"g_{i}_w").t() for i in back]),
            "w_in": torch.cat([weights.matrix("w_in", 0), weights.matrix("w_in", 1)], 1).t(),
        }
        for source in range(self.nodes):
            found[f"w_{source}"] = weights.matrix(f"w_{source}").t()
        return {name: tensor.contiguous() for name, tensor in found.items()}

    def forward(self, x: Tensor, alpha: Tensor | None = None) -> Tensor:
        assert alpha is not None
        xs = [torch.zeros_like(x[0])] * self.m
        hs = [x.new_zeros(x.shape[1], self.hidden_size)] * self.m
        outputs = []
        for now in x.unbind(0):
            h = self._step(now, torch.stack(xs), torch.stack(hs), alpha)
            xs, hs = [now, *xs[:-1]], [h, *hs[:-1]]
            outputs.append(h)
        return torch.stack(outputs)

    def _step(self, x: Tensor, xs: Tensor, hs: Tensor, alpha: Tensor) -> Tensor:
        m = self.m
        weights = F.softmax(alpha, dim=-1)
        f_gate = self._mixed(weights[:m], xs.bmm(self.w_f)) / m
        g_gate = self._mixed(weights[m : 2 * m], hs.bmm(self.w_g)) / m
        s = torch.cat([x * g_gate, hs[0] * f_gate], dim=-1).mm(self.w_in).tanh()
        begin = 2 * m
        values, products = [s], []
        for number in range(1, self.nodes + 1):
            products.append(values[-1].mm(self._parameters[f"w_{number - 1}"]))
            values.append(self._mixed(weights[begin : begin + number], torch.stack(products)))
            begin += number
        return torch.stack(values[1:], dim=-1).mean(dim=-1)

    def _mixed(self, weights: Tensor, products: Tensor) -> Tensor:
        """Σ_j Σ_k θ_jk·o_k(product j)."""
        total = torch.zeros_like(products[0])
        for k, op in enumerate(self.operations):
            if op != "none":
                total = total + _weighted(weights[:, k], ACTIVATIONS[op](products))
        return total


def _norm(value: Tensor) -> Tensor:
    return F.batch_norm(value, None, None, training=True, eps=NORM_EPSILON)


def _weighted(weights: Tensor, edges: Tensor) -> Tensor:
    return torch.sum(weights.unsqueeze(-1).unsqueeze(-1) * edges, dim=0)
