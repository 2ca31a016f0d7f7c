"""Importing packages that come with extras, which not every part needs."""

from __future__ import annotations

import importlib
from typing import Any

from cellwright.base.errors import UserError


class MissingPackageError(UserError):
    """A package that this needs is not installed. The message says how to install it."""


def require(module: str, purpose: str, extra: str = "search") -> Any:
    """An optional module, or an error that names the extra which brings it.

    Args:
        module: what to import.
        purpose: what needs it, to begin the error's sentence with.
        extra: the extra of cellwright that has it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = (error.name or module).split(".")[0]
        raise MissingPackageError(
            f"{purpose} needs the package {package}; pip install 'cellwright[{extra}]' brings it"
        ) from None
