"""Find, train, compare and run recurrent cells for language.

>>> import cellwright as cw
>>> cw.zoo["gru"]
<Cell 'gru', 14 nodes, inputs x h0>
"""

from typing import TYPE_CHECKING, Any

from cellwright.cell import Cell, CellError, Node
from cellwright.cell.zoo import zoo

if TYPE_CHECKING:
    from cellwright.engine import Recurrent, WeightBank

__all__ = ["Cell", "CellError", "Node", "Recurrent", "WeightBank", "zoo"]

_NEEDS_TORCH = ("Recurrent", "WeightBank")


def __getattr__(name: str) -> Any:
    # torch takes a second to import, which those who only look at cells need not wait for.
    if name in _NEEDS_TORCH:
        from cellwright import engine

        return getattr(engine, name)
    raise AttributeError(f"module 'cellwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
