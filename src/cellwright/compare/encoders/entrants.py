"""Who is compared on a task: every encoder, and below them the baselines of their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.cell.cell import Node
from cellwright.cell.zoo import zoo
from cellwright.compare.contenders import Contender, contender
from cellwright.compare.encoders.encoder import Encoder, free_label
from cellwright.embeddings.settings import EmbeddingSettings, RunSettings, SgnsSettings
from cellwright.models.sentences.settings import BiRnnSettings, FrozenSettings, SentenceSettings
from cellwright.runs.recipes import Recipe, opened

NO_CELL = Cell([Node("h", "identity", ("x",))], states=["h"], name="bag-of-words")
"""That of a bag of words, which has none: it hands each word on as it is."""


class Entrants:
    """Encoders and baselines, each with the recipe that it is trained by.

    The baselines are those of NAS-Bench-NLP (section 4.2), for each text and width that the
    encoders have: the mean of SGNS' vectors under the same head, and an LSTM that learns the task
    from these vectors.

    Args:
        encoders: the runs.
        baselines: whether there are any.
    """

    def __init__(self, encoders: Sequence[Encoder], baselines: bool = True) -> None:
        self.encoders = tuple(encoders)
        self._taken = {one.label.lower() for one in encoders}
        texts = {(one.fingerprint, one.width): one for one in reversed(encoders)}
        self._baselines = [
            (self._label("sgns-bow", one), self._label("sgns-lstm", one), one)
            for one in encoders
            if baselines and texts[one.fingerprint, one.width] is one
        ]

    @property
    def baselines(self) -> tuple[str, ...]:
        """Their labels."""
        return tuple(label for *labels, _ in self._baselines for label in labels)

    def on(self, recipe: Recipe) -> tuple[Recipe, list[Contender]]:
        """All of them on the task of a recipe, and the recipe of the first.

        Raises:
            UserError: the recipe is none for frozen encoders.
        """
        recipe = opened(recipe).on(None)
        run, head = _parts(recipe)
        found = [
            Contender(
                one.label,
                one.cell,
                f"states of {one.path}",
                recipe=_with(recipe, run.model_copy(update={"run": one.path}), head),
            )
            for one in self.encoders
        ]
        for bag, lstm, one in self._baselines:
            vectors = SgnsSettings.model_validate({"run": one.path, "width": one.width})
            source = f"SGNS on {one.corpus}"
            mean = head.model_copy(update={"pooling": "mean"})
            bag_recipe, lstm_recipe = (_with(recipe, vectors, m) for m in (mean, _learning(head)))
            found += [
                Contender(bag, NO_CELL, f"mean of {source}", recipe=bag_recipe),
                Contender(lstm, zoo["lstm"], f"LSTM over {source}", recipe=lstm_recipe),
            ]
        assert found[0].recipe is not None
        return found[0].recipe, found

    def _label(self, what: str, one: Encoder) -> str:
        wanted = contender(one.cell, f"{what}-{one.corpus}-{one.width}").label
        label = free_label(wanted, self._taken)
        self._taken.add(label.lower())
        return label


def _parts(recipe: Recipe) -> tuple[RunSettings, FrozenSettings]:
    embeddings: Sequence[Any] = getattr(recipe.task, "embeddings", ())
    run, model = embeddings[0] if len(embeddings) == 1 else None, recipe.model
    if not isinstance(model, FrozenSettings) or not isinstance(run, RunSettings):
        raise UserError(
            f"{recipe.name} is no recipe for frozen encoders: its model has to be of kind 'frozen' "
            "and words become the states of one run"
        )
    return run, model


def _with(recipe: Recipe, embedding: EmbeddingSettings, model: SentenceSettings) -> Recipe:
    task = recipe.task.model_copy(update={"embeddings": (embedding,)})
    return recipe.model_copy(update={"task": task, "model": model})


def _learning(head: FrozenSettings) -> BiRnnSettings:
    """The model that learns in place of a frozen one: as wide in each direction as the head's
    projection."""
    return BiRnnSettings.model_validate(
        {
            "loss": head.loss,
            "hidden": head.projection,
            "layers": 1,
            "feed_forward": head.feed_forward,
            "dropout_input": head.dropout_input,
            "dropout_output": head.dropout_input,
            "dropout_classifier": head.dropout_projection,
        }
    )
