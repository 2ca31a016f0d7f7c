"""What bfloat16 products gain, and what they cost in accuracy, side by side.

    python benchmarks/bfloat16.py --quick        # about a minute
    python benchmarks/bfloat16.py --markdown
    python benchmarks/bfloat16.py --cells lstm --shapes 35,64,300 --only train --threads 1

Times are those of a training step (gradients of all weights and of x) and of an inference, in
float32, in bfloat16, and of `nn.LSTM` of the same sizes whatever the cell. Errors are distances
from the same cell in float64, by the root of the mean square, relative to that of the float64
numbers: of the outputs, and of all gradients taken together. The network has the weights that it
starts with; x is random.
"""

from __future__ import annotations

import argparse
import copy
import math
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from contenders import Shape, parse_shape
from measure import Timing, interleaved, timed
from torch import Tensor, nn

import cellwright as cw
from cellwright.engine import native_backend
from cellwright.engine.bfloat16 import PRECISIONS
from engine import machine

CELLS = ("lstm", "darts-v1")
SHAPES = (Shape(35, 64, 300), Shape(35, 256, 300), Shape(35, 20, 200), Shape(70, 20, 600))
QUICK_SHAPES = (Shape(35, 20, 200),)
SECONDS, QUICK_SECONDS = 6.0, 0.5


class Row(NamedTuple):
    """One cell at one shape: times by contender, and by precision the two errors."""

    cell: str
    shape: Shape
    what: str
    timings: dict[str, Timing]
    errors: dict[str, tuple[float, float]]


HEADER = ("cell", "T,B,H", "what", "float32 ms", "bfloat16 ms", "nn.LSTM ms", "bfloat16 is faster",
          "float32 error", "bfloat16 error")  # fmt: skip


class Problem:
    """A network, what it reads, and a loss: the same for all contenders."""

    def __init__(self, cell: str, shape: Shape) -> None:
        torch.manual_seed(0)
        steps, batch, hidden = shape
        self.network = cw.Recurrent(cw.zoo[cell], hidden, hidden, backend="native")
        self.lstm = nn.LSTM(hidden, hidden)
        self.x = torch.randn(steps, batch, hidden)
        self.weights = torch.randn(steps, batch, hidden) / math.sqrt(self.x.numel())

    def module(self, name: str) -> nn.Module:
        """A contender."""
        if name == "nn.LSTM":
            return self.lstm
        found = copy.deepcopy(self.network)
        found.precision = name
        return found

    def train(self, module: nn.Module) -> list[Tensor]:
        """Forward and backward: the output, and the gradients of x and of all weights."""
        x = self.x.detach().to(next(module.parameters()).dtype).requires_grad_()
        module.zero_grad(set_to_none=True)
        output = module(x)[0]
        (output * self.weights.to(x.dtype)).sum().backward()
        return [output.detach(), x.grad, *(p.grad for p in module.parameters())]

    @torch.inference_mode()
    def infer(self, module: nn.Module) -> Tensor:
        """Forward alone."""
        output: Tensor = module(self.x)[0]
        return output


def errors(problem: Problem) -> dict[str, tuple[float, float]]:
    """For each precision, how far outputs and gradients are from those in float64."""
    exact_module = copy.deepcopy(problem.network).double()
    exact_module.backend = "torch"
    exact = problem.train(exact_module)
    found = {}
    for name in PRECISIONS:
        ours = problem.train(problem.module(name))
        found[name] = (distance(ours[:1], exact[:1]), distance(ours[1:], exact[1:]))
    return found


def distance(ours: Sequence[Tensor], exact: Sequence[Tensor]) -> float:
    """Root mean square of the differences of all tensors, over that of the exact numbers."""
    off = sum(float((a.double() - b).square().sum()) for a, b in zip(ours, exact, strict=True))
    return math.sqrt(off / sum(float(b.square().sum()) for b in exact))


def measured(options: argparse.Namespace) -> Iterator[Row]:
    """All rows, one by one."""
    for cell in options.cells:
        for shape in options.shapes:
            problem = Problem(cell, shape)
            far = errors(problem)
            for what in (options.only,) if options.only else ("train", "infer"):
                work = getattr(problem, what)
                runs = {
                    name: timed(partial(work, problem.module(name)))
                    for name in (*PRECISIONS, "nn.LSTM")
                }
                yield Row(cell, shape, what, interleaved(runs, options.seconds), far)


def cells_of(row: Row) -> list[str]:
    """A row of the table; an inference has no gradients."""
    best = {name: timing.best for name, timing in row.timings.items()}
    of = 1 if row.what == "train" else 0
    return [
        row.cell,
        str(row.shape),
        row.what,
        *(f"{1000 * best[name]:.2f}" for name in (*PRECISIONS, "nn.LSTM")),
        f"{best['float32'] / best['bfloat16']:.2f} times",
        *(f"{row.errors[name][of]:.1e}" for name in PRECISIONS),
    ]


def report(rows: Sequence[Row], as_markdown: bool) -> None:
    """Print the table, and what its columns mean."""
    lines: list[Sequence[str]] = [HEADER, *map(cells_of, rows)]
    if as_markdown:
        lines.insert(1, ["---"] * len(HEADER))
        print("\n".join(f"| {' | '.join(line)} |" for line in lines))
    else:
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)))
    about: dict[str, Any] = machine()
    print(
        "\nBest times of contenders that take turns. Errors are of gradients for training and of "
        "outputs for\ninference: RMS of the distance from float64, over the RMS of the numbers."
    )
    print(f"{about['processor']}, {about['threads']} threads, torch {about['torch']}.")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--cells", nargs="+", choices=sorted(cw.zoo), metavar="CELL", default=list(CELLS))
    add("--shapes", nargs="+", type=parse_shape, metavar="T,B,H", help="steps, batch, hidden")
    add("--only", choices=("train", "infer"), help="training steps alone, or inference alone")
    add("--threads", type=int, metavar="N", help="for all contenders; torch's default unless said")
    add("--seconds", type=float, help=f"for each row, {SECONDS:g}; at least 3 rounds are made")
    add("--quick", action="store_true", help="one small shape, less time")
    add("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_args(arguments)
    options.shapes = options.shapes or list(QUICK_SHAPES if options.quick else SHAPES)
    if options.seconds is None:
        options.seconds = QUICK_SECONDS if options.quick else SECONDS
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = parse(arguments)
    if not native_backend.available("bfloat16"):
        print("the core has no bfloat16 here: there is nothing to measure", file=sys.stderr)
        return 1
    if options.threads:
        torch.set_num_threads(options.threads)
    rows = []
    for row in measured(options):
        rows.append(row)
        print(*cells_of(row), file=sys.stderr, flush=True)
    report(rows, options.markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
