"""All cells of a space around one bank of weights (Pham et al. 2018, section 2.1).

The bank has what the cells name (`listings`). What stands around the cell is the same for all
children, too.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import NORM_OPS, norm_word
from cellwright.engine import WeightBank
from cellwright.models.cell_model import CellModel
from cellwright.search.sharing.listings import Listing, covering, lowered
from cellwright.spaces.darts import Darts
from cellwright.spaces.enas import Enas
from cellwright.tasks.task import Task

PRODUCTS = "products"
"""The norms of ENAS' code: behind each product, and behind the new state."""


def child_cell(listing: Listing, *, norm: str | bool) -> Cell:
    """The cell as it is searched: its weights named, and normalised.

    Weights that other cells have learned can make a state that grows without end. `PRODUCTS` is
    what ENAS' code has against that, but for its gains and offsets: products and the new state less
    their mean over the batch, divided by the root of 1 and the variance. Else the new state alone
    is normalised (see `NORM_OPS`); a norm of each row is the same for every batch.
    """
    cell = lowered(listing, keys=True)
    op = "damped_batch_norm" if norm == PRODUCTS else NORM_OPS[norm_word(norm)]
    if op is None:
        return cell
    nodes = _products_normed(cell, op) if norm == PRODUCTS else list(cell.nodes)
    return Cell([*nodes, Node("normed", op, cell.states)], ["normed"])


def _products_normed(cell: Cell, op: str) -> list[Node]:
    """The nodes, with a norm behind each linear."""
    normed = {node.name: f"{node.name}_normed" for node in cell.nodes if node.op == "linear"}
    nodes = []
    for node in cell.nodes:
        nodes.append(node.reading(tuple(normed.get(name, name) for name in node.inputs)))
        if node.name in normed:
            nodes.append(Node(normed[node.name], op, (node.name,)))
    return nodes


class Children:
    """The shared weights, and the model of any cell around them.

    Args:
        task: whose models they are.
        settings: of the model.
        space: the cells.
        backend: of the engine.
        norm: how the children's states are normalised.
    """

    def __init__(
        self,
        task: Task[Any],
        settings: Any,
        space: Enas | Darts,
        backend: str,
        *,
        norm: str | bool,
    ) -> None:
        self._bank, self._norm = WeightBank(), norm
        listings = covering(space)
        cell = child_cell(listings[0], norm=norm)
        self._model = task.model(cell, settings, bank=self._bank, backend=backend)
        # The bank makes what a cell asks for. All is asked for now, so that the first weights do
        # not depend on which cells are sampled, and the optimizer knows all of them.
        for listing in listings[1:]:
            self.child(listing)

    @property
    def model(self) -> CellModel[Any]:
        """The model of one cell; its parameters are those of all."""
        return self._model

    def child(self, listing: Listing) -> CellModel[Any]:
        """The model around a cell. Nothing is copied: it learns the shared weights."""
        return self._model.around(child_cell(listing, norm=self._norm), self._bank)

    def weights(self) -> dict[str, Tensor]:
        """All shared weights, those of the bank and those of what stands around the cells."""
        return self._model.state_dict(keep_vars=True)
