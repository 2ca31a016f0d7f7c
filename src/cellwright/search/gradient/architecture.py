"""The variables of a differentiable search, and the θ that a softmax makes of them."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.cell.listings.supernets import GROUPS, Supernet

SOFTMAXES = ("pair", "node")
"""Over what a softmax goes: the operations between two nodes (DARTS; I-DARTS Eq. 3; ESS Eq. 4),
or all edges into a node (I-DARTS Eq. 4)."""

START = 1e-3
"""The variables start at this times a normal draw, as DARTS' do: all edges all but equal."""


class Architecture(nn.Module):
    """The variables of a supernet's edges (w in I-DARTS and ESS, α in DARTS).

    Each node has one matrix, with a row for each predecessor and a column for each operation:
    `intra.s_3`, `inter.f_1`, `inter.g_alpha`. The two groups are modules of their own, so that
    an optimizer can take one of them.

    >>> from cellwright.cell.listings.supernets import ess_supernet
    >>> variables = Architecture(ess_supernet(nodes=2, m=1), generator=torch.Generator())
    >>> [(name, tuple(matrix.shape)) for name, matrix in variables.named_parameters()]
    [('intra.s_1', (1, 5)), ('intra.s_2', (2, 5)), ('inter.f_1', (1, 5)), ('inter.g_1', (1, 5))]
    >>> sorted(variables.theta("inter"))
    ['theta_f_1', 'theta_g_1']

    Args:
        supernet: the supernet; groups that it has fixed have no variables.
        softmax: `"pair"` or `"node"`, see `SOFTMAXES`.
        generator: what the start is drawn from, node by node; torch's own unless given.
        start: the standard deviation of the start.
    """

    def __init__(
        self,
        supernet: Supernet,
        softmax: str = "pair",
        *,
        generator: torch.Generator | None = None,
        start: float = START,
    ) -> None:
        super().__init__()
        check_softmax(softmax)
        self.softmax = softmax
        self.intra = nn.ParameterDict()
        self.inter = nn.ParameterDict()
        self._thetas = thetas_by_node(supernet)
        for (group, node), names in self._thetas.items():
            columns = len(supernet.edges[names[0]])
            drawn = start * torch.randn(len(names), columns, generator=generator)
            self.group(group)[node] = nn.Parameter(drawn)

    def group(self, name: str) -> nn.ParameterDict:
        """The variables of the group `"intra"` or `"inter"`, by node."""
        if name not in GROUPS:
            raise UserError(f"unknown group {shown(name)}; the groups are {', '.join(GROUPS)}")
        return self.intra if name == "intra" else self.inter

    def theta(self, *groups: str) -> dict[str, Tensor]:
        """The θ of the given groups, of all unless said, as `Recurrent` takes them."""
        for name in groups:
            self.group(name)
        theta: dict[str, Tensor] = {}
        for (group, node), names in self._thetas.items():
            if groups and group not in groups:
                continue
            variables = self.group(group)[node]
            if self.softmax == "pair":
                weights = variables.softmax(1)
            else:
                weights = variables.flatten().softmax(0).view_as(variables)
            theta.update(zip(names, weights.unbind(0), strict=True))
        return theta


def check_softmax(softmax: str) -> None:
    """Raise unless it is one of `SOFTMAXES`."""
    if softmax not in SOFTMAXES:
        hint = did_you_mean(str(softmax), SOFTMAXES) or f"; there are {', '.join(SOFTMAXES)}"
        raise UserError(f"unknown softmax {shown(softmax)}{hint}")


def thetas_by_node(supernet: Supernet) -> dict[tuple[str, str], list[str]]:
    """The names of the θ into each node, predecessors in order; by group and node."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, edges in supernet.edges.items():
        found.setdefault((edges[0].group, edges[0].node), []).append(name)
    return {key: names for group in GROUPS for key, names in found.items() if key[0] == group}


def distributions(supernet: Supernet, softmax: str) -> Iterator[tuple[str, list[str]]]:
    """The θ that one softmax makes, for each softmax with its group: their numbers sum to 1."""
    check_softmax(softmax)
    for (group, _), names in thetas_by_node(supernet).items():
        if softmax == "node":
            yield group, names
        else:
            for name in names:
                yield group, [name]
