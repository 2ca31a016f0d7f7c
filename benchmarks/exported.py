"""A trained language model and what `cellwright export` makes of it: one perplexity, and speed.

    cellwright train darts-v1 --recipe darts-ptb-training-laptop --set model.hidden=100 \\
        --set training.epochs=1 --name ptb
    python benchmarks/exported.py runs/ptb

The test text is read as `cellwright evaluate` reads it, with the state carried through all of it,
by the engine, by the exported Python file and by ONNX Runtime, which take turns at it. The
exported models get nothing from cellwright but batches of word numbers. Needs `cellwright[export]`.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch

import cellwright as cw
from cellwright.runs.trained import load_trained
from cellwright.tasks.language.measuring import segment_losses

Reader = Callable[[], Iterator[tuple[float, int]]]  # the losses of each segment's words, summed


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder of a run on the task language")
    parser.add_argument("--times", type=int, default=3, help="how often each reads the text")
    parser.add_argument("--threads", type=int, default=1, help="of each")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    trained = load_trained(options.run)
    batches = trained.task.ordered("test", trained.folder.info.recipe.training.evaluation_batch)
    model: Any = trained.model.eval()

    def engine() -> Iterator[tuple[float, int]]:
        with torch.inference_mode():
            for part in segment_losses(model, batches):
                yield float(part.losses.sum()), part.losses.size

    with tempfile.TemporaryDirectory() as folder:
        readers: dict[str, Reader] = {
            "cellwright": engine,
            "Python file": python_file(options.run, Path(folder), batches),
            "ONNX Runtime": onnx_runtime(options.run, Path(folder), batches, options.threads),
        }
        taken: dict[str, list[float]] = {name: [] for name in readers}
        found = {}
        for _ in range(options.times):
            for name, reader in readers.items():
                begun = time.perf_counter()
                losses, words = map(sum, zip(*reader(), strict=True))
                taken[name].append(time.perf_counter() - begun)
                found[name] = math.exp(losses / words)
    print(f"{words:,} words, {options.threads} threads, best of {options.times}")
    print(f"{'':14}{'perplexity':>14}{'seconds':>10}{'× cellwright':>14}")
    least = min(taken["cellwright"])
    for name, value in found.items():
        print(f"{name:14}{value:14.6f}{min(taken[name]):10.2f}{min(taken[name]) / least:14.2f}")


def python_file(run: Path, folder: Path, batches: Any) -> Reader:
    """The exported file as a module, which imports torch alone."""
    cw.export(run, folder / "exported_model.py")
    spec = importlib.util.spec_from_file_location("exported_model", folder / "exported_model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.load().eval()

    def read() -> Iterator[tuple[float, int]]:
        state = None
        with torch.inference_mode():
            for batch in batches:
                chances, state = model(batch.tokens, state)
                losses = -chances.gather(2, batch.targets[..., None]).double()
                yield float(losses.sum()), losses.numel()

    return read


def onnx_runtime(run: Path, folder: Path, batches: Any, threads: int) -> Reader:
    """The exported ONNX model in a session of its own."""
    cw.export(run, folder / "model.onnx")
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(folder / "model.onnx", settings)
    states = [given for given in session.get_inputs() if given.name not in ("tokens", "lengths")]
    outputs = [output.name for output in session.get_outputs()]

    def read() -> Iterator[tuple[float, int]]:
        rows = batches[0].tokens.shape[1]
        carried = {  # what is no number is the batch
            given.name: np.zeros(
                [size if isinstance(size, int) else rows for size in given.shape], np.float32
            )
            for given in states
        }
        for batch in batches:
            tokens = batch.tokens.numpy()
            lengths = np.full(tokens.shape[1], len(tokens))
            values = session.run(None, {"tokens": tokens, "lengths": lengths, **carried})
            said = dict(zip(outputs, values, strict=True))
            carried = {given.name: said[f"next_{given.name}"] for given in states}
            targets = batch.targets.numpy()[..., None]
            losses = -np.take_along_axis(said["log_probabilities"], targets, 2).astype(np.float64)
            yield float(losses.sum()), losses.size

    return read


if __name__ == "__main__":
    main()
