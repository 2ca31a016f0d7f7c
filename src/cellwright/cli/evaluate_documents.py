"""What `cellwright evaluate` says, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellwright.cli.figures import metric_document

if TYPE_CHECKING:
    from cellwright.cli.evaluate_tables import Scored
    from cellwright.runs.texts import Evaluation
    from cellwright.runs.trained import Trained


def language_document(found: Evaluation, other: Evaluation | None) -> dict[str, Any]:
    """Of a language model, or of two on the same words."""
    words = _words(found)
    if other is None:
        return {"run": _figures(found), "words": words}
    for row, against in zip(words, _words(other), strict=True):
        row["loss_against"] = against["loss"]
        row["difference"] = (row["loss"] - against["loss"]) / row["count"]
    return {"run": _figures(found), "against": _figures(other), "words": words}


def scored_document(scored: Scored) -> dict[str, Any]:
    """Of a model of any other task."""
    return {
        **_run_document(scored.trained, scored.part, scored.loss),
        "figures": scored.figures,
        "seconds": scored.seconds,
    }


def _run_document(trained: Trained, part: str, loss: float) -> dict[str, Any]:
    """What all evaluations say."""
    info, metric = trained.folder.info, trained.task.metric
    return {
        "path": str(trained.folder.path),
        "cell": info.cell.name or info.cell.id,
        "epoch": trained.epoch,
        "task": info.recipe.task.kind,
        "data": info.data.name,
        "part": part,
        "metric": metric_document(metric),
        "loss": loss,
        "value": metric.value(loss),
    }


def _figures(found: Evaluation) -> dict[str, Any]:
    from cellwright.tasks.language.words import by_frequency

    return {
        **_run_document(found.trained, found.text.part, found.words.mean),
        "data": found.text.corpus.name,
        "batch": found.batch,
        "tokens": found.words.tokens,
        "unknown": found.text.unknown,
        "seconds": found.seconds,
        "by_training_count": [
            {
                "least": group.least,
                "most": group.most,
                "types": group.types,
                "tokens": group.tokens,
                "loss": group.loss,
            }
            for group in by_frequency(found.words)
        ],
    }


def _words(found: Evaluation) -> list[dict[str, Any]]:
    from cellwright.tasks.language.words import most_frequent

    words = found.words
    return [
        {
            "word": words.vocabulary.token(word),
            "training_count": int(words.vocabulary.counts[word]),
            "count": int(words.counts[word]),
            "loss": float(words.losses[word]),
        }
        for word in most_frequent(words, len(words.vocabulary)).tolist()
    ]
