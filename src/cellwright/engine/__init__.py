"""The engine: `Recurrent` runs a cell, on the native core or on torch.

May import `cell/` and `base/`.
"""

from cellwright.engine.recurrent import Recurrent
from cellwright.engine.weights import WeightBank

__all__ = ["Recurrent", "WeightBank"]
