"""The CRF of the core beside pytorch-crf, on sentences of different lengths.

    python benchmarks/crf.py
    python benchmarks/crf.py --tags 60 --batch 64 --threads 2
    python benchmarks/crf.py --forbidden   # with transitions of -10000, as Flair has them
    python benchmarks/crf.py --processor   # where others use the machine as well

pytorch-crf is no dependency: `python -m pip install --no-deps pytorch-crf==0.7.2` gets it. Without
it the core is measured beside our own torch version alone.

A loss is the mean over the sentences, with the gradients of scores, transitions, start and end.
Before anything is timed, all contenders' losses, gradients and best paths are compared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from measure import Timing, interleaved, timed
from rich.console import Console
from rich.table import Table
from torch import Tensor

from cellwright.engine.crf import crf_loss, viterbi

try:
    from torchcrf import CRF
except ImportError:
    CRF = None

OURS, PLAIN, LIBRARY = "native core", "our torch version", "pytorch-crf"
MISSING = (
    "pytorch-crf is not installed, so it is left out: "
    "python -m pip install --no-deps pytorch-crf==0.7.2"
)
TOLERANCE = 1e-4


class Sentences(NamedTuple):
    """What all contenders get; `leaves` are scores, transitions, start and end."""

    leaves: tuple[Tensor, Tensor, Tensor, Tensor]
    tags: Tensor
    lengths: Tensor


class Contender(NamedTuple):
    """The mean loss, and the best paths as one list of tags."""

    loss: Callable[[], Tensor]
    decode: Callable[[], object]
    paths: Callable[[], list[int]]


def sentences(batch: int, shortest: int, longest: int, tags: int, forbidden: bool) -> Sentences:
    """Random sentences, one of them of the greatest length, and a random CRF."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(batch, longest, tags, generator=generator)
    transitions = torch.randn(tags, tags, generator=generator)
    ends = torch.randn(2, tags, generator=generator)
    right = torch.randint(tags, (batch, longest), generator=generator)
    lengths = torch.randint(shortest, longest + 1, (batch,), generator=generator)
    lengths[0] = longest
    if forbidden:  # one tag cannot be reached, and another cannot be left
        transitions[:, 0] = transitions[-1, :] = -10000.0
        right = right.clamp(1, tags - 2)
    leaves = (scores, transitions, ends[0].clone(), ends[1].clone())
    return Sentences(tuple(leaf.requires_grad_() for leaf in leaves), right, lengths)  # type: ignore[arg-type]


def of_cellwright(given: Sentences, backend: str) -> Contender:
    """Our CRF on one of its backends."""
    scores, *rest = given.leaves

    def decode() -> Tensor:
        return viterbi(scores, given.lengths, *rest, backend=backend).tags

    def loss() -> Tensor:
        return crf_loss(scores, given.tags, given.lengths, *rest, backend=backend).mean()

    return Contender(loss, decode, lambda: [tag for tag in decode().flatten().tolist() if tag >= 0])


def of_library(given: Sentences) -> Contender:
    """pytorch-crf with the same numbers."""
    scores, transitions, start, end = given.leaves
    crf = CRF(len(start), batch_first=True)
    for name, leaf in (
        ("transitions", transitions),
        ("start_transitions", start),
        ("end_transitions", end),
    ):
        delattr(crf, name)
        setattr(crf, name, leaf)
    mask = torch.arange(scores.shape[1]) < given.lengths.unsqueeze(1)

    def decode() -> list[list[int]]:
        with torch.no_grad():
            found: list[list[int]] = crf.decode(scores, mask)
        return found

    return Contender(
        lambda: -crf(scores, given.tags, mask, reduction="mean"),
        decode,
        lambda: [tag for path in decode() for tag in path],
    )


def contenders(given: Sentences) -> dict[str, Contender]:
    """All that are on this machine."""
    found = {OURS: of_cellwright(given, "native"), PLAIN: of_cellwright(given, "torch")}
    if CRF is not None:
        found[LIBRARY] = of_library(given)
    return found


def check_equal(given: Sentences, all_of_them: dict[str, Contender]) -> None:
    """Stop if anybody computes something else."""
    results = {}
    for name, contender in all_of_them.items():
        loss = contender.loss()
        results[name] = [loss.detach(), *torch.autograd.grad(loss, given.leaves)]
    for name, contender in all_of_them.items():
        for ours, theirs in zip(results[OURS], results[name], strict=True):
            if not torch.allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE):
                raise SystemExit(f"{name} has another loss or other gradients than {OURS}")
        if contender.paths() != all_of_them[OURS].paths():
            raise SystemExit(f"{name} finds other best paths than {OURS}")


def measured(
    given: Sentences, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, dict[str, Timing]]:
    """Seconds of a loss with its gradients, and of decoding."""
    all_of_them = contenders(given)
    check_equal(given, all_of_them)

    def drop() -> None:
        for leaf in given.leaves:
            leaf.grad = None

    training = {
        name: timed(lambda c=contender: c.loss().backward(), drop, clock)
        for name, contender in all_of_them.items()
    }
    decoding = {
        name: timed(contender.decode, clock=clock) for name, contender in all_of_them.items()
    }
    return {
        "loss and gradients": interleaved(training, seconds),
        "best path": interleaved(decoding, seconds),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--shortest", type=int, default=5)
    parser.add_argument("--longest", type=int, default=30)
    parser.add_argument("--tags", type=int, default=17)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each of the two works")
    parser.add_argument("--forbidden", action="store_true", help="transitions of -10000")
    parser.add_argument("--processor", action="store_true", help="its time, not the clock's")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    console = Console()
    if CRF is None:
        console.print(MISSING, highlight=False, soft_wrap=True)
    given = sentences(
        options.batch, options.shortest, options.longest, options.tags, options.forbidden
    )
    table = Table(
        title=f"{options.batch} sentences of {options.shortest} to {options.longest} steps, "
        f"{options.tags} tags, threads: {options.threads}"
    )
    for heading in ("work", "who", "best ms", "median ms", "times the core's best", "median"):
        table.add_column(heading, justify="left" if heading in ("work", "who") else "right")
    clock = time.process_time if options.processor else time.perf_counter
    for work, timings in measured(given, options.seconds, clock).items():
        ours = timings[OURS]
        for name, timing in timings.items():
            table.add_row(
                work,
                name,
                f"{1e3 * timing.best:.3f}",
                f"{1e3 * timing.median:.3f}",
                f"{timing.best / ours.best:.1f}",
                f"{timing.median / ours.median:.1f}",
            )
    console.print(table)


if __name__ == "__main__":
    main()
