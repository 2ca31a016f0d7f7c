"""Cells as plain loops over time steps in PyTorch, the way the papers' code writes them.

Each loop follows the structure of published code: which products are packed into one matrix,
what is stacked, what is done anew at each step. DARTS' mask on hidden values, one multiplication
before every product, is there only for those who ask for dropout, because it would slow the others
down. A loop takes its weights from a `Recurrent` of the same cell, so that both compute the same
numbers; `same_as_engine` in `contenders.py` checks that they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cellwright import Recurrent

States = tuple[Tensor, ...]

ACTIVATIONS = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "identity": lambda value: value,
}


class EngineWeights:
    """The weights of a layer of a `Recurrent`, or their gradients, by the linear's name."""

    def __init__(self, rnn: Recurrent, gradients: bool = False, layer: str = "layer0") -> None:
        self._layer: Any = getattr(rnn, layer)
        self._gradients = gradients

    def _of(self, parameter: Tensor) -> Tensor:
        found = parameter.grad if self._gradients else parameter.detach()
        assert found is not None
        return found

    def matrix(self, linear: str, position: int = 0) -> Tensor:
        """What the linear's input number `position` is multiplied by, (outputs, inputs)."""
        return self._of(self._layer.weights()[linear, position])

    def bias(self, linear: str) -> Tensor:
        """The linear's bias."""
        return self._of(self._layer.biases()[linear])


class PlainLoop(nn.Module):
    """A cell as a loop: `step` at each time step, with a tuple of states."""

    state_count = 1
    mask_hidden: Tensor | None = None

    def __init__(self, rnn: Recurrent) -> None:
        super().__init__()
        self.hidden_size = rnn.hidden_size
        for name, tensor in self.gathered(EngineWeights(rnn)).items():
            self.register_parameter(name, nn.Parameter(tensor.clone()))

    def gathered(self, weights: EngineWeights) -> dict[str, Tensor]:
        """This loop's parameters, or their gradients, made of the engine's."""
        raise NotImplementedError

    def step(self, x: Tensor, states: States, alpha: Tensor | None) -> States:
        """The new states; the first is the output. `alpha` is for supernets."""
        raise NotImplementedError

    def masked(self, value: Tensor) -> Tensor:
        """What a product reads of a state or an inner value of a finished cell."""
        return value if self.mask_hidden is None else value * self.mask_hidden

    def zero_states(self, x: Tensor) -> States:
        """The states before the first step of x."""
        return tuple(x.new_zeros(x.shape[1], self.hidden_size) for _ in range(self.state_count))

    def forward(self, x: Tensor, alpha: Tensor | None = None) -> Tensor:
        """The outputs (steps, batch, hidden) for x (steps, batch, input).

        `alpha` has a row for each edge of a supernet; a softmax makes it that edge's θ.
        """
        states = self.zero_states(x)
        outputs = []
        for now in x.unbind(0):
            states = self.step(now, states, alpha)
            outputs.append(states[0])
        return torch.stack(outputs)


class LstmLoop(PlainLoop):
    """The LSTM's formula, one product over x and one over h at each step."""

    state_count = 2

    def gathered(self, weights: EngineWeights) -> dict[str, Tensor]:
        return _gates(weights, "ifgo")

    def step(self, x: Tensor, states: States, alpha: Tensor | None) -> States:
        h, c = states
        gates = F.linear(x, self.w_x, self.b_x) + F.linear(self.masked(h), self.w_h, self.b_h)
        i, f, g, o = gates.chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class GruLoop(PlainLoop):
    """The GRU's formula, one product over x and one over h at each step."""

    def gathered(self, weights: EngineWeights) -> dict[str, Tensor]:
        return _gates(weights, "rzn")

    def step(self, x: Tensor, states: States, alpha: Tensor | None) -> States:
        (h,) = states
        r_x, z_x, n_x = F.linear(x, self.w_x, self.b_x).chunk(3, dim=-1)
        r_h, z_h, n_h = F.linear(self.masked(h), self.w_h, self.b_h).chunk(3, dim=-1)
        r, z = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
        n = (n_x + r * n_h).tanh()
        return ((1 - z) * n + z * h,)


def _gates(weights: EngineWeights, gates: str) -> dict[str, Tensor]:
    return {
        "w_x": torch.cat([weights.matrix(f"{gate}_x") for gate in gates]),
        "w_h": torch.cat([weights.matrix(f"{gate}_h") for gate in gates]),
        "b_x": torch.cat([weights.bias(f"{gate}_x") for gate in gates]),
        "b_h": torch.cat([weights.bias(f"{gate}_h") for gate in gates]),
    }


class Highways(PlainLoop):
    """What DARTS' finished cell and its supernet share: node 0."""

    def first_weight(self, weights: EngineWeights) -> Tensor:
        """(input + hidden, 2·hidden), gate and candidate side by side."""
        both = [
            torch.cat([weights.matrix(name, 0), weights.matrix(name, 1)], dim=1)
            for name in ("c_0", "h_0")
        ]
        return torch.cat(both).t().contiguous()

    def first_node(self, x: Tensor, h: Tensor, activation: str = "tanh") -> Tensor:
        c, z = torch.cat([x, self.masked(h)], dim=-1).mm(self.w_0).split(self.hidden_size, dim=-1)
        return h + c.sigmoid() * (ACTIVATIONS[activation](z) - h)


class DartsLoop(Highways):
    """A finished DARTS or ENAS cell as DARTS' `DARTSCell` runs it: one product per node.

    Args:
        rnn: whose weights to take.
        first: the operation of node 0.
        nodes: for each later node its operation and its predecessor.
        concat: the nodes that the output averages.
    """

    def __init__(
        self, rnn: Recurrent, first: str, nodes: Sequence[tuple[str, int]], concat: Sequence[int]
    ) -> None:
        self.first, self.nodes, self.concat = first, tuple(nodes), tuple(concat)
        super().__init__(rnn)

    def gathered(self, weights: EngineWeights) -> dict[str, Tensor]:
        found = {"w_0": self.first_weight(weights)}
        for number in range(1, len(self.nodes) + 1):
            found[f"w_{number}"] = gate_and_candidate(weights, f"{number}")
        return found

    def step(self, x: Tensor, states: States, alpha: Tensor | None) -> States:
        values = [self.first_node(x, states[0], self.first)]
        for number, (op, source) in enumerate(self.nodes, 1):
            s = values[source]
            product = self.masked(s).mm(self._parameters[f"w_{number}"])
            c, z = product.split(self.hidden_size, dim=-1)
            values.append(s + c.sigmoid() * (ACTIVATIONS[op](z) - s))
        ends = torch.stack([values[number] for number in self.concat], dim=-1)
        return (ends.mean(dim=-1),)


def gate_and_candidate(weights: EngineWeights, tag: str) -> Tensor:
    """A node's matrix (hidden, 2·hidden)."""
    return torch.cat([weights.matrix(f"c_{tag}"), weights.matrix(f"h_{tag}")]).t().contiguous()


class RecipeLoop(PlainLoop):
    """A NAS-Bench-NLP recipe, interpreted node by node as the release does.

    Each linear has a matrix for each of its inputs and adds up their products.
    """

    def __init__(self, rnn: Recurrent, recipe: Mapping[str, Mapping[str, Any]]) -> None:
        self.recipe = dict(recipe)
        self.state_count = sum(name.startswith("h_new_") for name in recipe)
        super().__init__(rnn)

    def gathered(self, weights: EngineWeights) -> dict[str, Tensor]:
        found = {}
        for name, node in self.recipe.items():
            if node["op"] == "linear":
                found[f"{name}_b"] = weights.bias(name)
                for position in range(len(node["input"])):
                    found[f"{name}_w{position}"] = weights.matrix(name, position)
        return found

    def step(self, x: Tensor, states: States, alpha: Tensor | None) -> States:
        known = {"x": x, **{f"h_prev_{i}": state for i, state in enumerate(states)}}
        for name, node in self.recipe.items():
            inputs = [known[source] for source in node["input"]]
            if node["op"] == "linear":
                read = zip(node["input"], inputs, strict=True)
                inputs = [v if source == "x" else self.masked(v) for source, v in read]
            known[name] = self._value(name, node["op"], inputs)
        return tuple(known[f"h_new_{i}"] for i in range(self.state_count))

    def _value(self, name: str, op: str, inputs: list[Tensor]) -> Tensor:
        match op:
            case "linear":
                total = F.linear(inputs[0], self._parameters[f"{name}_w0"])
                for position, value in enumerate(inputs[1:], 1):
                    total = total + F.linear(value, self._parameters[f"{name}_w{position}"])
                return total + self._parameters[f"{name}_b"]
            case "blend":
                return inputs[0] * inputs[1] + (1 - inputs[0]) * inputs[2]
            case "elementwise_prod":
                return inputs[0] * inputs[1] if len(inputs) == 2 else torch.stack(inputs).prod(0)
            case "elementwise_sum":
                return inputs[0] + inputs[1] if len(inputs) == 2 else torch.stack(inputs).sum(0)
            case "activation_tanh":
                return torch.tanh(inputs[0])
            case "activation_sigm":
                return torch.sigmoid(inputs[0])
            case "activation_leaky_relu":
                return F.leaky_relu(inputs[0])
        raise ValueError(f"a recipe has no operation {op!r}")
