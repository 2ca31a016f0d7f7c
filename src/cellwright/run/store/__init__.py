"""The store: studies, trials, curves and cells in SQLite or PostgreSQL, safe for many writers.

May import `cell/` and the files beside this folder that import no torch.
"""

from cellwright.run.store.errors import StoreError
from cellwright.run.store.export import export_study
from cellwright.run.store.ledger import Ledger, read_ledger
from cellwright.run.store.overview import Overview, overview, overviews
from cellwright.run.store.queries import (
    Attempt,
    TrialRecord,
    best_trials,
    list_attempts,
    list_trials,
    read_cell,
    read_curves,
)
from cellwright.run.store.store import Store, open_store
from cellwright.run.store.studies import (
    Study,
    create_study,
    delete_study,
    find_study,
    has_study,
    list_studies,
)
from cellwright.run.store.trials import Retries

__all__ = [
    "Attempt",
    "Ledger",
    "Overview",
    "Retries",
    "Store",
    "StoreError",
    "Study",
    "TrialRecord",
    "best_trials",
    "create_study",
    "delete_study",
    "export_study",
    "find_study",
    "has_study",
    "list_attempts",
    "list_studies",
    "list_trials",
    "open_store",
    "overview",
    "overviews",
    "read_cell",
    "read_curves",
    "read_ledger",
]
