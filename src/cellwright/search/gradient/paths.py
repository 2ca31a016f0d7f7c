"""One path at a time: each step runs one cell of the supernet, sampled for it, with its weights.

GDAS (Dong and Yang 2019) samples with Gumbel noise g and learns θ by a straight-through estimate.
Into each node one edge k is kept, the heaviest of ln θ + g, which it is with the probability of its
share of θ. Forward its weight is 1. Backward it is that of p = softmax((ln θ + g) / temperature)
over all edges into the node: the sampled one through its own value, the others since they share one
softmax with it. Edges that were not sampled are not computed, so a step costs about as much as one
of a derived cell. The operation none is no edge here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from cellwright.base.seeds import seeded
from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import Supernet
from cellwright.engine import WeightBank
from cellwright.models.cell_model import CellModel
from cellwright.search.gradient.architecture import thetas_by_node
from cellwright.search.gradient.choices import fix
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.gradient.stages import Stage


@dataclass(frozen=True)
class Path(Stage):
    """A stage in which one edge into each node is there.

    Args:
        whole: the supernet of the stage.
        chosen: the number of the edge that was sampled, by the name of its θ.
        noise: Gumbel noise for each number of each θ; -inf for none.
        temperature: of the softmax that gradients go through.
    """

    whole: Supernet
    chosen: Mapping[str, int]
    noise: Mapping[str, Tensor]
    temperature: float

    def theta(self) -> dict[str, Tensor]:
        """1 for each edge, with the gradients of the softmax with noise."""
        weights = super().theta()
        found: dict[str, Tensor] = {}
        for names in thetas_by_node(self.whole).values():
            noisy = torch.cat([weights[name].log() + self.noise[name] for name in names])
            shares = (noisy / self.temperature).softmax(0)
            start = 0
            for name in names:
                if name in self.chosen:
                    share = shares[start + self.chosen[name]].reshape(1)
                    found[name] = 1 + (share - share.detach())
                start += len(self.noise[name])
        return found


def sampled(
    stage: Stage,
    bank: WeightBank,
    settings: DifferentiableSettings,
    seed: int,
    *what: str | int,
    uniform: bool = False,
) -> Path:
    """A path of a stage, as seed and `what` say.

    Args:
        stage: the stage; the path has its weights and variables.
        bank: of the weights.
        settings: of the search.
        seed: of the search.
        what: sets this draw apart from others of the seed.
        uniform: whether every edge is as likely as every other, whatever its θ.
    """
    whole, chosen, noise = stage.supernet, {}, {}
    with seeded(seed, "path", *what), torch.no_grad():
        theta = stage.theta()
        for names in thetas_by_node(whole).values():
            for name in names:
                drawn = -torch.empty_like(theta[name]).exponential_().log()
                none = torch.tensor([edge.op == "none" for edge in whole.edges[name]])
                noise[name] = drawn.masked_fill(none, -torch.inf)
            noisy = [noise[name] + (0 if uniform else theta[name].log()) for name in names]
            place = int(torch.cat(noisy).argmax())
            for name in names:
                if 0 <= place < len(noise[name]):
                    chosen[name] = place
                place -= len(noise[name])
    part = only(whole, chosen)
    model = stage.model.around(part.cell, bank)
    return Path(
        stage.phase, part, model, stage.variables, whole, chosen, noise, settings.temperature
    )


def only(supernet: Supernet, chosen: Mapping[str, int]) -> Supernet:
    """The supernet with the chosen edges alone, each with a θ of one number.

    Args:
        supernet: the supernet.
        chosen: by the name of a θ, which of its edges stays; of others none does.
    """
    nodes: list[Node] = []
    for node in supernet.cell.nodes:
        if node.op != "mix":
            nodes.append(node)
        elif node.theta_name in chosen:
            kept = node.inputs[chosen[node.theta_name]]
            nodes.append(Node(node.name, "mix", (kept,), theta=node.theta_name))
        else:
            nodes.append(Node(node.name, "zero", node.inputs[:1]))
    old = supernet.cell
    return replace(
        supernet,
        cell=Cell(nodes, old.states, old.output, old.name).simplified(),
        edges={name: (supernet.edges[name][place],) for name, place in chosen.items()},
    )


def choice_model(
    stage: Stage, bank: WeightBank, settings: DifferentiableSettings
) -> CellModel[Any]:
    """The model around what the variables choose now, with the shared weights and the norms."""
    supernet, listing = stage.supernet, stage.derived(settings).listing
    for group in supernet.groups:
        supernet = fix(supernet, group, listing)
    return stage.model.around(supernet.cell, bank)
