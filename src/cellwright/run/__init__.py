"""Running: recipes, run folders, checkpoints that survive a kill, and the runner over them.

May import `tasks/`, `models/`, `data/`, `engine/` and `cell/`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cellwright.run.errors import RecipeError, RunError, Stopped

if TYPE_CHECKING:
    from cellwright.run.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
    from cellwright.run.folder import RunFolder
    from cellwright.run.info import RunInfo
    from cellwright.run.listing import Listing, list_runs
    from cellwright.run.metrics import read_metrics
    from cellwright.run.recipes import Recipe, load_recipe, recipe_names, recipe_to_toml
    from cellwright.run.runner import train
    from cellwright.run.start import Run, fresh_run, reopen, resume

__all__ = [
    "Checkpoint",
    "Listing",
    "Recipe",
    "RecipeError",
    "Run",
    "RunError",
    "RunFolder",
    "RunInfo",
    "Stopped",
    "fresh_run",
    "list_runs",
    "load_checkpoint",
    "load_recipe",
    "read_metrics",
    "recipe_names",
    "recipe_to_toml",
    "reopen",
    "resume",
    "save_checkpoint",
    "train",
]

_MODULES = {
    "Checkpoint": "checkpoints",
    "Listing": "listing",
    "Recipe": "recipes",
    "Run": "start",
    "RunFolder": "folder",
    "RunInfo": "info",
    "fresh_run": "start",
    "list_runs": "listing",
    "load_checkpoint": "checkpoints",
    "load_recipe": "recipes",
    "read_metrics": "metrics",
    "recipe_names": "recipes",
    "recipe_to_toml": "recipes",
    "reopen": "start",
    "resume": "start",
    "save_checkpoint": "checkpoints",
    "train": "runner",
}


def __getattr__(name: str) -> Any:
    # torch takes a second to import, which those who only look at runs need not wait for.
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
