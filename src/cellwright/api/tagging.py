"""Using a trained tagger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cellwright.api.results import TrainedRun
from cellwright.api.training import load
from cellwright.base.errors import UserError
from cellwright.runs.folder import RUNS
from cellwright.tasks.tagging.use import TaggedSentence


def tag(
    run: TrainedRun | Path | str,
    sentences: Iterable[Sequence[str] | str],
    *,
    probabilities: bool = False,
    runs: Path | str = RUNS,
) -> list[TaggedSentence]:
    """Tag sentences with a run's best weights.

    The run's folder is enough; pretrained vectors and models that it uses have to be there. For
    more sentences than fit into memory, `run.tagger.tag(sentences)` gives one after the other.

    Args:
        run: a run of a tagger, its folder or its name. A `TrainedRun` is loaded once.
        sentences: each a list of words, or a text, which is split into words.
        probabilities: whether to say how likely the tag of each word is.
        runs: where runs are.

    Raises:
        UserError: there is no such run, it is no tagger, or something is no sentence.
    """
    if isinstance(sentences, str):
        raise UserError("sentences are a list: [text], or [[word, word], …]")
    known = run if isinstance(run, TrainedRun) else load(run, runs=runs)
    return list(known.tagger.tag(sentences, probabilities=probabilities))
