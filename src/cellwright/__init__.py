"""Find, train, compare and run recurrent cells for language.

>>> import cellwright as cw
>>> cw.zoo["gru"]
<Cell 'gru', 14 nodes, inputs x h0>
"""

import sys

if sys.argv[:1] == ["-m"] and "cellwright" in sys.orig_argv:
    # `python -m cellwright` looks for modules in the working directory first; see module_path.
    from cellwright.base.module_path import working_folder_last

    sys.path[:] = working_folder_last(sys.path)

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright import bench, data, testing
    from cellwright.api import (
        as_cell,
        compare,
        compare_encoders,
        compare_suite,
        evaluate,
        export,
        glue_submission,
        grid,
        load,
        predict,
        search,
        sensitivity,
        tag,
        train,
        tune,
    )
    from cellwright.cell import Cell, CellError, Node
    from cellwright.cell.zoo import zoo
    from cellwright.engine import Recurrent, WeightBank

    __version__: str

__all__ = [
    "Cell",
    "CellError",
    "Node",
    "Recurrent",
    "WeightBank",
    "as_cell",
    "bench",
    "compare",
    "compare_encoders",
    "compare_suite",
    "data",
    "evaluate",
    "export",
    "glue_submission",
    "grid",
    "load",
    "predict",
    "search",
    "sensitivity",
    "tag",
    "testing",
    "train",
    "tune",
    "zoo",
]

_LATER = {
    **dict.fromkeys(("Cell", "CellError", "Node"), "cellwright.cell"),
    "zoo": "cellwright.cell.zoo",
    **dict.fromkeys(("Recurrent", "WeightBank"), "cellwright.engine"),
    **dict.fromkeys(
        (
            "as_cell",
            "compare_encoders",
            "compare_suite",
            "evaluate",
            "glue_submission",
            "grid",
            "load",
            "predict",
            "sensitivity",
            "tag",
            "train",
            "tune",
        ),
        "cellwright.api",
    ),
}
"""What is imported when it is asked for: torch takes a second, which those who only look at cells
need not wait for; and the command hears Ctrl-C only once this module is imported."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in ("api", "base", "bench", "cell", "data", "testing"):
        return import_module(f"cellwright.{name}")
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'cellwright' has no attribute {name!r}")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cellwright")
    except PackageNotFoundError:  # run from its sources
        return "0"


def __dir__() -> list[str]:
    return sorted(__all__)


class _Door:
    """A function of the front door that is called as a folder of the package is, `search`,
    `compare` and `export`: what is in the folder is found through it as well."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        return self.__wrapped__(*arguments, **settings)

    @property
    def __wrapped__(self) -> Any:
        return getattr(import_module("cellwright.api"), self.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(f"cellwright.{self.__name__}"), name)

    def __repr__(self) -> str:
        return f"<function cellwright.{self.__name__}>"


class _Front(ModuleType):
    """The package. Importing a folder sets an attribute of its name, which must not hide these."""

    def _door(self, name: str) -> _Door:
        doors: dict[str, _Door] = self.__dict__.setdefault("_doors", {})
        if name not in doors:
            doors[name] = _Door(name)
        return doors[name]

    search = property(lambda self: self._door("search"), lambda self, folder: None)
    compare = property(lambda self: self._door("compare"), lambda self, folder: None)
    export = property(lambda self: self._door("export"), lambda self, folder: None)


sys.modules[__name__].__class__ = _Front
