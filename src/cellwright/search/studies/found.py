"""What a study found, as files: the best cell, its picture, and what it cost."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.runs.cell_file import write_cell
from cellwright.search.studies.final import FinalResult, final_json
from cellwright.search.studies.folder import LEDGER, study_folder
from cellwright.trials.store import Ledger, Store, Study, cell_of

STUDIES = Path("studies")
"""Where what was found is written unless said, in a folder of the study's name."""


def write_found(
    store: Store,
    study: Study,
    ledger: Ledger,
    random: Ledger | None,
    out: Path = STUDIES,
    final: FinalResult | None = None,
) -> Path | None:
    """Write the best cell, its picture and the ledgers into the study's folder; None if no trial
    has a value. The best is the winner of the final comparison, where there was one."""
    if ledger.best is None:
        return None
    cell = cell_of(store, study, ledger.best).renamed(f"{study.name}-{ledger.best.number}")
    if final is not None and final.winner is not None:
        cell = final.winner.cell
    folder = study_folder(store, study, out)
    write_cell(folder / "best.json", cell)
    cell.draw(folder / "best.svg")
    both = {"study": ledger.to_json(), "random": None if random is None else random.to_json()}
    write_whole(folder / LEDGER, dumps(both, indent=2).encode() + b"\n")
    if final is not None:
        write_whole(folder / "final.json", dumps(final_json(final), indent=2).encode() + b"\n")
    return folder
