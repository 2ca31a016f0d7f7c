"""A small corpus."""

import numpy as np
import pytest

from cellwright import data


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Sentences of a made-up language in which the next word is easy to guess."""
    folder = tmp_path_factory.mktemp("corpus")
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(25)]
    for part, lines in (("train", 60), ("valid", 12), ("test", 12)):
        text = []
        for _ in range(lines):
            at = int(rng.integers(25))
            text.append(" ".join(words[(at + 3 * step) % 25] for step in range(9)))
        (folder / f"{part}.txt").write_text("\n".join(text) + "\n")
    return data.load(str(folder))
