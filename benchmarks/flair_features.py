"""Features of Flair's character language models: ours against the package flair, same weights.

    python -m venv flair-env && flair-env/bin/pip install -c constraints.txt flair==0.15.1
    python benchmarks/flair_features.py flair-env/bin/python
    python benchmarks/flair_features.py flair-env/bin/python --sentences 1000

flair pins older versions of transformers, so it lives in an environment of its own (1.5 GB). The
models and CoNLL-2003 are those in `CELLWRIGHT_DATA` (flair-news-fast, conll2003). All features have
to be equal to 1e-5, single and pooled, and those of models as Flair itself saves them; then words a
second are printed, both on one thread. (In many more sentences rounding may reach further.)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from flair_reference import POOLINGS, WAYS

from cellwright.data.places import data_folder
from cellwright.embeddings.flair_lm import CharacterModel
from cellwright.embeddings.pooled import WordMemory

CLOSE = 1e-5


def read_sentences(path: Path, most: int) -> list[list[str]]:
    """The first sentences of a file of CoNLL's columns."""
    found: list[list[str]] = []
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("-DOCSTART-"):
            words.append(line.split()[0])
        elif words:
            found.append(words)
            words = []
        if len(found) == most:
            break
    return found


def timed_states(models: list[CharacterModel], texts: list[list[str]]):
    """Our features, and the seconds and processor seconds for them."""
    start, start_cpu = time.perf_counter(), time.process_time()
    found = torch.cat([model.states(texts) for model in models], 1)
    return found, time.perf_counter() - start, time.process_time() - start_cpu


def pooled(states: torch.Tensor, texts: list[list[str]], pooling: str, batch: int) -> torch.Tensor:
    """Our pooled features in Flair's order: pooled and own of each direction."""
    half = states.shape[1] // 2
    memories = [WordMemory(half, pooling) for _ in WAYS]
    parts, at = [], 0
    for begin in range(0, len(texts), batch):
        words = [word for text in texts[begin : begin + batch] for word in text]
        here = states[at : at + len(words)]
        both = zip(memories, here.split(half, 1), strict=True)
        parts.append(torch.cat([memory.with_pooled(words, own) for memory, own in both], 1))
        at += len(words)
    return torch.cat(parts)


def check(name: str, ours: torch.Tensor, theirs: np.ndarray, close: float) -> None:
    """Say how far features are apart; stop if that is too far."""
    if ours.shape != theirs.shape:
        sys.exit(f"{name}: ours are {tuple(ours.shape)}, Flair's {theirs.shape}")
    apart = float(np.abs(ours.numpy() - theirs).max())
    print(f"  {name:<24} largest difference {apart:.1e}")
    if not apart <= close:
        sys.exit(f"{name}: further apart than {close:g}")


def main() -> None:
    """Compare, then time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", help="the Python that has flair")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--close", type=float, default=CLOSE, help="the largest difference")
    parser.add_argument("--keep", type=Path, help="a folder for Flair's features")
    options = parser.parse_args()
    data = data_folder()
    if data is None:
        sys.exit("CELLWRIGHT_DATA is not set")
    torch.set_num_threads(1)
    texts = read_sentences(data / "conll2003" / "eng.train", options.sentences)
    # Characters that the models do not know, and a sentence longer than Flair's chunks.
    texts[1:1] = [["naïve", "日本", "☃", "x"], [word for text in texts[:20] for word in text]]
    words = sum(map(len, texts))
    with tempfile.TemporaryDirectory() as scratch:
        out = options.keep or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        (out / "sentences.json").write_text(json.dumps(texts))
        models = [CharacterModel(f"news-{way}-fast") for way in WAYS]
        rounds = [timed_states(models, texts)]
        command = [options.python, str(Path(__file__).with_name("flair_reference.py"))]
        command += [str(out / "sentences.json"), str(data / "flair-news-fast"), str(out)]
        command += ["--batch", str(options.batch), "--rounds", str(options.rounds)]
        subprocess.run(command, check=True)
        rounds += [timed_states(models, texts) for _ in range(options.rounds - 1)]
        times = json.loads((out / "times.json").read_text())
        print(f"{len(texts)} sentences, {words} words, against flair {times['flair']}:")
        states = rounds[0][0]
        check("forward and backward", states, np.load(out / "plain.npy"), options.close)
        for pooling in POOLINGS:
            ours = pooled(states, texts, pooling, options.batch)
            check(f"pooled, {pooling}", ours, np.load(out / f"{pooling}.npy"), options.close)
        for form, end in (("Flair's .pt file", ""), ("its older form", "-old")):
            again = [CharacterModel(out / f"{way}{end}.pt").states(texts[:20]) for way in WAYS]
            count = sum(map(len, texts[:20]))
            check(form, torch.cat(again, 1), np.load(out / "plain.npy")[:count], options.close)
    print("words a second, one thread (best round, by processor time; by wall clock):")
    for name, cost in (("cellwright", [one[1:] for one in rounds]), ("flair", times["rounds"])):
        wall, cpu = (min(one[kind] for one in cost) for kind in (0, 1))
        print(f"  {name:<24} {words / cpu:8.0f} {words / wall:8.0f}")


if __name__ == "__main__":
    main()
