"""What PyTorch's tools are tried with: three networks, and what eager mode gives for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from support import as_tuple, thetas
from torch import Tensor, nn

from cellwright.cell import Cell
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent

WIDTH, HIDDEN = 4, 6


class Network(nn.Module):
    """A `Recurrent` that gives its tensors in one tuple; θ are parameters."""

    def __init__(self, cell: Cell, **options: Any) -> None:
        super().__init__()
        self.recurrent = Recurrent(cell, WIDTH, HIDDEN, **options)
        self.names = list(thetas(cell))
        for name, theta in thetas(cell).items():
            self.register_parameter(name, nn.Parameter(theta.detach()))

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, ...]:
        theta = {name: getattr(self, name) for name in self.names}
        output, state = self.recurrent(x, lengths=lengths, theta=theta)
        return (output, *as_tuple(state))

    @property
    def layers(self) -> int:
        """How often the core is at work in one call."""
        return self.recurrent.num_layers * (2 if self.recurrent.bidirectional else 1)


NETWORKS: dict[str, Callable[[], Network]] = {
    "lstm": lambda: Network(zoo["lstm"]),
    "darts-v1 in both directions": lambda: Network(
        zoo["darts-v1"], bidirectional=True, project_input=True
    ),
    "supernet with theta": lambda: Network(darts_supernet(2, norm=False).cell),
}


def made(name: str) -> Network:
    torch.manual_seed(0)
    return NETWORKS[name]()


def numbers(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


X = numbers(5, 3, WIDTH)
LENGTHS = torch.tensor([2, 5, 4])


def loss_of(outputs: tuple[Tensor, ...]) -> Tensor:
    return torch.stack([(tensor * tensor.cos()).sum() for tensor in outputs]).sum()


def learned(
    call: Callable[..., Any], network: nn.Module, x: Tensor = X, *more: Any
) -> dict[str, Tensor]:
    """What a call gives, and the gradients of a loss of it: of x, and of all parameters."""
    x = x.clone().requires_grad_()
    network.zero_grad()
    outputs = call(x, *more)
    loss_of(outputs).backward()
    found = {f"output {i}": tensor.detach() for i, tensor in enumerate(outputs)}
    found["x"] = x.grad
    return found | {name: p.grad.clone() for name, p in network.named_parameters()}


def gap(found: dict[str, Tensor], expected: dict[str, Tensor]) -> float:
    """The largest difference, relative to a tensor's largest number; 0 if all bits are equal."""
    assert found.keys() == expected.keys()
    pairs = [(found[name], expected[name]) for name in expected]
    assert all(one.shape == other.shape and one.dtype == other.dtype for one, other in pairs)
    return max(
        float((one - other).detach().abs().max() / other.detach().abs().max().clamp(min=1))
        for one, other in pairs
    )
