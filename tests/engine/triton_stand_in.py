"""As much of Triton's language as the engine's kernels use, computed by torch.

So the kernels can be tested where Triton is not installed. The programs of all rows run at once,
each as a row of a matrix. Unlike on a GPU, to read or write outside a tensor is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

_program: dict[str, Any] = {}


class Pointer:
    """An address in a tensor, or several."""

    def __init__(self, tensor: Tensor, offset: Any = 0) -> None:
        self.tensor = tensor
        self.offset = offset

    def __add__(self, offset: Any) -> Pointer:
        return Pointer(self.tensor, self.offset + offset)

    def places(self, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """The places, and which of them count."""
        places = torch.as_tensor(self.offset)
        inside = torch.ones_like(places, dtype=torch.bool) if mask is None else mask
        places, inside = torch.broadcast_tensors(places, inside)
        assert ((places >= 0) & (places < len(self.tensor)) | ~inside).all(), "outside the tensor"
        return places, inside


class Kernel:
    """What `triton.jit` makes of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __getitem__(self, grid: tuple[int, int]) -> Callable[..., None]:
        def launch(*arguments: Any, num_warps: int, **constants: int) -> None:
            assert num_warps > 0
            pointers = [Pointer(a.view(-1)) if isinstance(a, Tensor) else a for a in arguments]
            rows, blocks = grid
            for block in range(blocks):
                _program.update(ids=(torch.arange(rows).unsqueeze(1), block), counts=grid)
                self.function(*pointers, **constants)

        return launch


def _jit(function: Callable[..., Any] | None = None, **_: Any) -> Any:
    return Kernel if function is None else Kernel(function)


def _load(pointer: Pointer, mask: Tensor | None = None, other: float = 0.0) -> Tensor:
    places, inside = pointer.places(mask)
    found = torch.full(places.shape, other)
    found[inside] = pointer.tensor[places[inside]]
    return found


def _store(pointer: Pointer, value: Tensor, mask: Tensor | None = None) -> None:
    places, inside = pointer.places(mask)
    pointer.tensor[places[inside]] = value.expand(places.shape)[inside]


triton = SimpleNamespace(jit=_jit)
language = SimpleNamespace(
    constexpr=int,
    int64=torch.int64,
    float32=torch.float32,
    program_id=lambda axis: _program["ids"][axis],
    num_programs=lambda axis: _program["counts"][axis],
    arange=lambda first, end: torch.arange(first, end).unsqueeze(0),
    full=lambda shape, value, dtype: torch.full((1, *shape), value, dtype=dtype),
    load=_load,
    store=_store,
    where=torch.where,
    sum=lambda values, axis: values.sum(1, keepdim=True),
    abs=torch.abs,
    exp=torch.exp,
    sqrt=torch.sqrt,
    sigmoid=torch.sigmoid,
)
