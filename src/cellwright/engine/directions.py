"""A layer's directions: what each reads, and their results as one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.ragged import Ragged


def entering(x: Tensor, ragged: Ragged | None, *, backwards: bool) -> Tensor:
    """(steps, batch, width), as a layer reads it in its direction."""
    if ragged is not None:
        return ragged.enter(x, backwards)
    return x.flip(0) if backwards else x


def leaving(x: Tensor, ragged: Ragged | None, *, backwards: bool) -> Tensor:
    """The inverse of `entering`."""
    if ragged is not None:
        return ragged.leave(x, backwards)
    return x.flip(0) if backwards else x


def together(
    calls: Sequence[LayerCall], results: Sequence[LayerResult], ragged: Ragged | None
) -> LayerResult:
    """The result of a layer from those of its directions."""
    outputs = [
        leaving(result.output, ragged, backwards=call.backwards)
        for call, result in zip(calls, results, strict=True)
    ]
    if len(results) == 1:
        return LayerResult(outputs[0], results[0].final)
    states = zip(*(result.final for result in results), strict=True)
    return LayerResult(torch.cat(outputs, -1), [torch.cat(state) for state in states])
