"""What the instructions of a pickle may name, and the plain data that each name stands for.

The names are those that models are made of. They are only ever compared: nothing of the kind is
imported, and the functions that `CALLS` has for them are those of this file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from cellwright.base.errors import UserError, shown


class PickleError(UserError):
    """What is wrong with a pickle, in words that can follow "FILE:"."""


class Dtype(NamedTuple):
    """A kind of number."""

    torch: torch.dtype
    bytes: int


DTYPES = {
    "DoubleStorage": Dtype(torch.float64, 8),
    "FloatStorage": Dtype(torch.float32, 4),
    "HalfStorage": Dtype(torch.float16, 2),
    "BFloat16Storage": Dtype(torch.bfloat16, 2),
    "LongStorage": Dtype(torch.int64, 8),
    "IntStorage": Dtype(torch.int32, 4),
    "ShortStorage": Dtype(torch.int16, 2),
    "CharStorage": Dtype(torch.int8, 1),
    "ByteStorage": Dtype(torch.uint8, 1),
    "BoolStorage": Dtype(torch.bool, 1),
}
"""PyTorch's storages by the names of their classes."""


@dataclass(frozen=True)
class Stored:
    """The numbers of one or more tensors: which they are in the file, of what kind, how many."""

    key: str
    dtype: Dtype
    count: int

    @property
    def bytes(self) -> int:
        """How much room they take."""
        return self.dtype.bytes * self.count


@dataclass
class Plain:
    """An object of a known class: the class's name and the object's attributes, nothing else."""

    name: str
    state: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Name:
    """A name of a function or class. It is only ever compared."""

    text: str


_OBJECTS = ("flair.data.Dictionary",)
"""Classes whose objects are read as `Plain`."""

_PARTS = (
    "builtins.object", "__builtin__.object", "builtins.int", "__builtin__.int", "__builtin__.long",
    *(f"torch.{name}" for name in DTYPES),
)  # fmt: skip
"""Names that may stand as arguments."""

MOST_DIMENSIONS = 16

Tensors = Callable[[Any, Any, Any, Any], Any]
"""Makes a tensor of a `Stored`, an offset, a shape and the steps of its dimensions."""


def _rebuilt(tensors: Tensors, *arguments: Any) -> Any:
    storage, offset, shape, steps, *_ = arguments
    return tensors(storage, offset, _sizes(tensors, shape), _sizes(tensors, steps))


def _parameter(tensors: Tensors, data: Any, *_: Any) -> Any:
    return data


def _dictionary(tensors: Tensors, *_: Any) -> dict[Any, Any]:
    return {}  # what is in it comes after the call


def _encoded(tensors: Tensors, text: Any = "", encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise PickleError("has bytes that cannot be read: it is damaged")
    return text.encode("latin1")


def _sizes(tensors: Tensors, sizes: Any) -> tuple[Any, ...]:
    if not isinstance(sizes, list | tuple) or len(sizes) > MOST_DIMENSIONS:
        raise PickleError("has a tensor whose shape cannot be read: it is damaged")
    return tuple(sizes)


def _device(tensors: Tensors, *_: Any) -> str:
    return "device"  # tensors are read into memory, wherever they were


def new_object(tensors: Tensors, kind: Any, *_: Any) -> Plain:
    """An object of a known class, without attributes yet."""
    if not isinstance(kind, Name) or kind.text not in _OBJECTS:
        raise PickleError("refused: it makes an object of what is no class of a model")
    return Plain(kind.text)


CALLS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _rebuilt,
    "torch._utils._rebuild_tensor_v2": _rebuilt,
    "torch._utils._rebuild_parameter": _parameter,
    "torch.Size": _sizes,
    "torch.device": _device,
    "collections.OrderedDict": _dictionary,
    "collections.defaultdict": _dictionary,
    "_codecs.encode": _encoded,
    "builtins.bytes": _encoded,
    "__builtin__.bytes": _encoded,
    "copyreg._reconstructor": new_object,
    "copy_reg._reconstructor": new_object,
}
"""What a call of a known name stands for. These are functions of this file and of no other."""

_KNOWN = {*CALLS, *_OBJECTS, *_PARTS}


def known(name: str) -> Name:
    """A name that models are made of.

    Raises:
        PickleError: it is another.
    """
    if name not in _KNOWN:
        raise PickleError(
            f"refused: it names {shown(name)}, which is no part of a model's weights; a pickle may "
            "run any code, so only files with weights and Flair's dictionaries are read"
        )
    return Name(name)


def plain_key(key: Any) -> Any:
    """A key of a dictionary: text, bytes or a number.

    Raises:
        PickleError: it is anything else.
    """
    # A key made of nested tuples would be hashed level by level, deeper than the machine's stack.
    if not isinstance(key, str | bytes | int | float | None):
        raise PickleError(f"has a key that is a {type(key).__name__}: no model needs that")
    return key
