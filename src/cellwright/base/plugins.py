"""Code of the user's own, named by its place: `module:name`, or `path/to/file.py:name`.

Loading a file runs it. So a place is loaded only where the user has named it, in a command, in a
recipe or from Python, and never because a result that was found somewhere mentions it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from cellwright.base.errors import UserError, did_you_mean, reason
from cellwright.base.paths import from_anywhere
from cellwright.base.regular_files import read_regular

_NAME = r"[^\W\d]\w*"
_FILE = re.compile(rf"(?P<where>.+?\.py):(?P<name>{_NAME})(?::(?P<rest>.*))?", re.DOTALL)
_MODULE = re.compile(
    rf"(?P<where>{_NAME}(?:\.{_NAME})*):(?P<name>{_NAME})(?::(?P<rest>.*))?", re.DOTALL
)
_MOST_CODE = 100
"""The longest line of code that an error quotes."""


HOW_NAMED = "one of your own is named file.py:NAME or module:NAME"
"""For the end of an error about a name that is not known."""


class PluginError(UserError):
    """Code of the user's own cannot be had. The message says where, and why."""


@dataclass(frozen=True)
class Place:
    """Where a class or a function is.

    Args:
        where: a file that ends in `.py`, or a module that can be imported.
        name: of the class or the function in it.
    """

    where: str
    name: str

    @property
    def is_file(self) -> bool:
        """Whether it is in a file, and not in a module."""
        return self.where.endswith(".py")

    def __str__(self) -> str:
        return f"{self.where}:{self.name}"


@dataclass(frozen=True)
class Source:
    """Where a thing was loaded from, for people and for comparing it with what was there before.

    Args:
        label: the same wherever the file lies: `mine.py:Mine`.
        place: as it can be loaded again, from any folder of this machine.
        file: with the code, if there is one.
        sha256: of the file's content.
    """

    label: str
    place: str
    file: str | None = None
    sha256: str | None = None

    def __str__(self) -> str:
        return self.label

    def to_json(self) -> dict[str, Any]:
        """What is kept with results."""
        return {"file": self.file, "sha256": self.sha256}


def split_place(text: str) -> tuple[Place, str | None] | None:
    """The place that a text begins with and what stands behind its colon; None for other texts.

    A file ends at the first `.py:` that a name follows, so its path may have colons and commas.

    >>> split_place("my, files/mine.py:Mine:temperature=2")
    (Place(where='my, files/mine.py', name='Mine'), 'temperature=2')
    >>> split_place("package.module:Mine")
    (Place(where='package.module', name='Mine'), None)
    >>> split_place("hyperband:eta=4") is None
    True
    """
    found = _FILE.fullmatch(text) or _MODULE.fullmatch(text)
    return None if found is None else (Place(found["where"], found["name"]), found["rest"])


def as_place(text: object) -> Place | None:
    """The place that a text is, if it is one and nothing else."""
    found = split_place(text) if isinstance(text, str) else None
    return found[0] if found is not None and found[1] is None else None


def placed_from(text: str, folder: Path | None = None) -> str:
    """A place in a form that holds in any working directory; other texts as they are.

    Args:
        text: as the user wrote it.
        folder: where a file is looked for first, such as that of a recipe.
    """
    place = as_place(text)
    if place is None or not place.is_file:
        return text
    path = Path(place.where).expanduser()
    if folder is not None and not path.is_absolute():
        with contextlib.suppress(OSError, ValueError):
            if (folder / path).is_file():
                path = folder / path
    return f"{from_anywhere(path)}:{place.name}"


def load(place: Place) -> tuple[Any, Source]:
    """The class or function at a place, and where it was loaded from.

    A file runs once in a process, and again if its content has changed. It can import what lies
    in its own folder.

    Raises:
        PluginError: there is no such file or module, it cannot be run, or it has no such name.
    """
    module: ModuleType
    if place.is_file:
        path = from_anywhere(place.where)
        code = _read(path)
        module = _run(str(path), code)
        source = Source(f"{path.name}:{place.name}", f"{path}:{place.name}", str(path), _hash(code))
    else:
        module = _imported(place.where)
        source = Source(str(place), str(place), *_file_of(module))
    try:
        return getattr(module, place.name), source
    except AttributeError:
        names = [name for name in vars(module) if not name.startswith("_")]
        where = place.where if place.is_file else f"the module {place.where}"
        hint = did_you_mean(place.name, names)
        raise PluginError(f"{where} has no attribute {place.name!r}{hint}") from None


def source_of(kind: type) -> Source:
    """Where a class comes from that was handed over as it is."""
    module = sys.modules.get(kind.__module__)
    name = kind.__qualname__
    own = getattr(module, "__file__", None)
    if isinstance(module, _FileModule):
        assert own is not None
        return Source(f"{Path(own).name}:{name}", f"{own}:{name}", own, module.sha256)
    label = f"{kind.__module__}:{name}"
    return Source(label, label, *(_file_of(module) if module is not None else (None, None)))


def place_of(kind: type, *, elsewhere: bool = False) -> str:
    """A text that names a class.

    Args:
        kind: the class.
        elsewhere: whether other processes shall find it, too.

    Raises:
        PluginError: the class cannot be found by a name, as one inside a function.
    """
    source, module = source_of(kind), sys.modules.get(kind.__module__)
    if getattr(module, kind.__qualname__, None) is not kind:
        raise PluginError(
            f"{kind.__qualname__} of {kind.__module__} cannot be found by its name; define it in a "
            "file, outside of functions and classes"
        )
    if elsewhere and kind.__module__ == "__main__":
        if source.file is None:
            raise PluginError(
                f"{kind.__qualname__} was defined at a prompt or in a notebook, where other "
                "processes do not find it; put it into a file"
            )
        return f"{source.file}:{kind.__qualname__}"
    return source.place


def at_line(error: BaseException, file: str | None) -> str:
    """The last line of a file through which an error went, for the end of a message.

    >>> at_line(ValueError(), None)
    ''
    """
    if file is None:
        return ""
    name = Path(file).name
    if isinstance(error, SyntaxError) and error.filename == file and error.lineno:
        return f" ({name}, line {error.lineno}{_quoted(error.text)})"
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if frame.filename == file:
            return f" ({name}, line {frame.lineno}{_quoted(frame.line)})"
    return ""


def described(error: BaseException) -> str:
    """An error of somebody else's code, in a line."""
    text = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    name = type(error).__name__
    return f"{name}: {text}" if text else name


@contextlib.contextmanager
def quiet_stdout() -> Iterator[None]:
    """What the user's code prints goes to standard error: standard output is the command's."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


# -- files -----------------------------------------------------------------------------------


class _FileModule(ModuleType):
    """A module that was made from a file by its path."""

    sha256: str


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise PluginError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise PluginError(f"cannot read {path}: {why}") from None


@functools.lru_cache(maxsize=64)
def _run(path: str, code: bytes) -> _FileModule:
    """The module of a file with this content."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape") + b"\0" + code).hexdigest()[:12]
    module = _FileModule(f"_file_{re.sub(r'[^0-9A-Za-z_]', '_', Path(path).stem)}_{digest}")
    module.__file__, module.sha256 = path, _hash(code)
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)  # behind everything else, so that it hides nothing
    sys.modules[module.__name__] = module  # dataclasses look there while the file still runs
    try:
        with quiet_stdout():
            exec(compile(code, path, "exec"), vars(module))
    except BaseException as error:
        del sys.modules[module.__name__]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise PluginError(
            f"{path} cannot be loaded: {described(error)}{at_line(error, path)}"
        ) from (error)
    return module


def _imported(name: str) -> ModuleType:
    try:
        with quiet_stdout():
            return importlib.import_module(name)
    except Exception as error:  # somebody else's code may fail in every way
        file = error.filename if isinstance(error, SyntaxError) else None
        raise PluginError(
            f"the module {name} cannot be imported: {described(error)}{at_line(error, file)}"
        ) from error


def _file_of(module: ModuleType) -> tuple[str | None, str | None]:
    """The file of a module and its hash, where it has one."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return None, None
    return _hashed(str(from_anywhere(file)))


@functools.lru_cache(maxsize=256)
def _hashed(file: str) -> tuple[str, str | None]:
    """A module's file and its hash: once, as a module is imported once."""
    try:
        return file, _hash(read_regular(file))
    except OSError:
        return file, None


def _hash(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()


def _quoted(line: str | None) -> str:
    text = " ".join((line or "").split())
    return f": {text[:_MOST_CODE]}{'…' * (len(text) > _MOST_CODE)}" if text else ""
