"""What the tests of the CRF share: random chains, and all paths one by one."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from cellwright.engine.crf import Allowed


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
    masks = [torch.rand(*shape, generator=generator) < 0.5 for shape in ((tags, tags), (tags,), (tags,))]
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
        pairs = list(zip(path, path[1:], strict=False))
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
