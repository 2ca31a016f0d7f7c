"""What a study found, as files: the best cell, its picture, and what it cost."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.names import file_stem
from cellwright.runs.cell_file import write_cell
from cellwright.trials.store import Ledger, Store, read_cell

STUDIES = Path("studies")
"""Where what was found is written unless said, in a folder of the study's name."""


def write_found(
    store: Store, name: str, ledger: Ledger, random: Ledger | None, out: Path = STUDIES
) -> Path | None:
    """Write the best cell, its picture and the ledgers into the study's folder; None if no trial
    has a value."""
    if ledger.best is None:
        return None
    folder = out / file_stem(name, "study")
    cell = read_cell(store, ledger.best.cell_id).renamed(f"{name}-{ledger.best.number}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused("make", folder, error) from None
    write_cell(folder / "best.json", cell)
    cell.draw(folder / "best.svg")
    both = {"study": ledger.to_json(), "random": None if random is None else random.to_json()}
    write_whole(folder / "ledger.json", dumps(both, indent=2).encode() + b"\n")
    return folder
