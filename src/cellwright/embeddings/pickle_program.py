"""The instructions of a pickle, read one by one and turned into plain data.

Python's own `pickletools` tells the instructions apart; what each of them means for a stack of
values is here, for those that data needs. No name is ever looked up and nothing that a pickle names
is ever called: `CALLS` of `pickle_values` has what a call of each known name stands for.

A small pickle may stand for huge data, since its values can be used again and again. So no
instruction copies more than a few values, or looks inside nested ones.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any

from cellwright.embeddings.pickle_values import (
    CALLS,
    DTYPES,
    Name,
    PickleError,
    Plain,
    Stored,
    Tensors,
    known,
    new_object,
    plain_key,
)

MOST_STEPS = 5_000_000
"""The most instructions of a pickle; beyond it memory would be at risk."""

MOST_ENCODED = 2**28
"""The most bytes that are made of text; older pickles keep bytes as text."""


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
        self.encoded = 0

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
        _dict(self.stack[-1])[plain_key(key)] = value

    def _setitems(self, _: Any) -> None:
        values = self._since_mark()
        target = _dict(self.stack[-1])
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[plain_key(key)] = value

    def _global(self, argument: str) -> None:
        self._put(known(".".join(argument.split(" "))))

    def _stack_global(self, _: Any) -> None:
        module, name = self._take(2)
        if not isinstance(module, str) or not isinstance(name, str):
            raise PickleError("is damaged: a name is no string")
        self._put(known(f"{module}.{name}"))

    def _reduce(self, _: Any) -> None:
        name, arguments = self._take(2)
        if not isinstance(name, Name) or not isinstance(arguments, tuple) or len(arguments) > 8:
            raise PickleError("is damaged: it calls what is no function")
        if name.text not in CALLS:
            raise PickleError(f"refused: it calls {name.text}, which is no function of a model")
        value = CALLS[name.text](self.tensors, *arguments)
        self.encoded += len(value) if isinstance(value, bytes) else 0
        if self.encoded > MOST_ENCODED:
            raise PickleError(f"has more than {MOST_ENCODED:,} bytes of text, which no model has")
        self._put(value)

    def _newobj(self, _: Any) -> None:
        kind, _arguments = self._take(2)
        self._put(new_object(self.tensors, kind))

    def _build(self, _: Any) -> None:
        [state] = self._take(1)
        target = self.stack[-1]
        if isinstance(target, Plain) and not target.state:
            target.state = _dict(state)
        elif not isinstance(target, dict):  # what PyTorch notes beside an OrderedDict is not needed
            raise PickleError("is damaged: it fills in what is no object")

    def _binpersid(self, _: Any) -> None:
        [place] = self._take(1)
        if not isinstance(place, tuple) or len(place) not in (5, 6):
            raise PickleError("has tensors of a kind that is not known")
        kind, storage, key, _device, count, *view = place
        dtype = DTYPES.get(storage.text.removeprefix("torch.")) if type(storage) is Name else None
        if kind != "storage" or dtype is None or (view and view[0] is not None):
            raise PickleError("has tensors of a kind that is not known")
        if type(key) is not str or type(count) is not int or count < 0:
            raise PickleError("is damaged: a storage has no size")
        self._put(Stored(key, dtype, count))


_METHODS = {
    "MARK", "TUPLE", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "GLOBAL", "STACK_GLOBAL", "REDUCE",
    "NEWOBJ", "BUILD", "BINPERSID",
}  # fmt: skip


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise PickleError("is damaged: it adds to what is no list")
    return value


def _dict(value: Any) -> dict[Any, Any]:
    if type(value) is not dict:
        raise PickleError("is damaged: it fills what is no dictionary")
    return value
