"""All that a training run needs to go on later: tensors by name, and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cellwright.models.cell_model import Carried


class Snapshot(NamedTuple):
    """`tensors` are copies; `state` is made of what JSON can hold."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


def check_alike(pattern: Any, found: Any, where: str = "state") -> None:
    """Check that a state read from a file has the names and the kinds of values of a fresh one.

    What the fresh one has as None may be a number too. Lists may be of any length: what is in them
    is checked where it is turned into records.

    Raises:
        TypeError: it has not.

    >>> check_alike({"step": 0, "mean": None}, {"step": 3, "mean": 0.5})
    >>> check_alike({"step": 0}, {"step": "3"})
    Traceback (most recent call last):
    TypeError: state.step is '3', which is no whole number
    """
    if isinstance(pattern, dict):
        if not isinstance(found, dict) or pattern.keys() - found.keys():
            raise TypeError(f"{where} lacks {', '.join(pattern)}")
        for name, value in pattern.items():
            check_alike(value, found[name], f"{where}.{name}")
        return
    kinds, name = _KINDS[type(pattern)]
    if not isinstance(found, kinds) or (isinstance(found, bool) and not isinstance(pattern, bool)):
        raise TypeError(f"{where} is {found!r:.40}, which is no {name}")


_KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    type(None): ((type(None), int, float), "number"),
    bool: ((bool,), "truth value"),
    int: ((int,), "whole number"),
    float: ((int, float), "number"),
    str: ((str,), "text"),
    list: ((list, tuple), "list"),
    tuple: ((list, tuple), "list"),
}


class Parts:
    """The tensors of a snapshot, by part."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._tensors = tensors

    def __getitem__(self, part: str) -> dict[str, Tensor]:
        """Those of a part, under their short names; none if there are none."""
        start = f"{part}."
        return {
            name.removeprefix(start): tensor
            for name, tensor in self._tensors.items()
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
    """The inverse of `optimizer_tensors`.

    Raises:
        ValueError: something is missing. torch would notice in the middle of the next step.
    """
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, _, what = name.partition(".")
        state.setdefault(int(number), {})[what] = tensor.clone()
    if len({frozenset(remembered) for remembered in state.values()}) > 1:
        raise ValueError("what the optimizer remembers is not whole")
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def carried_tensors(carried: Carried) -> dict[str, Tensor]:
    """What is carried from batch to batch, numbered."""
    return {str(number): tensor for number, tensor in enumerate(_flat(carried))}


def restored_carried(pattern: Carried, tensors: Mapping[str, Tensor]) -> Carried:
    """The inverse of `carried_tensors`, shaped as `pattern` is."""
    return _shaped(pattern, (tensors[str(number)] for number in range(len(tensors))))


def _flat(carried: Carried) -> Iterator[Tensor]:
    if isinstance(carried, Tensor):
        yield carried
    else:
        for part in carried:
            yield from _flat(part)


def _shaped(pattern: Carried, tensors: Iterator[Tensor]) -> Carried:
    if isinstance(pattern, Tensor):
        return next(tensors).clone()
    return tuple(_shaped(part, tensors) for part in pattern)
