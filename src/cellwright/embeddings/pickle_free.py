"""Tensors out of PyTorch's `.pt` files, without running what a pickle says.

A pickle is a program: it names functions and calls them with arguments, whichever it likes. Here
its instructions are read one by one, and the few names that models are made of (a tensor of a
storage, an ordered dictionary, bytes, Flair's `Dictionary`) become plain data. Nothing that a
pickle names is imported or called, and any other name is refused.

`torch.load(weights_only=True)` is not enough: it refuses Flair's files, which hold an object of
Flair's own class beside the weights, and before torch 2.6 it could be made to run code
(CVE-2025-32434). So this reader serves all files. It knows both of PyTorch's formats: the zip file
since 1.6, and the older one, of several pickles with the storages behind them.
"""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from cellwright.base.errors import reason
from cellwright.base.regular_files import open_regular
from cellwright.base.zip_files import STARTS
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.pickle_program import run
from cellwright.embeddings.pickle_values import Dtype, PickleError, Plain, Stored

__all__ = ["Plain", "read_pickled"]

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001

_DAMAGE = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, MemoryError,
    RecursionError, EOFError, RuntimeError, struct.error, zipfile.BadZipFile, NotImplementedError,
)  # fmt: skip


def read_pickled(path: Path) -> Any:
    """What a `.pt` file holds: dictionaries, lists, numbers, strings, bytes, tensors, and `Plain`
    for objects of the few classes that are known.

    Raises:
        EmbeddingError: it is not there or damaged, or has anything in it that is not such data.
    """
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            packed = file.read(4) in STARTS
            file.seek(0)
            return _read_zip(file, size) if packed else _read_legacy(file, size)
    except PickleError as error:
        raise EmbeddingError(f"{path}: {error}") from None
    except OSError as error:
        raise EmbeddingError(f"{path}: {reason(error)}") from None
    except _DAMAGE as error:
        what = str(error) or type(error).__name__
        raise EmbeddingError(f"{path}: is damaged, or no file of PyTorch's ({what})") from None


def _read_zip(file: BinaryIO, size: int) -> Any:
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(names) != 1:
            raise PickleError("is a zip file, but none of PyTorch's, which has one data.pkl in it")
        root = names[0].removesuffix("data.pkl")
        order = f"{root}byteorder"
        if order in archive.namelist() and _member(archive, order, 16) != b"little":
            raise PickleError("was written on a machine of another byte order")
        loaded = _Loaded(size)

        def fetch(stored: Stored) -> Tensor:
            name = f"{root}data/{stored.key}"
            return loaded.get(stored, lambda: _member(archive, name, stored.bytes))

        return run(_member(archive, names[0], size), _tensors(fetch))[0]


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
        raise PickleError(f"its member {name} is compressed or encrypted, which PyTorch's are not")
    if info.file_size > most:
        raise PickleError(f"its member {name} is larger than it may be: the file is damaged")
    return archive.read(info)


def _read_legacy(file: BinaryIO, size: int) -> Any:
    at = 0
    heads = []
    for _ in range(3):
        head, at = _run_at(file, size, at, _no_tensors)
        heads.append(head)
        if heads[0] != _MAGIC:
            raise PickleError(
                "is no file of torch.save; what other programs pickle is not read, since a pickle "
                "may run any code"
            )
    if heads[1] != _PROTOCOL or not isinstance(heads[2], dict):
        raise PickleError("is of a version of PyTorch's format that is not known")
    if heads[2].get("little_endian") is not True:
        raise PickleError("was written on a machine of another byte order")
    # The storages come behind the pickle that names them: it is read once to know them, and then
    # again with them.
    start, wanted = at, {}

    def note(stored: Stored) -> Tensor:
        wanted[stored.key] = stored
        return torch.empty(0)

    _, at = _run_at(file, size, start, _tensors(note, check=False))
    keys, at = _run_at(file, size, at, _no_tensors)
    loaded = _Loaded(size)
    file.seek(at)
    for key in keys if isinstance(keys, list) else ():
        stored = wanted[key]
        (count,) = struct.unpack("<q", file.read(8))
        if count != stored.count:
            raise PickleError(f"a storage has {count:,} numbers, where {stored.count:,} belong")
        loaded.get(stored, lambda stored=stored: file.read(min(stored.bytes, size)))  # type: ignore[misc]
    result, _ = _run_at(file, size, start, _tensors(loaded.found))
    return result


def _run_at(file: BinaryIO, size: int, at: int, tensors: Callable[..., Any]) -> tuple[Any, int]:
    """The value of a pickle that begins somewhere in a file, and where it ends."""
    file.seek(at)
    return run(_Bounded(file, size), tensors)


class _Bounded:
    """A file for `pickletools`, which asks for as many bytes as a damaged file says there are."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size = file, size

    def read(self, count: int) -> bytes:
        return self.file.read(max(0, min(count, self.size - self.file.tell())))

    def readline(self) -> bytes:
        return self.file.readline(2**16)

    def tell(self) -> int:
        return self.file.tell()


@dataclass
class _Loaded:
    """Storages that were read, which together have no more bytes than the file."""

    left: int
    storages: dict[str, Tensor] = field(default_factory=dict)

    def get(self, stored: Stored, read: Callable[[], bytes]) -> Tensor:
        if stored.key not in self.storages:
            self.left -= stored.bytes
            if self.left < 0:
                raise PickleError("its tensors are larger than the file: it is damaged")
            data = read()
            if len(data) != stored.bytes:
                raise PickleError("is cut off: a tensor has fewer bytes than it should")
            self.storages[stored.key] = _storage(data, stored.dtype)
        found = self.storages[stored.key]
        if len(found) != stored.count or found.dtype != stored.dtype.torch:
            raise PickleError("names one storage as two of different kinds: it is damaged")
        return found

    def found(self, stored: Stored) -> Tensor:
        if stored.key not in self.storages:
            raise PickleError("is cut off: the numbers of a tensor are missing")
        return self.get(stored, bytes)


def _storage(data: bytes, dtype: Dtype) -> Tensor:
    if not data:
        return torch.empty(0, dtype=dtype.torch)
    if dtype.torch == torch.bool:
        return torch.frombuffer(bytearray(data), dtype=torch.uint8) != 0
    return torch.frombuffer(bytearray(data), dtype=dtype.torch)


def _no_tensors(*_: object) -> Any:
    raise PickleError("has a tensor where none belongs: it is damaged")


def _tensors(fetch: Callable[[Stored], Tensor], check: bool = True) -> Callable[..., Tensor]:
    """What makes a tensor of its storage, place, shape and steps, once they are known to fit."""

    def tensor(stored: Any, offset: Any, shape: Any, steps: Any) -> Tensor:
        sizes = (offset, *shape, *steps)
        if not isinstance(stored, Stored) or len(shape) != len(steps):
            raise PickleError("has a tensor whose shape cannot be read: it is damaged")
        if any(type(number) is not int or number < 0 for number in sizes):
            raise PickleError("has a tensor whose shape cannot be read: it is damaged")
        storage = fetch(stored)
        if not check:
            return storage
        count = 1
        for length in shape:
            count *= length
        last = offset + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
        if count and (count > stored.count or last >= stored.count):
            raise PickleError("has a tensor that reaches beyond its storage: it is damaged")
        if not count:
            return storage.new_empty(shape)
        return storage.as_strided(shape, steps, offset)

    return tensor
