"""What words of a task become: features of parts that are computed once, and embedders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from cellwright.base.progress import Progress
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.disk_room import check_room
from cellwright.embeddings.settings import (
    CharactersSettings,
    EmbeddingSettings,
    TableSettings,
    TransformerSettings,
    VectorsSettings,
)
from cellwright.models.words import Embedder
from cellwright.tasks.words.embedders import HandedOn, LearnedOn, Mixed, WordTable, spelled
from cellwright.tasks.words.features import NOT_POOLED, InOrder, Known, Source
from cellwright.tasks.words.pooling import full_width
from cellwright.tasks.words.sources import sources
from cellwright.tasks.words.spellings import Spellings


class KnownWords:
    """What the words of a task's data become.

    Args:
        settings: of embeddings, side by side.
        vocabulary: the words of all parts.
        characters: of these.
        progress: told while features are computed for the first time.
        per_example: how many sentences belong together, one behind the other; see `sources`.
        pieces_of: the encoder whose pieces the words are, if they are no ordinary words.

    Attributes:
        sources: of the features that do not change.
    """

    def __init__(
        self,
        settings: Sequence[EmbeddingSettings],
        vocabulary: Vocabulary,
        characters: Vocabulary,
        progress: Progress | None = None,
        *,
        per_example: int = 1,
        pieces_of: str | None = None,
    ) -> None:
        self._settings, self._vocabulary, self._characters = settings, vocabulary, characters
        self._progress = progress
        self.sources: list[Source] = list(
            sources(settings, vocabulary, progress, per_example=per_example, pieces_of=pieces_of)
        )
        self._features: dict[str, list[Known]] = {}

    @cached_property
    def spellings(self) -> Spellings | None:
        """How words are written, if an embedding wants that."""
        wanted = any(isinstance(one, CharactersSettings) for one in self._settings)
        return Spellings(self._vocabulary, self._characters) if wanted else None

    @property
    def pools(self) -> bool:
        """Whether features of a word depend on what it was in the training part."""
        return any(each.pooling != NOT_POOLED for each in self.sources)

    @property
    def identities(self) -> dict[str, str]:
        """A hash of each frozen model that words become features by."""
        return {each.name: each.identity for each in self.sources}

    def features(self, name: str, part: InOrder, parts: Iterable[InOrder]) -> list[Known]:
        """What is known of the words of a whole part.

        Args:
            name: of the part; its features are had once.
            part: its words.
            parts: all of them. Before the first features are computed there has to be room for
                those of all parts.
        """
        if name not in self._features:
            if not self._features:
                self._check_room(parts)
            self._features[name] = [
                Known(each.name, each.width, each.of(part, self._progress), each.pooling)
                for each in self.sources
            ]
        return self._features[name]

    def _check_room(self, parts: Iterable[InOrder]) -> None:
        half = all(getattr(one, "half", True) for one in self._settings)
        check_room(sum(each.missing(part) for part in parts for each in self.sources), half)

    def embedders(self, backend: str) -> Iterator[Embedder]:
        """Modules with fresh weights, one for each of the settings."""
        known = {each.name: each for each in self.sources}
        for number, one in enumerate(self._settings):
            name = f"{number}-{one.kind}"
            if isinstance(one, TableSettings):
                yield WordTable(self._vocabulary, one.width, one.least)
            elif isinstance(one, CharactersSettings):
                yield spelled(one, self._characters, backend)
            elif isinstance(one, VectorsSettings) and one.learn:
                yield LearnedOn(name, known[name].width, self._vocabulary)
            elif isinstance(one, TransformerSettings) and one.mix:
                layers = known[name].layers
                yield Mixed(name, layers, known[name].width // layers)
            else:
                yield HandedOn(name, full_width(known[name]))
