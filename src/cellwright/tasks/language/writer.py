"""A trained language model that writes: the words that are likely to come next, one by one.

The prompt is read once; from then on each word costs one step from the state that is carried. All
is computed with one thread, so that the same seed gives the same text on any number of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.base.errors import UserError, shown
from cellwright.base.seeds import checked_seed
from cellwright.base.threads import threads_for
from cellwright.data.vocabulary import Vocabulary
from cellwright.models.cell_model import Carried
from cellwright.models.language_model import LanguageModel
from cellwright.tasks.language.prompt import LINE, read_prompt, running_text, spells
from cellwright.tasks.language.word_choice import WordChoice

_AT_ONCE = 512
"""Words of a prompt that are read in one call, so that a long one needs little memory."""


@dataclass(frozen=True, eq=False)
class Position:
    """Where a model is in a text: what it gives each word to come next, and its state.

    `unknown` are words of the text that it does not know, each once.
    """

    scores: NDArray[np.float32]
    state: Carried
    unknown: tuple[str, ...] = ()


class TextWriter:
    """Writes with a language model.

    Args:
        model: with its trained weights; it is frozen here.
        vocabulary: what its numbers mean.
    """

    def __init__(self, model: LanguageModel, vocabulary: Vocabulary) -> None:
        self.model = model.eval().requires_grad_(False)
        self.vocabulary = vocabulary
        self.characters = spells(vocabulary)

    def read(self, prompt: str = "") -> Position:
        """Read a text, behind the end of a line; an empty one is the beginning of a line."""
        if not isinstance(prompt, str):
            raise UserError(f"a prompt is a text, not {shown(prompt)}")
        found = read_prompt(prompt, self.vocabulary)
        return self._step(self.vocabulary.encode(found.words), None, found.unknown)

    def next_word_probabilities(
        self, prompt: str | Position = "", top: int | None = 10
    ) -> dict[str, float]:
        """The likeliest next words with their probabilities, likeliest first.

        They are the model's own: the softmax of what it gives each of its words, `<eos>` for an end
        of line and `<unk>` for any rare word among them.

        Args:
            prompt: what stands before, or where `read` has come to.
            top: how many; None for all.
        """
        if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
            raise UserError(f"top is a whole number from 1 on, or None for all, not {shown(top)}")
        at = self.read(prompt) if not isinstance(prompt, Position) else prompt
        chances = WordChoice().chances(at.scores)
        order = np.argsort(-chances, kind="stable")[:top]
        return {self.vocabulary.token(int(word)): float(chances[word]) for word in order}

    def generate(
        self,
        prompt: str | Position = "",
        *,
        words: int = 100,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        unk: bool = False,
    ) -> Iterator[str]:
        """Words that the model goes on with, one by one; an end of a line is `"\\n"`.

        Args:
            prompt: what stands before, or where `read` has come to.
            words: how many; an end of a line counts as one.
            temperature: see `WordChoice`, as for the next two.
            top_k: likewise.
            top_p: likewise.
            seed: decides what is drawn.
            unk: whether `<unk>`, which stands for every rare word, may be drawn.

        Raises:
            UserError: a value is none that it can have.
        """
        choice = WordChoice(temperature, top_k, top_p)
        if isinstance(words, bool) or not isinstance(words, int) or words < 0:
            raise UserError(f"words is a whole number from 0 on, not {shown(words)}")
        random = np.random.Generator(np.random.PCG64(checked_seed(seed)))
        at = self.read(prompt) if not isinstance(prompt, Position) else prompt
        return self._words(at, words, choice, random, () if unk else (self.vocabulary.unk,))

    def text(self, words: Iterator[str] | Sequence[str], begun: bool = False) -> Iterator[str]:
        """Words as running text, piece by piece; `begun` if something stands before them."""
        return running_text(words, self.characters, begun)

    def _words(
        self,
        at: Position,
        words: int,
        choice: WordChoice,
        random: np.random.Generator,
        forbidden: Sequence[int],
    ) -> Iterator[str]:
        for left in range(words, 0, -1):
            word = choice.draw(at.scores, random, forbidden)
            yield LINE if word == self.vocabulary.eos else self.vocabulary.token(word)
            if left > 1:
                at = self._step(np.array([word]), at.state)

    def _step(
        self, numbers: NDArray[np.integer], state: Carried | None, unknown: tuple[str, ...] = ()
    ) -> Position:
        tokens = torch.from_numpy(numbers.astype(np.int64)).unsqueeze(1)
        with torch.no_grad(), threads_for(1):
            for start in range(0, len(tokens), _AT_ONCE):
                hidden = self.model(tokens[start : start + _AT_ONCE], state)
                state = hidden.state
            scores = self.model.scores(hidden.dropped[-1, 0])
        assert state is not None
        return Position(scores.numpy(), state, unknown)
