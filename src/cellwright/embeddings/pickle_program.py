"""The instructions of a pickle, read one by one and turned into plain data.

Python's own `pickletools` tells the instructions apart; what each of them means for a stack of
values is here, for those that data needs. No name is ever looked up and nothing that a pickle names
is ever called: `_CALLS` says for each name that is known what a call of it stands for.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from cellwright.base.errors import UserError, shown

MOST_STEPS = 20_000_000
"""The most instructions of a pickle; beyond it memory would be at risk."""


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
class _Name:
    """A name of a function or class. It is only ever compared."""

    text: str


_OBJECTS = ("flair.data.Dictionary",)
"""Classes whose objects are read as `Plain`."""

_PARTS = (
    "builtins.object", "__builtin__.object", "builtins.int", "__builtin__.int", "__builtin__.long",
    *(f"torch.{name}" for name in DTYPES),
)  # fmt: skip
"""Names that may stand as arguments."""

Tensors = Callable[[Any, Any, Any, Any], Any]
"""Makes a tensor of a `Stored`, an offset, a shape and the steps of its dimensions."""


def _rebuilt(tensors: Tensors, *arguments: Any) -> Any:
    storage, offset, shape, steps, *_ = arguments
    return tensors(storage, offset, tuple(shape), tuple(steps))


def _parameter(tensors: Tensors, data: Any, *_: Any) -> Any:
    return data


def _dictionary(tensors: Tensors, *pairs: Any) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for pair in pairs[0] if pairs else ():
        key, value = pair
        result[_plain_key(key)] = value
    return result


def _default_dictionary(tensors: Tensors, *_: Any) -> dict[Any, Any]:
    return {}


def _encoded(tensors: Tensors, text: Any = "", encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise PickleError("has bytes that cannot be read: it is damaged")
    return text.encode("latin1")


def _sizes(tensors: Tensors, sizes: Any) -> tuple[Any, ...]:
    return tuple(sizes)


def _device(tensors: Tensors, *names: Any) -> str:
    return ":".join(map(str, names))


def _new_object(tensors: Tensors, kind: Any, *_: Any) -> Plain:
    if not isinstance(kind, _Name) or kind.text not in _OBJECTS:
        raise PickleError(f"makes an object of {shown(kind)}: it is damaged")
    return Plain(kind.text)


_CALLS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _rebuilt,
    "torch._utils._rebuild_tensor_v2": _rebuilt,
    "torch._utils._rebuild_parameter": _parameter,
    "torch.Size": _sizes,
    "torch.device": _device,
    "collections.OrderedDict": _dictionary,
    "collections.defaultdict": _default_dictionary,
    "_codecs.encode": _encoded,
    "builtins.bytes": _encoded,
    "__builtin__.bytes": _encoded,
    "copyreg._reconstructor": _new_object,
    "copy_reg._reconstructor": _new_object,
}
"""What a call of a known name stands for. These are functions of this file and of no other."""

_KNOWN = {*_CALLS, *_OBJECTS, *_PARTS}


def run(data: Any, tensors: Tensors) -> tuple[Any, int]:
    """The value of a pickle, and where it ends.

    Args:
        data: its bytes, or something to read them from.
        tensors: see `Tensors`.

    Raises:
        PickleError: it names something that is not known, or does what data does not need.
    """
    machine = _Machine(tensors)
    for count, (code, argument, at) in enumerate(pickletools.genops(data)):
        if code.name == "STOP":
            return machine.stack.pop(), (at or 0) + 1
        if count > MOST_STEPS:
            raise PickleError(f"has more than {MOST_STEPS:,} values, which no model has")
        machine.step(code.name, argument)
    raise PickleError("is cut off")


_VALUES = {
    "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE",
    "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
}  # fmt: skip
_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict,
}  # fmt: skip
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_NOTHING = {"PROTO", "FRAME"}


class _Machine:
    """The stack of values, the marks on it, and the values that are remembered by number."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def step(self, code: str, argument: Any) -> None:
        """Do one instruction."""
        stack = self.stack
        if code in _VALUES:
            stack.append(argument)
        elif code in _CONSTANTS:
            stack.append(_CONSTANTS[code])
        elif code in _EMPTY:
            stack.append(_EMPTY[code]())
        elif code in _TUPLES:
            self._put(tuple(self._take(_TUPLES[code])))
        elif code in ("BINPUT", "LONG_BINPUT"):
            self.memo[argument] = stack[-1]
        elif code == "MEMOIZE":
            self.memo[len(self.memo)] = stack[-1]
        elif code in ("BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif code not in _NOTHING:
            method = getattr(self, f"_{code.lower()}", None) if code in _METHODS else None
            if method is None:
                raise PickleError(f"refused: it has the instruction {code}, which no model needs")
            method(argument)

    def _put(self, value: Any) -> None:
        self.stack.append(value)

    def _take(self, count: int) -> list[Any]:
        if len(self.stack) < count:
            raise PickleError("is damaged: an instruction lacks its values")
        taken = self.stack[-count:]
        del self.stack[-count:]
        return taken

    def _since_mark(self) -> list[Any]:
        values = self.stack
        self.stack = self.marks.pop()
        return values

    def _mark(self, _: Any) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def _tuple(self, _: Any) -> None:
        values = self._since_mark()
        self._put(tuple(values))

    def _append(self, _: Any) -> None:
        [value] = self._take(1)
        _list(self.stack[-1]).append(value)

    def _appends(self, _: Any) -> None:
        values = self._since_mark()
        _list(self.stack[-1]).extend(values)

    def _setitem(self, _: Any) -> None:
        key, value = self._take(2)
        _dict(self.stack[-1])[_plain_key(key)] = value

    def _setitems(self, _: Any) -> None:
        values = self._since_mark()
        target = _dict(self.stack[-1])
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[_plain_key(key)] = value

    def _global(self, argument: str) -> None:
        self._put(_known(".".join(argument.split(" "))))

    def _stack_global(self, _: Any) -> None:
        module, name = self._take(2)
        if not isinstance(module, str) or not isinstance(name, str):
            raise PickleError("is damaged: a name is no string")
        self._put(_known(f"{module}.{name}"))

    def _reduce(self, _: Any) -> None:
        name, arguments = self._take(2)
        if not isinstance(name, _Name) or not isinstance(arguments, tuple):
            raise PickleError("is damaged: it calls what is no function")
        if name.text not in _CALLS:
            raise PickleError(f"refused: it calls {name.text}, which is no function of a model")
        self._put(_CALLS[name.text](self.tensors, *arguments))

    def _newobj(self, _: Any) -> None:
        kind, _arguments = self._take(2)
        self._put(_new_object(self.tensors, kind))

    def _build(self, _: Any) -> None:
        [state] = self._take(1)
        target = self.stack[-1]
        if isinstance(target, Plain):
            target.state.update(_dict(state))
        elif not isinstance(target, dict):  # what PyTorch notes beside an OrderedDict is not needed
            raise PickleError("is damaged: it fills in what is no object")

    def _binpersid(self, _: Any) -> None:
        [place] = self._take(1)
        kind, storage, key, _device, count, *view = place
        dtype = DTYPES.get(storage.text.removeprefix("torch.")) if type(storage) is _Name else None
        if kind != "storage" or dtype is None or view not in ([], [None]):
            raise PickleError("has tensors of a kind that is not known")
        if type(key) is not str or type(count) is not int or count < 0:
            raise PickleError("is damaged: a storage has no size")
        self._put(Stored(key, dtype, count))


_METHODS = {
    "MARK", "TUPLE", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "GLOBAL", "STACK_GLOBAL", "REDUCE",
    "NEWOBJ", "BUILD", "BINPERSID",
}  # fmt: skip


def _known(name: str) -> _Name:
    if name not in _KNOWN:
        raise PickleError(
            f"refused: it names {shown(name)}, which is no part of a model's weights; a pickle may "
            "run any code, so only files with weights and Flair's dictionaries are read"
        )
    return _Name(name)


def _plain_key(key: Any) -> Any:
    # A key made of nested tuples would be hashed level by level, deeper than the machine's stack.
    if not isinstance(key, str | bytes | int | float | None):
        raise PickleError(f"has a key that is a {type(key).__name__}: no model needs that")
    return key


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise PickleError("is damaged: it adds to what is no list")
    return value


def _dict(value: Any) -> dict[Any, Any]:
    if type(value) is not dict:
        raise PickleError("is damaged: it fills what is no dictionary")
    return value
