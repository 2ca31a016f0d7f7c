"""What the package flair computes, for `flair_features.py`; run by the Python that has flair.

    FLAIR_PYTHON benchmarks/flair_reference.py SENTENCES.json MODELS OUT --batch 32 --rounds 2

SENTENCES.json is a list of lists of words, MODELS the folder with the two models as safetensors and
chars.json. Into OUT go the features as .npy files, the models as Flair saves them, and times.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

WAYS = ("forward", "backward")
POOLINGS = ("min", "max", "mean")


def language_model(folder: Path, way: str):
    """Flair's object around the weights."""
    from flair.data import Dictionary
    from flair.models import LanguageModel

    dictionary = Dictionary(add_unk=False)
    for character in json.loads((folder / "chars.json").read_text(encoding="utf-8")):
        dictionary.add_item(character)
    dictionary.add_unk = True
    [file] = folder.glob(f"*{way}*.safetensors")
    tensors = load_file(file)
    size, embedding = tensors["rnn.weight_hh_l0"].shape[1], tensors["encoder.weight"].shape[1]
    model = LanguageModel(dictionary, way == "forward", size, 1, embedding, dropout=0.25)
    model.load_state_dict(tensors)
    return model.eval()


def features(embeddings, texts: list[list[str]], batch: int) -> tuple[np.ndarray, float, float]:
    """All words' vectors, batch after batch, and the seconds and processor seconds for them."""
    from flair.data import Sentence

    sentences = [Sentence(words) for words in texts]
    start, start_cpu = time.perf_counter(), time.process_time()
    for at in range(0, len(sentences), batch):
        for embedding in embeddings:
            embedding.embed(sentences[at : at + batch])
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    names = [name for embedding in embeddings for name in embedding.get_names()]
    found = [
        torch.cat([token.get_embedding([name]) for name in names])
        for sentence in sentences
        for token in sentence
    ]
    return torch.stack(found).cpu().numpy(), seconds, cpu


def main() -> None:
    """Compute and write everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    import flair
    from flair.embeddings import FlairEmbeddings, PooledFlairEmbeddings

    torch.set_num_threads(1)
    flair.device = torch.device("cpu")
    texts = json.loads(options.sentences.read_text(encoding="utf-8"))
    models = {way: language_model(options.models, way) for way in WAYS}
    for way, model in models.items():
        model.save(options.out / f"{way}.pt")
        saved = torch.load(options.out / f"{way}.pt", weights_only=False)
        torch.save(saved, options.out / f"{way}-old.pt", _use_new_zipfile_serialization=False)
    plain = [FlairEmbeddings(models[way]) for way in WAYS]
    rounds = [features(plain, texts, options.batch) for _ in range(options.rounds)]
    np.save(options.out / "plain.npy", rounds[0][0])
    for pooling in POOLINGS:
        pooled = [PooledFlairEmbeddings(FlairEmbeddings(models[way]), pooling) for way in WAYS]
        np.save(options.out / f"{pooling}.npy", features(pooled, texts, options.batch)[0])
    times = {"flair": flair.__version__, "rounds": [one[1:] for one in rounds]}
    (options.out / "times.json").write_text(json.dumps(times))


if __name__ == "__main__":
    main()
