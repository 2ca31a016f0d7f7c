"""Building a benchmark: choose cells, train each with several seeds as a study, keep the table.

May import `search/`, what is below it, and the rest of `bench/`. Nothing here imports torch; that
is for the workers.
"""

from cellwright.bench.building.build import (
    Building,
    build,
    collect,
    drawn,
    given,
    like,
)
from cellwright.bench.building.choosing import baselines, listed, stratified
from cellwright.bench.building.progress import BuildProgress

__all__ = [
    "BuildProgress",
    "Building",
    "baselines",
    "build",
    "collect",
    "drawn",
    "given",
    "like",
    "listed",
    "stratified",
]
