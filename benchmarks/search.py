"""A step of DARTS' search against the same search in plain PyTorch.

    python benchmarks/search.py              # PTB, 8 nodes, hidden 300, batch 256, BPTT 35
    python benchmarks/search.py --quick      # seconds, on random text

A step is what a search does for each segment of text: a step of the architecture (forward and
backward on the validation text, Adam) and one of the weights (forward and backward on the training
text, clipping, SGD), with every dropout. Before anything is timed, losses and gradients of both
steps are checked against the plain model: in double precision, then on the native core, there with
dropout as well.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from contenders import Shape, UnequalError, parse_shape
from measure import Timing, in_fresh_process, interleaved, peak_memory, timed
from search_step import CONTENDERS, Ours, Plain, same_as_plain, setup_of, text_of

from cellwright.data import Corpus
from cellwright.engine import native_backend
from engine import machine

SHAPE, QUICK_SHAPE = Shape(35, 256, 300), Shape(35, 16, 64)
NODES, QUICK_NODES = 8, 3
SECONDS, QUICK_SECONDS = 60.0, 0.5
QUICK_WORDS = 2_000
SPEEDUP_WANTED, MEMORY_WANTED = 2.5, 3.0  # at SHAPE


def contender(name: str, corpus: Corpus, shape: Shape, nodes: int) -> Ours | Plain:
    """In the middle of its search: `step` goes on by one segment."""
    setup = setup_of(corpus, shape, nodes)
    return Ours(setup) if name == "ours" else Plain(setup)


def measured(options: argparse.Namespace, corpus: Corpus) -> dict[str, Timing]:
    """The seconds of a step, for each contender."""
    work = {name: contender(name, corpus, options.shape, options.nodes) for name in CONTENDERS}
    timings = interleaved({n: timed(one.step) for n, one in work.items()}, options.seconds)
    for name, one in work.items():
        if not math.isfinite(one.step()):
            print(f"{name} has diverged; its time may mean little", file=sys.stderr)
    return timings


def peak(name: str, corpus: Corpus, shape: Shape, nodes: int) -> int:
    """The bytes of two steps on top of weights, for a fresh process."""
    small = Shape(2, shape.batch, 8)
    contender(name, corpus, small, 1).step()  # loads code, starts threads: not what is meant
    work = contender(name, corpus, shape, nodes)
    return peak_memory(lambda: [work.step() for _ in range(2)])


def _peak(options: argparse.Namespace, name: str) -> int:
    arguments = ["--peak", name, "--shape", str(options.shape), "--nodes", str(options.nodes)]
    arguments += ["--threads", str(torch.get_num_threads())]
    if options.vocabulary is not None:
        arguments += ["--vocabulary", str(options.vocabulary)]
    return int(in_fresh_process(Path(__file__), *arguments))


def report(options: argparse.Namespace, timings: dict[str, Timing], peaks: dict[str, int]) -> None:
    """What was measured, and beside it what was wanted."""
    words = 2 * options.shape.steps * options.shape.batch
    for name, timing in timings.items():
        memory = f", {peaks[name] / 1e6:,.0f} MB" if peaks else ""
        print(
            f"{name:>5}: {timing.best:.3f} s a step (median {timing.median:.3f} of {timing.runs}), "
            f"{words / timing.best:,.0f} words/s{memory}"
        )
    wanted = options.shape == SHAPE and options.nodes == NODES
    hint = f" (at least {SPEEDUP_WANTED} wanted)" if wanted else ""
    print(f"\nours is {timings['plain'].best / timings['ours'].best:.2f} times as fast{hint}")
    if peaks:
        hint = f" (at least {MEMORY_WANTED:g} wanted)" if wanted else ""
        print(f"plain takes {peaks['plain'] / peaks['ours']:.2f} times the memory{hint}")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--shape", type=parse_shape, metavar="T,B,H", help=f"steps, batch, hidden; {SHAPE}")
    add("--nodes", type=int, metavar="N", help=f"of the supernet, {NODES} unless said")
    add("--vocabulary", type=int, metavar="N", help="random text of N words, instead of PTB")
    add("--threads", type=int, metavar="N", help="for both; torch's default unless said")
    add("--seconds", type=float, help=f"in all, {SECONDS:g}; at least 3 rounds are made")
    add("--no-memory", action="store_true", help="do not measure memory")
    add("--quick", action="store_true", help="a small model, random text, no memory")
    add("--peak", choices=CONTENDERS, help="print the bytes of a contender's steps, nothing else")
    options = parser.parse_args(arguments)
    for name in ("threads", "vocabulary", "nodes"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if options.quick:
        options.no_memory = True
        options.vocabulary = options.vocabulary or QUICK_WORDS
    options.shape = options.shape or (QUICK_SHAPE if options.quick else SHAPE)
    options.nodes = options.nodes or (QUICK_NODES if options.quick else NODES)
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
    corpus = text_of(options.shape, options.vocabulary)
    if options.peak is not None:
        print(peak(options.peak, corpus, options.shape, options.nodes))
        return 0
    try:
        same_as_plain(corpus, options.shape, options.nodes)
    except UnequalError as error:
        print(f"stopped: {error}", file=sys.stderr)
        return 1
    timings = measured(options, corpus)
    peaks = {} if options.no_memory else {name: _peak(options, name) for name in CONTENDERS}
    report(options, timings, peaks)
    about = machine()
    print(f"\n{corpus.name}, {options.nodes} nodes, T,B,H {options.shape}. Best times count.")
    print("MB: peak memory of two steps on top of weights, each contender in a process of its own.")
    print(f"{about['processor']}, threads: {about['threads']}, torch {about['torch']}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
