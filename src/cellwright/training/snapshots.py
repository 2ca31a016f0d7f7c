"""All that a training run needs to go on later: tensors by name, and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cellwright.models.language_model import CarriedState


class Snapshot(NamedTuple):
    """`tensors` are copies; `state` is made of what JSON can hold."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


def prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies under longer names."""
    return {f"{prefix}.{name}": tensor.detach().clone() for name, tensor in tensors.items()}


def without_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those under a prefix, under their short names."""
    start = f"{prefix}."
    return {
        name.removeprefix(start): tensor
        for name, tensor in tensors.items()
        if name.startswith(start)
    }


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimizer remembers of each parameter, as `<number>.<what>`."""
    return {
        f"{number}.{what}": value
        for number, remembered in optimizer.state_dict()["state"].items()
        for what, value in remembered.items()
        if isinstance(value, Tensor)
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """The inverse of `optimizer_tensors`."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, _, what = name.partition(".")
        state.setdefault(int(number), {})[what] = tensor.clone()
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def flat_state(state: CarriedState) -> Iterator[Tensor]:
    """The tensors of a carried state, in order."""
    if isinstance(state, Tensor):
        yield state
    else:
        for part in state:
            yield from flat_state(part)


def state_like(pattern: CarriedState, tensors: Iterator[Tensor]) -> CarriedState:
    """The inverse of `flat_state`, shaped as `pattern` is."""
    if isinstance(pattern, Tensor):
        return next(tensors).clone()
    return tuple(state_like(part, tensors) for part in pattern)
