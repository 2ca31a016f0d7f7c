"""The engine against nn.LSTM, plain loops and the limit of this machine, side by side.

    python benchmarks/engine.py --quick          # about a minute
    python benchmarks/engine.py                  # everything
    python benchmarks/engine.py --cells lstm darts-v1 --shapes 35,64,300 --only train
    python benchmarks/engine.py --load           # beside four busy processes
    python benchmarks/engine.py --sentences      # both directions, rows of different lengths
    python benchmarks/engine.py --instructions avx2   # as on an older processor
    python benchmarks/engine.py --keep-memory    # the allocator keeps what tensors leave

Before a cell is timed, its plain loop is checked against the engine with the same weights:
outputs and all gradients must be equal.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import both_ways
import torch
from contenders import (
    CONTENDERS,
    LOAD_CONTENDERS,
    SUBJECTS,
    Shape,
    UnequalError,
    make_work,
    parse_shape,
    same_as_engine,
)
from measure import busy_processes, in_fresh_process, interleaved, matrix_product, timed
from table import Row, explanation, load, markdown, print_table, save, summary

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
    add(
        "--instructions",
        choices=("avx2",),
        help="as on an older processor, for all contenders: what is newer is not used",
    )
    add(
        "--keep-memory",
        action="store_true",
        help="glibc keeps what tensors leave, for all contenders; some make large ones each step",
    )
    add("--seconds", type=float, help=f"for each row, {SECONDS:g}; at least 3 rounds are made")
    add("--no-memory", action="store_true", help="do not measure memory")
    add("--quick", action="store_true", help="two small shapes, less time, no memory")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--load", action="store_true", help="beside four busy processes; medians count"
    )
    kinds.add_argument(
        "--sentences", action="store_true", help="both directions, rows of different lengths"
    )
    add("--markdown", action="store_true", help="print the table as Markdown")
    add("--json", type=Path, metavar="FILE", help="also keep all numbers")
    add("--from", type=Path, metavar="FILE", dest="earlier", help="print what --json kept")
    options = parser.parse_args(arguments)
    if options.threads is not None and options.threads < 1:
        parser.error("--threads must be at least 1")
    if (options.load or options.sentences) and set(options.cells or ()) - set(both_ways.CELLS):
        parser.error(f"--load and --sentences are for {' and '.join(both_ways.CELLS)} alone")
    if options.seconds is None:
        options.seconds = QUICK_SECONDS if options.quick else SECONDS
    if options.quick:
        options.no_memory = True
        options.shapes = options.shapes or list(QUICK_SHAPES)
    return options


def measured(options: argparse.Namespace) -> Iterator[Row]:
    """All rows, one by one."""
    if options.sentences:
        yield from _sentences(options)
        return
    product = timed(matrix_product())
    for cell in options.cells or (LOAD_CONTENDERS if options.load else SUBJECTS):
        subject = SUBJECTS[cell]()
        names = ("ours", LOAD_CONTENDERS[cell]) if options.load else CONTENDERS
        checked: set[int] = set()
        for shape in options.shapes or (*SHAPES, *MORE_SHAPES.get(cell, ())):
            if shape.hidden not in checked:  # a few steps and rows show every term of the cell
                same_as_engine(
                    subject, Shape(min(shape.steps, 5), min(shape.batch, 8), shape.hidden)
                )
                checked.add(shape.hidden)
            multiply_adds = subject.cell.simplified().multiply_adds(shape.hidden, shape.hidden)
            forward = 2.0 * multiply_adds * shape.steps * shape.batch
            for what in _whats(options):
                flops = forward * (3 if what == "train" else 1)
                work = make_work(subject, shape, names)
                runs = {name: timed(getattr(one, what), one.clear) for name, one in work.items()}
                if options.load:
                    timings = interleaved(runs, options.seconds, patience=1)
                    yield Row(cell, shape, what, flops, timings, {}, "load")
                    continue
                timings = interleaved({**runs, "matrix product": product}, options.seconds)
                del work, runs
                peak = {}
                if what == "train" and not options.no_memory:
                    peak = {name: _peak(cell, name, shape) for name in ("ours", "plain")}
                yield Row(cell, shape, what, flops, timings, peak)


def _sentences(options: argparse.Namespace) -> Iterator[Row]:
    product = timed(matrix_product())
    for cell in options.cells or both_ways.CELLS:
        for shape, whats in both_ways.wanted(cell, tuple(options.shapes or ())):
            both_ways.same_sentences(cell, shape)
            multiply_adds = SUBJECTS[cell]().cell.multiply_adds(shape.hidden, shape.hidden)
            for what in [what for what in whats if what in _whats(options)]:
                work, words = both_ways.make_sentences(cell, shape)
                runs = {
                    name: timed(
                        one.train if what == "train" else partial(both_ways.inferred, one),
                        one.clear,
                    )
                    for name, one in work.items()
                }
                timings = interleaved({**runs, "matrix product": product}, options.seconds)
                flops = 2.0 * 2 * multiply_adds * words * (3 if what == "train" else 1)
                yield Row(cell, shape, what, flops, timings, {}, "sentences")


def _whats(options: argparse.Namespace) -> tuple[str, ...]:
    return (options.only,) if options.only else ("train", "infer")


def _peak(cell: str, contender: str, shape: Shape) -> int:
    script = Path(__file__).with_name("peak_memory.py")
    threads = str(torch.get_num_threads())
    return int(in_fresh_process(script, cell, contender, str(shape), "--threads", threads))


OLDER = {
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    }
}
"""What keeps torch, and the libraries that it multiplies with, from newer instructions."""


KEPT = {"MALLOC_TRIM_THRESHOLD_": str(2**31), "MALLOC_MMAP_THRESHOLD_": str(2**30)}
"""What makes glibc's allocator keep memory, so that large tensors are not of fresh pages."""


def begin_with(variables: Mapping[str, str]) -> None:
    """Begin anew with variables that have to be there before the process is."""
    if any(os.environ.get(key) != value for key, value in variables.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **variables})


def use_instructions(name: str) -> None:
    """Restrict all contenders to an instruction set; torch must be told before it is loaded."""
    begin_with(OLDER[name])
    assert native_backend._native is not None
    native_backend._native.use_instruction_set(name)


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    if os.environ.get("ATEN_CPU_CAPABILITY"):
        processor += f" (no more than {os.environ['ATEN_CPU_CAPABILITY']})"
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
    print(f"\n{explanation(rows)}")
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
    if options.keep_memory:
        begin_with(KEPT)
    if options.instructions:
        use_instructions(options.instructions)
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
        with busy_processes() if options.load else contextlib.nullcontext():
            for row in measured(options):
                rows.append(row)
                names = [name for name in CONTENDERS if name in row.timings]
                times = ", ".join(f"{name} {1000 * row.time(name):.2f}" for name in names)
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
