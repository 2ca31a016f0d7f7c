"""The search spaces: which cells there are, and how to draw, change and recognise them.

One file for each space. May import `cell/`, `base/` and numpy; knows no engines, tasks or searches.
"""

from cellwright.spaces.any_cell import AnyCell
from cellwright.spaces.darts import Darts, IDarts
from cellwright.spaces.enas import Enas
from cellwright.spaces.ess import Ess
from cellwright.spaces.fenas import Fenas
from cellwright.spaces.nas_bench_nlp import NasBenchNlp
from cellwright.spaces.pool import Pool
from cellwright.spaces.registry import SPACES, space
from cellwright.spaces.settings import SettingError
from cellwright.spaces.space import (
    Drawn,
    Interval,
    Options,
    ProductSpace,
    Space,
    SpaceError,
    Value,
)
from cellwright.spaces.tuned import Tuned, Varied

__all__ = [
    "SPACES",
    "AnyCell",
    "Darts",
    "Drawn",
    "Enas",
    "Ess",
    "Fenas",
    "IDarts",
    "Interval",
    "NasBenchNlp",
    "Options",
    "Pool",
    "ProductSpace",
    "SettingError",
    "Space",
    "SpaceError",
    "Tuned",
    "Value",
    "Varied",
    "space",
]
