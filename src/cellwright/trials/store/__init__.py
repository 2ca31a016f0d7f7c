"""The store: studies, trials, curves and cells in SQLite or PostgreSQL, safe for many writers.

May import `runs/` and what is below it, as far as that needs no torch: many only look.
"""

from cellwright.trials.retries import Retries
from cellwright.trials.store.errors import StoreError
from cellwright.trials.store.export import export_study
from cellwright.trials.store.ledger import Ledger, read_ledger
from cellwright.trials.store.overview import Overview, overview, overviews
from cellwright.trials.store.queries import (
    Attempt,
    TrialRecord,
    best_trials,
    cell_of,
    failure_reasons,
    list_attempts,
    list_trials,
    read_cell,
    read_curves,
)
from cellwright.trials.store.store import Store, open_store
from cellwright.trials.store.studies import (
    Study,
    create_study,
    delete_study,
    find_study,
    has_study,
    list_studies,
)

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
    "cell_of",
    "create_study",
    "delete_study",
    "export_study",
    "failure_reasons",
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
