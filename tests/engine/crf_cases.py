"""What the tests of the CRF share: random chains, and all paths one by one."""

from __future__ import annotations

from itertools import pairwise, product
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from cellwright.engine import native_backend
from cellwright.engine.crf import Allowed, crf_loss

native = pytest.mark.skipif(not native_backend.available(), reason="the core is not built")
both = pytest.mark.parametrize("backend", [pytest.param("native", marks=native), "torch"])


class Case(NamedTuple):
    """Arguments of `crf_loss`, in its order."""

    scores: Tensor
    tags: Tensor
    lengths: Tensor
    transitions: Tensor
    start: Tensor
    end: Tensor

    @property
    def chain(self) -> tuple[Tensor, ...]:
        """Arguments of everything but the loss."""
        return (self.scores, *self[2:])

    def double(self) -> Case:
        return Case(*(t.double() if t.is_floating_point() else t for t in self))


def case(
    batch: int, steps: int, tags: int, seed: int = 0, scale: float = 1.0, shortest: int = 0
) -> Case:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(shortest, steps + 1, (batch,), generator=generator)
    lengths[seed % batch] = steps
    return Case(
        scale * torch.randn(batch, steps, tags, generator=generator),
        torch.randint(tags, (batch, steps), generator=generator),
        lengths,
        torch.randn(tags, tags, generator=generator),
        torch.randn(tags, generator=generator),
        torch.randn(tags, generator=generator),
    )


def whole_numbers(batch: int, steps: int, tags: int, seed: int = 0) -> Case:
    """Scores of which many paths' sums are equal, exactly."""
    drawn = case(batch, steps, tags, seed)
    return Case(*(t.round() if t.is_floating_point() else t for t in drawn))


def random_mask(tags: int, seed: int = 0) -> Allowed:
    """What is allowed, such that tag 0 may always be: each sentence has a path."""
    generator = torch.Generator().manual_seed(seed)
    masks = [
        torch.rand(*shape, generator=generator) < 0.5 for shape in ((tags, tags), (tags,), (tags,))
    ]
    for mask in masks:
        mask.view(-1)[0] = True
    return Allowed(*masks)


def legal_tags(given: Case, allowed: Allowed) -> Case:
    """The case with right tags that are allowed: a path of each sentence, drawn by its number."""
    tags = torch.full_like(given.tags, -1)
    for b, length in enumerate(given.lengths.tolist()):
        legal = [path for path, _ in all_paths(given, b, allowed)]
        if length:
            tags[b, :length] = torch.tensor(legal[(7 * b) % len(legal)])
    return given._replace(tags=tags)


def all_paths(
    given: Case, sentence: int, allowed: Allowed | None = None
) -> list[tuple[tuple[int, ...], float]]:
    """Every path of one sentence that is allowed, with its score."""
    scores, _, lengths, transitions, start, end = given.double()
    found = []
    for path in product(range(scores.shape[2]), repeat=int(lengths[sentence])):
        pairs = list(pairwise(path))
        if allowed is not None and path:
            ok = all(allowed.transitions[pair] for pair in pairs)
            if not (ok and allowed.starts[path[0]] and allowed.ends[path[-1]]):
                continue
        score = sum(float(scores[sentence, t, tag]) for t, tag in enumerate(path))
        score += sum(float(transitions[pair]) for pair in pairs)
        if path:
            score += float(start[path[0]] + end[path[-1]])
        found.append((path, score))
    return found


def best_first(paths: list[tuple[tuple[int, ...], float]]) -> list[tuple[tuple[int, ...], float]]:
    """By score; of equal ones the lowest last tag comes first, then the last but one."""
    return sorted(paths, key=lambda found: (-found[1], found[0][::-1]))


def gradients(given: Case, backend: str, allowed: Allowed | None = None) -> list[Tensor]:
    """Losses, and gradients by scores, transitions, start and end of a weighted sum of them."""
    leaves = [t.clone().requires_grad_() for t in (given.scores, *given[3:])]
    losses = crf_loss(
        leaves[0], given.tags, given.lengths, *leaves[1:], allowed=allowed, backend=backend
    )
    weights = torch.linspace(0.5, 2.0, len(losses), dtype=losses.dtype)
    (weights * losses).sum().backward()
    return [losses.detach(), *(leaf.grad for leaf in leaves)]


def assert_near(found: Tensor, wanted: Tensor, tolerance: float = 1e-5) -> None:
    assert found.shape == wanted.shape
    scale = wanted.abs().max().clamp_min(1.0) if wanted.numel() else 1.0
    assert torch.all((found.double() - wanted).abs() <= tolerance * scale)
