"""A training step of DARTS' language model against a plain one and the limit of this machine.

    python benchmarks/language_model.py                     # PTB, hidden 300, batch 64, BPTT 35
    python benchmarks/language_model.py --cells lstm gru    # other cells of the zoo
    python benchmarks/language_model.py --quick             # seconds, on random text

A step is all that training does: gradients dropped, forward with every dropout, cross-entropy over
the vocabulary, penalty, backward, clipping, SGD. Before a cell is timed, loss and all gradients
are checked against the plain model, without dropout and with it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from contenders import Shape, UnequalError, parse_shape
from measure import (
    PRODUCT_FLOPS,
    Timing,
    in_fresh_process,
    interleaved,
    matrix_product,
    peak_memory,
    timed,
)
from plain_language_model import NO_DROPOUT, has_loop, same_as_plain
from rich.console import Console
from rich.table import Table
from training_step import CONTENDERS, Text, Training, running_text

import cellwright as cw
from cellwright.engine import native_backend
from cellwright.models import OneLayerSettings
from engine import machine

SHAPE, QUICK_SHAPE = Shape(35, 64, 300), Shape(35, 20, 100)
SECONDS, QUICK_SECONDS = 20.0, 0.3
QUICK_WORDS = 2_000
WANTED_OF, SPEEDUP_WANTED, SHARE_WANTED = "darts-v1", 1.8, 0.45  # at SHAPE


# -- measuring -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One contender's time, the multiply-adds of its step as operations, and its memory."""

    cell: str
    contender: str
    tokens: int
    flops: float
    timing: Timing
    product: Timing
    peak: int | None

    @property
    def limit(self) -> float:
        """Seconds of the multiply-adds at the rate of the large matrix product."""
        return self.flops / (PRODUCT_FLOPS / self.product.best)

    @property
    def share_of_limit(self) -> float:
        """The rate of multiply-adds over that of the large matrix product."""
        return self.limit / self.timing.best


def measured(options: argparse.Namespace, text: Text) -> Iterator[list[Row]]:
    """For each cell the rows of all contenders."""
    product = timed(matrix_product())
    shape: Shape = options.shape
    for cell in options.cells:
        _check(cell, shape, text)
        work = {name: Training(name, cell, shape, text) for name in CONTENDERS}
        runs = {name: timed(one.step) for name, one in work.items()}
        timings = interleaved({**runs, "matrix product": product}, options.seconds)
        for name, one in work.items():
            if not math.isfinite(one.step()):
                print(f"{cell}: {name} has diverged; its time may mean little", file=sys.stderr)
        del work, runs
        yield [
            Row(
                cell,
                name,
                shape.steps * shape.batch,
                _flops(cw.zoo["lstm" if name == "nn.LSTM" else cell], shape, text.words),
                timings[name],
                timings["matrix product"],
                None if options.no_memory else _peak(options, cell, name),
            )
            for name in CONTENDERS
        ]


def _check(cell: str, shape: Shape, text: Text) -> None:
    """A few steps and rows show every term."""
    tokens = text.rows[: min(shape.steps, 5) + 1, :8]
    for options in (NO_DROPOUT, {}):
        settings = OneLayerSettings(hidden=shape.hidden, tar=1.0, **options)
        same_as_plain(cell, settings, tokens, text.words)


def _flops(cell: cw.Cell, shape: Shape, words: int) -> float:
    """Of the products of cell and decoder, forward and twice as many backward."""
    of_cell = cell.simplified().multiply_adds(shape.hidden, shape.hidden)
    return 3 * 2.0 * (of_cell + words * shape.hidden) * shape.steps * shape.batch


def _peak(options: argparse.Namespace, cell: str, contender: str) -> int:
    arguments = ["--peak", contender, "--cells", cell, "--shape", str(options.shape)]
    arguments += ["--threads", str(torch.get_num_threads())]
    if options.vocabulary is not None:
        arguments += ["--vocabulary", str(options.vocabulary)]
    return int(in_fresh_process(Path(__file__), *arguments))


def peak(contender: str, cell: str, shape: Shape, text: Text) -> int:
    """The bytes of two steps on top of weights, for a fresh process."""
    small = Shape(2, shape.batch, 8)
    Training(contender, cell, small, text).step()  # loads code, starts threads: not what is meant
    training = Training(contender, cell, shape, text)
    return peak_memory(lambda: [training.step() for _ in range(2)])


# -- printing ------------------------------------------------------------------------------

COLUMNS = ("cell", "step of", "ms", "tokens/s", "ours is", "% of limit", "MB")


def _cells(row: Row, ours: Row) -> list[str]:
    seconds = row.timing.best
    return [
        row.cell,
        "torch backend" if row.contender == "plain" and not has_loop(row.cell) else row.contender,
        f"{1000 * seconds:.{1 if seconds < 0.1 else 0}f}",
        f"{row.tokens / seconds:,.0f}",
        "" if row is ours else f"{seconds / ours.timing.best:.2f}×",
        f"{100 * row.share_of_limit:.0f}",
        "–" if row.peak is None else f"{row.peak / 1e6:.0f}",
    ]


def report(rows: Sequence[Row], as_markdown: bool) -> None:
    """The table, for a terminal or a README."""
    ours = {row.cell: row for row in rows if row.contender == "ours"}
    lines = [_cells(row, ours[row.cell]) for row in rows]
    if as_markdown:
        rule = ("---", "---", *["---:"] * (len(COLUMNS) - 2))
        print("\n".join(f"| {' | '.join(line)} |" for line in [COLUMNS, rule, *lines]))
        return
    table = Table(header_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if number < 2 else "right", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    Console(width=100).print(table)


def summary(rows: Sequence[Row], shape: Shape) -> Iterator[str]:
    """What was wanted, and what was measured, where that is among the rows."""
    found = {row.contender: row for row in rows if row.cell == WANTED_OF}
    if shape == SHAPE and found:
        ours, plain = found["ours"], found["plain"]
        yield (
            f"{WANTED_OF}, times as fast as the plain model: at least {SPEEDUP_WANTED} wanted: "
            f"{plain.timing.best / ours.timing.best:.2f}"
        )
        yield (
            f"{WANTED_OF}, share of the limit ({1000 * ours.limit:.0f} ms): at least "
            f"{SHARE_WANTED} wanted: {ours.share_of_limit:.2f}"
        )


# -- the command ---------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    cells = f"of the zoo, darts-v1 unless said: {', '.join(cw.zoo)}"
    add("--cells", nargs="+", choices=cw.zoo, metavar="CELL", default=["darts-v1"], help=cells)
    add("--shape", type=parse_shape, metavar="T,B,H", help=f"steps, batch, hidden; {SHAPE}")
    add("--vocabulary", type=int, metavar="N", help="random text of N words, instead of PTB")
    add("--threads", type=int, metavar="N", help="for all contenders; torch's default unless said")
    add("--seconds", type=float, help=f"for each cell, {SECONDS:g}; at least 3 rounds are made")
    add("--no-memory", action="store_true", help="do not measure memory")
    add("--quick", action="store_true", help="a small model, random text, no memory")
    add("--markdown", action="store_true", help="print the table as Markdown")
    add("--peak", choices=CONTENDERS, help="print the bytes of a contender's steps, nothing else")
    options = parser.parse_args(arguments)
    for name in ("threads", "vocabulary"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if options.quick:
        options.no_memory = True
        options.vocabulary = options.vocabulary or QUICK_WORDS
    if options.shape is None:
        options.shape = QUICK_SHAPE if options.quick else SHAPE
    if options.seconds is None:
        options.seconds = QUICK_SECONDS if options.quick else SECONDS
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = parse(arguments)
    if not native_backend.available():
        print("the native core is not built: there is nothing to measure", file=sys.stderr)
        return 1
    if options.threads:
        torch.set_num_threads(options.threads)
    text = running_text(options.shape, options.vocabulary)
    if options.peak is not None:
        print(peak(options.peak, options.cells[0], options.shape, text))
        return 0
    rows: list[Row] = []
    try:
        for found in measured(options, text):
            rows += found
    except UnequalError as error:
        print(f"stopped: {error}", file=sys.stderr)
        return 1
    report(rows, options.markdown)
    about = machine()
    print(
        "\nBest times. Limit: the multiply-adds of cell and decoder at the rate of a 2048-cubed "
        "matrix product.\nMB: peak memory of two steps on top of weights."
    )
    print(f"{text.name}, T,B,H {options.shape}.")
    print(f"{about['processor']}, threads: {about['threads']}, torch {about['torch']}.\n")
    for line in summary(rows, options.shape):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
