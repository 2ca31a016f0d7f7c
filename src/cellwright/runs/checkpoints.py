"""Checkpoints: one safetensors file that holds tensors and a JSON state together.

The state is in the file's own header, so that weights and the position they belong to are never
of two different moments. Any safetensors reader can open a checkpoint. The header has:

| entry | meaning |
|---|---|
| `format` | `cellwright-checkpoint/1` |
| `state` | the state, as JSON; numbers come back exactly, NaN and infinities too |
| `aliases` | names of tensors that are another one (tied weights), as JSON; they are kept once |
| `checksum` | SHA-256 over the state, the aliases and every tensor's name, type, shape and bytes |

The file is written by hand and not with `safetensors.torch.save_file`, for two reasons: that
turns a full disk into a text, where a caller has to tell it from other failures, and it refuses
tied tensors. Reading is the library's, which checks whatever is in a header.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.base.regular_files import check_mapped
from cellwright.runs.errors import RunError

FORMAT = "cellwright-checkpoint/1"

MOST_HEADER_BYTES = 100_000_000
"""The longest header that the safetensors library reads."""

_DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds. Tensors that were one tensor are one again."""

    tensors: Mapping[str, Tensor]
    state: Mapping[str, Any]


def save_checkpoint(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write a checkpoint, whole.

    Raises:
        RunError: the file cannot be written; the one that was there is as it was.
    """
    kept, aliases = _without_aliases(tensors)
    entries = {"state": json.dumps(state), "aliases": json.dumps(aliases, sort_keys=True)}
    # Widest elements first, so that each tensor begins at a multiple of its element's size.
    order = sorted(kept, key=lambda name: (-kept[name].element_size(), name))
    header: dict[str, Any] = {
        "__metadata__": {"format": FORMAT, **entries, "checksum": _checksum(kept, entries)}
    }
    end = 0
    for name in order:
        tensor = kept[name]
        begin, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": _DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER_BYTES:
        raise RunError(f"cannot write {path}: a state of {len(text):,} bytes is too long")

    def parts() -> Iterator[Any]:
        yield len(text).to_bytes(8, "little")
        yield text
        for name in order:
            yield _bytes(kept[name])

    write_whole(path, parts())


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        RunError: the file is not there, damaged, cut off, or something else. The message names it.
    """
    metadata, tensors = _read(path, with_tensors=True)
    entries = {name: metadata.get(name, "") for name in ("state", "aliases")}
    if metadata.get("checksum") != _checksum(tensors, entries):
        raise _damaged(path, "its contents are not those that were written")
    for alias, name in _json_object(path, entries["aliases"]).items():
        tensors[alias] = tensors[name]
    return Checkpoint(tensors, _json_object(path, entries["state"]))


def load_state(path: Path) -> dict[str, Any]:
    """The state of a checkpoint without its tensors, and so without looking for damage in them.

    Raises:
        RunError: as `load_checkpoint`.
    """
    metadata, _ = _read(path, with_tensors=False)
    return _json_object(path, metadata.get("state", ""))


def _json_object(path: Path, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _damaged(path, "its header cannot be read")
    return value


def _read(path: Path, with_tensors: bool) -> tuple[dict[str, str], dict[str, Tensor]]:
    from safetensors import SafetensorError, safe_open

    try:
        check_mapped(path)  # the library's own errors do not tell why it failed to open
        with safe_open(path, "pt") as file:
            metadata = dict(file.metadata() or {})
            _check_format(path, metadata.get("format", ""))
            # Copies: what is mapped changes when somebody writes into the file.
            names = file.keys() if with_tensors else ()
            return metadata, {name: file.get_tensor(name).clone() for name in names}
    except FileNotFoundError:
        raise RunError(f"there is no checkpoint {path}") from None
    except OSError as error:
        raise refused("read", path, error) from None
    except SafetensorError:
        raise _damaged(path, "it is cut off, or no safetensors file") from None


def _check_format(path: Path, found: str) -> None:
    if found == FORMAT:
        return
    if found.startswith(FORMAT.split("/")[0] + "/"):
        raise RunError(
            f"{path} is in the format {found}; this version of cellwright reads {FORMAT}"
        )
    raise RunError(f"{path} is a safetensors file, but not a checkpoint of cellwright")


def _damaged(path: Path, why: str) -> RunError:
    return RunError(f"the checkpoint {path} is damaged: {why}")


def _without_aliases(
    tensors: Mapping[str, Tensor],
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors as they will be written, and which names are only other names of these."""
    kept: dict[str, Tensor] = {}
    aliases: dict[str, str] = {}
    first: dict[tuple[Any, ...], str] = {}
    for name in sorted(tensors):
        tensor = tensors[name].detach()
        if tensor.dtype not in _DTYPES:
            raise TypeError(f"{name}: a checkpoint cannot hold {tensor.dtype}")
        shape, strides = tuple(tensor.shape), tensor.stride()
        place = (tensor.device, tensor.data_ptr(), tensor.dtype, shape, strides)
        if tensor.numel() and first.setdefault(place, name) != name:
            aliases[name] = first[place]
        else:
            kept[name] = tensor.cpu().contiguous()
    return kept, aliases


def _checksum(tensors: Mapping[str, Tensor], entries: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(entries, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(_bytes(tensor))
    return digest.hexdigest()


def _bytes(tensor: Tensor) -> Any:
    """The memory of a contiguous tensor in main memory, without a copy."""
    return tensor.reshape(-1).view(torch.uint8).numpy().data
