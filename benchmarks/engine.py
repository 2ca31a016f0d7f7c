"""The engine against nn.LSTM, plain loops and the limit of this machine, side by side.

    python benchmarks/engine.py --quick          # about a minute
    python benchmarks/engine.py                  # everything
    python benchmarks/engine.py --cells lstm darts-v1 --shapes 35,64,300 --only train

Before a cell is timed, its plain loop is checked against the engine with the same weights:
outputs and all gradients must be equal.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from contenders import (
    CONTENDERS,
    SUBJECTS,
    Shape,
    UnequalError,
    make_work,
    parse_shape,
    same_as_engine,
)
from measure import in_fresh_process, interleaved, matrix_product, timed
from table import EXPLANATION, Row, load, markdown, print_table, save, summary

from cellwright.engine import native_backend

SHAPES = (
    Shape(35, 64, 300),
    Shape(35, 256, 300),
    Shape(35, 20, 200),
    Shape(35, 16, 64),
    Shape(70, 20, 600),
)
MORE_SHAPES = {"darts-supernet": (Shape(35, 16, 100),)}
QUICK_SHAPES = (Shape(35, 20, 200), Shape(35, 16, 64))
SECONDS = 6.0
QUICK_SECONDS = 0.3


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--cells", nargs="+", choices=SUBJECTS, metavar="CELL", help=", ".join(SUBJECTS))
    add("--shapes", nargs="+", type=parse_shape, metavar="T,B,H", help="steps, batch, hidden")
    add("--only", choices=("train", "infer"), help="training steps alone, or inference alone")
    add("--threads", type=int, metavar="N", help="for all contenders; torch's default unless said")
    add("--seconds", type=float, help=f"for each row, {SECONDS:g}; at least 3 rounds are made")
    add("--no-memory", action="store_true", help="do not measure memory")
    add("--quick", action="store_true", help="two small shapes, less time, no memory")
    add("--markdown", action="store_true", help="print the table as Markdown")
    add("--json", type=Path, metavar="FILE", help="also keep all numbers")
    add("--from", type=Path, metavar="FILE", dest="earlier", help="print what --json kept")
    options = parser.parse_args(arguments)
    if options.threads is not None and options.threads < 1:
        parser.error("--threads must be at least 1")
    if options.seconds is None:
        options.seconds = QUICK_SECONDS if options.quick else SECONDS
    if options.quick:
        options.no_memory = True
        options.shapes = options.shapes or list(QUICK_SHAPES)
    return options


def measured(options: argparse.Namespace) -> Iterator[Row]:
    """All rows, one by one."""
    product = timed(matrix_product())
    for cell in options.cells or SUBJECTS:
        subject = SUBJECTS[cell]()
        checked: set[int] = set()
        for shape in options.shapes or (*SHAPES, *MORE_SHAPES.get(cell, ())):
            if shape.hidden not in checked:  # a few steps and rows show every term of the cell
                same_as_engine(
                    subject, Shape(min(shape.steps, 5), min(shape.batch, 8), shape.hidden)
                )
                checked.add(shape.hidden)
            multiply_adds = subject.cell.simplified().multiply_adds(shape.hidden, shape.hidden)
            forward = 2.0 * multiply_adds * shape.steps * shape.batch
            for what in [options.only] if options.only else ["train", "infer"]:
                work = make_work(subject, shape)
                runs = {name: timed(getattr(one, what), one.clear) for name, one in work.items()}
                timings = interleaved({**runs, "matrix product": product}, options.seconds)
                del work, runs
                peak = {}
                if what == "train" and not options.no_memory:
                    peak = {name: _peak(cell, name, shape) for name in ("ours", "plain")}
                yield Row(cell, shape, what, forward * (3 if what == "train" else 1), timings, peak)


def _peak(cell: str, contender: str, shape: Shape) -> int:
    script = Path(__file__).with_name("peak_memory.py")
    threads = str(torch.get_num_threads())
    return int(in_fresh_process(script, cell, contender, str(shape), "--threads", threads))


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    return {
        "processor": processor,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def report(about: dict[str, Any], rows: Sequence[Row], as_markdown: bool) -> None:
    """Print the table, what its columns mean, and the summary."""
    if as_markdown:
        print(markdown(rows))
    else:
        print_table(rows)
    bullet = "- " if as_markdown else ""
    print(f"\n{EXPLANATION}")
    threads = f"{about['threads']} thread{'s' if about['threads'] > 1 else ''}"
    print(f"{about['processor']}, {threads}, torch {about['torch']}.\n")
    for line in summary(rows):
        print(f"{bullet}{line}")


def _wanted(row: Row, options: argparse.Namespace) -> bool:
    return (
        row.cell in (options.cells or SUBJECTS)
        and row.shape in (options.shapes or [row.shape])
        and row.what == (options.only or row.what)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, keep."""
    options = parse(arguments)
    if options.earlier is not None:
        about, rows = load(options.earlier)
        report(about, [row for row in rows if _wanted(row, options)], options.markdown)
        return 0
    if not native_backend.available():
        print("the native core is not built: there is nothing to measure", file=sys.stderr)
        return 1
    if options.threads:
        torch.set_num_threads(options.threads)
    rows: list[Row] = []
    status = 0
    try:
        for row in measured(options):
            rows.append(row)
            times = ", ".join(f"{name} {1000 * row.timings[name].best:.1f}" for name in CONTENDERS)
            print(f"{row.cell} {row.shape} {row.what}: {times} ms", file=sys.stderr, flush=True)
    except UnequalError as error:
        print(f"stopped: {error}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        print("interrupted: this is what was measured until then", file=sys.stderr)
        status = 130
    if rows:
        report(machine(), rows, options.markdown)
        if options.json is not None:
            save(options.json, machine(), rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
