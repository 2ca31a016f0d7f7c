"""Exported files and ONNX graphs equal `Recurrent`, for cells of every space.

`CELLWRIGHT_TEST_EFFORT=10` tries forty cells of each.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from export_cases import SPACES, check_cell, random_cells

from effort import many


@pytest.mark.parametrize("name", [*SPACES, "table"])
def test_what_is_exported_equals_the_network(name: str, tmp_path: Path) -> None:
    """Three layers, two directions, ragged lengths, carried states; scripted as well."""
    for number, cell in enumerate(random_cells(name, many(4))):
        check_cell(cell, tmp_path, script=number % 4 == 0)
