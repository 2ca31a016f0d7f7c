"""What benchmarks raise on bad input, and how they ask for an optional package."""

from __future__ import annotations

import importlib
from typing import Any

from cellwright.cell.errors import UserError


class BenchError(UserError):
    """A benchmark, a log or a question to one is wrong.

    The message says what, where, and what to do.
    """


def require(module: str, extra: str, purpose: str) -> Any:
    """An optional package, or an error that says how to install it.

    Args:
        module: what to import.
        extra: the extra of cellwright that has it.
        purpose: what needs it, to begin the error's sentence with.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise BenchError(
            f"{purpose} needs the package {package}; pip install 'cellwright[{extra}]' brings it"
        ) from None
