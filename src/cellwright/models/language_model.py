"""What the language models have in common: embeddings, tied decoder, dropouts, loss."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cellwright.engine import cross_entropy, surroundings
from cellwright.engine.checks import check_sizes
from cellwright.engine.linear import linear
from cellwright.models.cell_model import Carried, CellModel, Loss, Theta
from cellwright.models.dropout import embed, locked_dropout

EMBEDDING_RANGE = 0.1


class Hidden(NamedTuple):
    """The last layer's output (steps, batch, width) before and after dropout, and the state."""

    raw: Tensor
    dropped: Tensor
    state: Carried


class TextBatch(NamedTuple):
    """A segment of text.

    Words (steps, batch), the word that comes after each, and how many steps a full segment has.
    """

    tokens: Tensor
    targets: Tensor
    full: int

    @property
    def size(self) -> int:
        """How many words it predicts."""
        return self.tokens.numel()

    def rate(self, full: float) -> float:
        """A segment that is shorter than others takes a shorter step (Merity et al. 2018, 5)."""
        return full * len(self.tokens) / self.full


class LanguageModel(CellModel[TextBatch]):
    """Predicts each next word from all before it, with one matrix for embedding and decoder.

    A subclass says what stands between the two. Products are those of the engine alone, whose
    results are the same in every run.

    Args:
        vocabulary_size: how many words there are.
        width: of the embeddings, and of the last layer's output.
        dropout_words: on whole words (see `embed`).
        dropout_input: locked, on the embedding vectors.
        dropout_output: locked, on the last layer's output.
        ar: weight of the activation regularisation in the loss.
        tar: weight of the temporal activation regularisation in the loss.
        embedding_range: the embeddings start uniform in ± this.
        precision: of what the decoder's products multiply where losses are made.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        *,
        dropout_words: float,
        dropout_input: float,
        dropout_output: float,
        ar: float,
        tar: float,
        embedding_range: float = EMBEDDING_RANGE,
        precision: str = "float32",
    ) -> None:
        super().__init__()
        check_sizes(vocabulary_size=vocabulary_size)
        self.vocabulary_size = vocabulary_size
        self.dropout_words = dropout_words
        self.dropout_input = dropout_input
        self.dropout_output = dropout_output
        self.ar = ar
        self.tar = tar
        self.precision = precision
        weight = torch.empty(vocabulary_size, width).uniform_(-embedding_range, embedding_range)
        self.embedding = nn.Embedding(vocabulary_size, width, _weight=weight)
        self.decoder_bias = nn.Parameter(torch.zeros(vocabulary_size))

    @abstractmethod
    def zero_state(self, batch: int) -> Carried:
        """The state before the first word of a text."""

    @abstractmethod
    def recur(
        self, x: Tensor, state: Carried | None, theta: Theta | None
    ) -> tuple[Tensor, Carried]:
        """The recurrent layers: (steps, batch, width) to the same shape, and the new state."""

    def forward(
        self, tokens: Tensor, state: Carried | None = None, theta: Theta | None = None
    ) -> Hidden:
        """Read words.

        Args:
            tokens: (steps, batch), the words' numbers.
            state: what the segment before returned; zeros unless given.
            theta: for supernets; it applies to every layer.
        """
        self._check_tokens(tokens)
        x = embed(tokens, self.embedding, self.dropout_words, self.training)
        x = locked_dropout(x, self.dropout_input, self.training)
        raw, state = self.recur(x, state, theta)
        return Hidden(raw, locked_dropout(raw, self.dropout_output, self.training), state)

    def begin(self, batch: TextBatch) -> Carried:
        """The state before the first word of a text."""
        return self.zero_state(batch.tokens.shape[1])

    def loss(self, batch: TextBatch, carried: Carried, *, theta: Theta | None = None) -> Loss:
        """Mean nats a word of a segment; see `text_loss`."""
        return self.text_loss(batch.tokens, batch.targets, carried, theta=theta)

    def text_loss(
        self,
        tokens: Tensor,
        targets: Tensor,
        state: Carried | None = None,
        *,
        theta: Theta | None = None,
    ) -> Loss:
        """Mean nats per word, with gradient, and in training the penalty on activations.

        The penalty is AR on the dropped and TAR on the undropped output of the last layer
        (Merity et al. 2018, section 4.6).
        """
        _check_targets(tokens, targets)
        hidden = self(tokens, state, theta=theta)
        decoding = self._decoding(hidden, targets)
        mean = cross_entropy.linear_cross_entropy(*decoding, self.precision)
        return Loss(mean, self._penalty(hidden), hidden.state)

    @torch.no_grad()
    def token_losses(
        self,
        tokens: Tensor,
        targets: Tensor,
        state: Carried | None = None,
        *,
        theta: Theta | None = None,
    ) -> tuple[Tensor, Carried]:
        """Nats of each word (steps, batch), without gradient, and the new state."""
        _check_targets(tokens, targets)
        hidden = self(tokens, state, theta=theta)
        losses = cross_entropy.token_losses(*self._decoding(hidden, targets), self.precision)
        return losses.view(tokens.shape), hidden.state

    @torch.no_grad()
    def next_words(self, tokens: Tensor, state: Carried | None = None) -> tuple[Tensor, Carried]:
        """How likely each word is to come next (steps, batch, words), and the new state."""
        hidden = self(tokens, state)
        return self.scores(hidden.dropped).softmax(-1), hidden.state

    def scores(self, output: Tensor) -> Tensor:
        """What each word has, before the softmax, to come after the last layer's outputs."""
        return linear(output, self.embedding.weight, self.decoder_bias)

    def _decoding(self, hidden: Hidden, targets: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What the cross-entropy takes: the decoder's matrix is the embedding's."""
        rows = hidden.dropped.flatten(0, 1)
        return rows, self.embedding.weight, self.decoder_bias, targets.reshape(-1)

    def _penalty(self, hidden: Hidden) -> Tensor:
        penalty = hidden.raw.new_zeros(())
        if self.training and self.ar:
            penalty = penalty + self.ar * hidden.dropped.square().mean()
        if self.training and self.tar and len(hidden.raw) > 1:  # one step has no change
            penalty = penalty + self.tar * F.mse_loss(hidden.raw[1:], hidden.raw[:-1])
        return penalty

    def _check_tokens(self, tokens: Tensor) -> None:
        if tokens.dim() != 2 or not tokens.numel():
            raise ValueError(
                "tokens must be (steps, batch), with at least one of each, "
                f"not {tuple(tokens.shape)}"
            )
        if surroundings.transformed() is not None or not surroundings.ordinary([tokens]):
            return  # what the tokens are may not be looked at
        least, most = torch.aminmax(tokens)
        if int(least) < 0 or int(most) >= self.vocabulary_size:
            raise ValueError(f"a token is outside of the {self.vocabulary_size} words")


def _check_targets(tokens: Tensor, targets: Tensor) -> None:
    """The same number of words in another order would go unnoticed."""
    if targets.shape != tokens.shape:
        raise ValueError(
            f"targets must have the shape of tokens, {tuple(tokens.shape)}, "
            f"not {tuple(targets.shape)}"
        )
