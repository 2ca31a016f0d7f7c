"""What callers of the CRF can get wrong, and what has no answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from cellwright.engine import surroundings

BACKENDS = ("auto", "native", "torch")


class Allowed(NamedTuple):
    """Which tags may follow each other, begin and end a sentence; all may where nothing is said."""

    transitions: Tensor
    """(tags, tags) of booleans, [from, to]."""
    starts: Tensor | None = None
    """(tags,) of booleans."""
    ends: Tensor | None = None
    """(tags,) of booleans."""


def check_chain(
    scores: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    allowed: Allowed | None,
    backend: str,
) -> None:
    """Shapes, dtypes and devices fit each other."""
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    if scores.dim() != 3 or scores.shape[2] == 0:
        raise ValueError(
            f"scores must be (batch, steps, tags) with at least one tag, not {tuple(scores.shape)}"
        )
    if not scores.is_floating_point():
        raise ValueError(f"scores must be of a floating dtype, not {scores.dtype}")
    tags = scores.shape[2]
    parts = {"transitions": (transitions, 2), "start": (start, 1), "end": (end, 1)}
    for name, (tensor, dims) in parts.items():
        _check_shape(name, tensor, tags, dims)
        if tensor.dtype != scores.dtype or tensor.device != scores.device:
            raise ValueError(
                f"{name} must be {scores.dtype} on {scores.device} as scores are, "
                f"not {tensor.dtype} on {tensor.device}"
            )
    if allowed is None:
        return
    for (name, (_, dims)), mask in zip(parts.items(), allowed, strict=True):
        if mask is None:
            continue
        _check_shape(f"what is allowed of {name}", mask, tags, dims)
        if mask.dtype != torch.bool or mask.device != scores.device:
            raise ValueError(
                f"what is allowed of {name} must be torch.bool on {scores.device} as scores are, "
                f"not {mask.dtype} on {mask.device}"
            )


def _check_shape(name: str, tensor: Tensor, tags: int, dims: int) -> None:
    shape = (tags,) * dims
    if tensor.shape != shape:
        raise ValueError(
            f"{name} must be {shape} for scores of {tags} tags, not {tuple(tensor.shape)}"
        )


def checked_lengths(lengths: Tensor | Sequence[int], scores: Tensor) -> Tensor:
    """Lengths as a tensor where the scores are; each is from 0 to the number of steps."""
    batch, steps, _ = scores.shape
    given = torch.as_tensor(lengths, device=scores.device)
    if not given.numel():
        given = given.long()
    if given.dtype.is_floating_point or given.dtype == torch.bool or given.shape != (batch,):
        raise ValueError(
            f"lengths must be {batch} integers, one for each sentence, "
            f"not {tuple(given.shape)} of {given.dtype}"
        )
    given = given.long()
    if batch and surroundings.transformed() is None:
        least, most = (int(bound) for bound in torch.aminmax(given))
        if least < 0 or most > steps:
            wrong = least if least < 0 else most
            raise ValueError(f"lengths must be from 0 to {steps}, the number of steps, not {wrong}")
    return given


def check_tags_shape(tags: Tensor, scores: Tensor) -> None:
    """There is a tag, a whole number, for each step of each sentence."""
    batch, steps, _ = scores.shape
    if tags.shape != (batch, steps):
        raise ValueError(f"tags must be ({batch}, {steps}) as scores are, not {tuple(tags.shape)}")
    if tags.dtype != torch.long or tags.device != scores.device:
        raise ValueError(
            f"tags must be torch.long on {scores.device} as scores are, "
            f"not {tags.dtype} on {tags.device}"
        )


def check_tags(tags: Tensor, scores: Tensor, lengths: Tensor, allowed: Allowed | None) -> None:
    """Tags are numbers of tags up to each sentence's length, and a path that is allowed."""
    _, steps, count = scores.shape
    if not tags.numel() or surroundings.transformed() is not None:
        return
    beyond = torch.arange(steps, device=tags.device) >= lengths.unsqueeze(1)
    inside = tags.masked_fill(beyond, 0)
    least, most = torch.aminmax(inside)
    if int(least) < 0 or int(most) >= count:
        sentence, step = ((inside < 0) | (inside >= count)).nonzero()[0].tolist()
        raise ValueError(
            f"tags has {int(tags[sentence, step])} in sentence {sentence} at step {step}, "
            f"which is outside of the {count} tags"
        )
    if allowed is not None:
        _check_allowed(inside, ~beyond, lengths, allowed)


def _check_allowed(tags: Tensor, there: Tensor, lengths: Tensor, allowed: Allowed) -> None:
    passed = allowed.transitions[tags[:, :-1], tags[:, 1:]] | ~there[:, 1:]
    if not passed.all():
        sentence, step = (~passed).nonzero()[0].tolist()
        before, after = tags[sentence, step : step + 2].tolist()
        raise ValueError(
            f"tags has {before} and then {after} in sentence {sentence} at step {step + 1}, "
            "which is not allowed: such a path has no probability, and no loss"
        )
    some = lengths > 0
    last = tags.gather(1, (lengths - 1).clamp_min(0).unsqueeze(1)).squeeze(1)
    for verb, ends, mask in (("begins", tags[:, 0], allowed.starts), ("ends", last, allowed.ends)):
        if mask is None:
            continue
        wrong = some & ~mask[ends]
        if wrong.any():
            sentence = int(wrong.nonzero()[0])
            raise ValueError(
                f"tags {verb} with {int(ends[sentence])} in sentence {sentence}, "
                "which is not allowed: such a path has no probability, and no loss"
            )


def check_paths(totals: Tensor, lengths: Tensor) -> None:
    """Each sentence has a path: its log partition or best score is not −∞."""
    if surroundings.transformed() is not None:
        return
    none = totals.isneginf()
    if none.any():
        sentence = int(none.nonzero()[0])
        raise ValueError(
            f"sentence {sentence} has no path: each way through its {int(lengths[sentence])} steps "
            "is forbidden by what is allowed, or by scores of -inf"
        )
