"""Language models around a cell: the two that the papers train, and their settings.

May import `engine/` and what is below it. Settings need no torch, so that recipes are read without.
"""

from typing import TYPE_CHECKING, Any

from cellwright.models.settings import AwdSettings, ModelSettings, OneLayerSettings

if TYPE_CHECKING:
    from cellwright.models.build import build_language_model
    from cellwright.models.language_model import LanguageModel

__all__ = [
    "AwdSettings",
    "LanguageModel",
    "ModelSettings",
    "OneLayerSettings",
    "build_language_model",
]

_NEEDS_TORCH = {
    "LanguageModel": "language_model",
    "build_language_model": "build",
}


def __getattr__(name: str) -> Any:
    # torch takes a second to import, which those who only read settings need not wait for.
    if name in _NEEDS_TORCH:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_NEEDS_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
