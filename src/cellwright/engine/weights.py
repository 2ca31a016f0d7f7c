"""The parameters of one layer of a cell, under stable readable names.

A linear `s` over x and h0 has `s.weight_x`, `s.weight_h0` and `s.bias`. A weight that the
cell names with a key is `bank.<key>`, whichever linear uses it. A vector `v` is `v.bias`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from cellwright.cell import Cell, Node
from cellwright.cell.ops import Kind
from cellwright.engine.kept_weights import KeptWeights


class WeightBank(nn.Module):
    """Weights by key, shared by every cell that names the same keys (ENAS, section 2.1).

    A bank makes a weight when a cell first asks for it, so that one bank can serve all
    cells of a search space. For several layers or directions each has its own part.

    Args:
        init_range: weights start uniform in ±`init_range`; None for what the layer says that asks
            first, or else ±1/sqrt(rows).
    """

    def __init__(self, init_range: float | None = None) -> None:
        super().__init__()
        self.init_range = init_range

    def part(self, name: str) -> WeightBank:
        """The bank inside this one called `name`, made if need be."""
        if name not in self._modules:
            self.add_module(name, WeightBank(self.init_range))
        part = self._modules[name]
        assert isinstance(part, WeightBank)
        return part

    def get(
        self, key: str, rows: int, columns: int, init_range: float | None = None
    ) -> nn.Parameter:
        """The weight called `key`, which is always the same tensor."""
        known = self._parameters.get(key)
        if known is None:
            known = nn.Parameter(torch.empty(rows, columns))
            _start(known, init_range if self.init_range is None else self.init_range, rows)
            self.register_parameter(key, known)
        if known.shape != (rows, columns):
            raise ValueError(
                f"the bank's weight {key!r} is {tuple(known.shape)}, "
                f"the cell needs {(rows, columns)}"
            )
        return known


class LayerWeights(nn.Module):
    """The parameters of one layer in one direction."""

    def __init__(
        self,
        cell: Cell,
        input_size: int,
        hidden_size: int,
        init_range: float | None,
        bank: WeightBank | None,
    ) -> None:
        super().__init__()
        self.kept = KeptWeights()
        self._sizes = {"input": input_size, "hidden": hidden_size}
        self._hidden_size = hidden_size
        self._init_range = init_range
        self._places: dict[tuple[str, int], tuple[str, str]] = {}
        self._biased = [
            node.name for node in cell.nodes if node.spec.kind is Kind.LINEAR and node.bias
        ]
        if any(node.keys for node in cell.nodes):
            self.bank = bank if bank is not None else WeightBank(init_range)
        for node in cell.nodes:
            if node.spec.kind is Kind.LINEAR:
                self._add(cell, node)
        self.reset_parameters()

    def _add(self, cell: Cell, node: Node) -> None:
        rows = self._sizes[node.width]
        holder = nn.Module()
        seen: dict[str, int] = {}
        for position, name in enumerate(node.inputs):
            columns = self._sizes[cell.width(name)]
            if node.keys is not None:
                self.bank.get(node.keys[position], rows, columns, self._init_range)
                self._places[node.name, position] = ("bank", node.keys[position])
                continue
            seen[name] = seen.get(name, 0) + 1
            again = f"_{seen[name]}" if seen[name] > 1 else ""
            parameter = f"weight_{name}{again}"
            holder.register_parameter(parameter, nn.Parameter(torch.empty(rows, columns)))
            self._places[node.name, position] = (node.name, parameter)
        if node.bias:
            holder.register_parameter("bias", nn.Parameter(torch.empty(rows)))
        if node.bias or node.keys is None:
            self.add_module(node.name, holder)

    def reset_parameters(self) -> None:
        """Start afresh, uniform in ±init_range. Weights of a bank stay as they are."""
        for name, parameter in self.named_parameters():
            if not name.startswith("bank."):
                _start(parameter, self._init_range, self._hidden_size)

    def weights(self) -> dict[tuple[str, int], Tensor]:
        """Every matrix, by linear and input's position."""
        modules: dict[str, Any] = self._modules
        try:
            return {
                at: modules[module]._parameters[name] for at, (module, name) in self._places.items()
            }
        except KeyError:
            made = self._made(set(self._places.values()))
            return {at: made[place] for at, place in self._places.items()}

    def biases(self) -> dict[str, Tensor]:
        """Every bias, by linear."""
        modules: dict[str, Any] = self._modules
        try:
            return {name: modules[name]._parameters["bias"] for name in self._biased}
        except KeyError:
            made = self._made({(name, "bias") for name in self._biased})
            return {name: made[name, "bias"] for name in self._biased}

    def _made(self, places: set[tuple[str, str]]) -> dict[tuple[str, str], Tensor]:
        """Tensors by module and name, where some are not parameters but made of others.

        A parametrization makes its tensor when it is asked for; so each is asked for once. Pruning
        and the older norms make theirs in a hook before a module is called, which these never are.
        A replica (`nn.DataParallel`) has copies.
        """
        modules: dict[str, Any] = self._modules
        for name in sorted({name for name, _ in places}):
            for hook in modules[name]._forward_pre_hooks.values():
                hook(modules[name], ())
        return {(module, name): getattr(modules[module], name) for module, name in places}


def _start(parameter: nn.Parameter, init_range: float | None, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size) if init_range is None else init_range
    nn.init.uniform_(parameter, -bound, bound)
