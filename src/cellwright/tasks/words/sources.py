"""From the settings of embeddings to where features of words come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cellwright.base.plugins import Place, load
from cellwright.base.progress import Progress
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.encoder import Encoder
from cellwright.embeddings.flair_lm import CharacterModel, character_features
from cellwright.embeddings.settings import (
    EmbeddingSettings,
    FlairSettings,
    RunSettings,
    SgnsSettings,
    TransformerSettings,
    VectorsSettings,
)
from cellwright.embeddings.word_lm import WordModel
from cellwright.tasks.words.features import InSentences, Joined, OfWords, Source, Vectors

_RUNS = Place("cellwright.runs.word_model", "word_model")
"""What opens language models of cellwright's own. It stands above tasks, which import no runs."""

_SGNS = Place("cellwright.runs.word_model", "text_vectors")
"""What trains vectors on the text of such a model."""


def sources(
    settings: Sequence[EmbeddingSettings],
    words: Vocabulary,
    progress: Progress | None = None,
    *,
    per_example: int = 1,
    pieces_of: str | None = None,
) -> Iterator[Source]:
    """The sources of all features that do not change.

    Args:
        settings: of embeddings, side by side.
        words: the vocabulary.
        progress: told while vectors are read for the first time.
        per_example: how many sentences belong together. Of two, parts have the first, the second,
            the first of the next pair, and so on; encoders may read them together.
        pieces_of: the encoder whose pieces the words are, if they are no ordinary words.

    Raises:
        UserError: a file is not there, or damaged, or a package is not installed.
    """
    for number, one in enumerate(settings):
        name = f"{number}-{one.kind}"
        if isinstance(one, VectorsSettings):
            yield Vectors(name, one, words, progress)
        elif isinstance(one, FlairSettings):
            yield _flair(name, one, words)
        elif isinstance(one, TransformerSettings):
            encoder = Encoder(one, per_example, pieces_of)
            yield InSentences(
                name, words, encoder.width, encoder.features, layers=len(encoder.layers)
            )
        elif isinstance(one, RunSettings):
            yield _run(name, one, words)
        elif isinstance(one, SgnsSettings):
            yield OfWords(name, words, load(_SGNS)[0](one, progress))


def _flair(name: str, settings: FlairSettings, words: Vocabulary) -> InSentences:
    models = [CharacterModel(model) for model in settings.models]
    width = sum(model.size for model in models)
    return InSentences(
        name,
        words,
        width,
        lambda texts: character_features(models, texts, settings.half),
        pooling=settings.pooling,
    )


def _run(name: str, settings: RunSettings, words: Vocabulary) -> Source:
    model: WordModel = load(_RUNS)[0](settings.run)
    states = InSentences(
        name, words, model.size, lambda texts: model.features(texts, settings.half)
    )
    if not settings.with_input:
        return states
    return Joined(name, [states, OfWords(name, words, model.input)])
