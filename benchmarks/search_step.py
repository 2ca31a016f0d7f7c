"""A step of DARTS' search: on which text, by whom, and whether both compute the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from contenders import Shape
from plain_language_model import (
    NO_DROPOUT,
    LoopLayer,
    PlainLanguageModel,
    gradients_like,
    largest_difference,
)
from plain_supernets import DartsSupernetLoop
from torch import Tensor, nn
from training_step import running_text

from cellwright.data import Corpus, Vocabulary, load
from cellwright.data.sources import is_here
from cellwright.models import detach_state
from cellwright.search.gradient.reading import Texts
from cellwright.search.gradient.records import SearchEpoch
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.tasks.language.segments import even_segments

CONTENDERS = ("ours", "plain")
"""The search itself, and the same steps of the same supernet as DARTS' code writes them."""

ARCHITECTURE, WEIGHTS = "the architecture's step", "the weights' step"


def text_of(shape: Shape, words: int | None) -> Corpus:
    """PTB where it is on this machine; else, or for a given vocabulary, words by Zipf's law."""
    if words is None and is_here("ptb"):
        return load("ptb")
    text = running_text(shape, words)
    tokens = text.rows.numpy().T.reshape(-1).astype(np.int32)
    names = [f"w{number}" for number in range(text.words)]
    vocabulary = Vocabulary(names, np.bincount(tokens, minlength=text.words))
    return Corpus(text.name, "memory", tokens, tokens, tokens, vocabulary, {}, {})


def settings_of(shape: Shape, nodes: int, **model: Any) -> DifferentiableSettings:
    """DARTS' search on PTB, in segments of one length."""
    values = {"nodes": nodes, "batch": shape.batch, "bptt": shape.steps, "bptt_halve": 0.0}
    model = {"hidden": shape.hidden, **model}
    return DifferentiableSettings.model_validate({"kind": "darts", **values, "model": model})


class Ours:
    """Our search; `step` is a step of the architecture and one of the weights."""

    def __init__(self, corpus: Corpus, settings: DifferentiableSettings) -> None:
        self._events = self._endless(corpus, settings)

    @staticmethod
    def _endless(corpus: Corpus, settings: DifferentiableSettings) -> Iterator[Any]:
        for seed in itertools.count():  # a search that ends, or diverges, is followed by another
            yield from DifferentiableSearch(corpus, settings, seed).run()

    def step(self) -> float:
        """Do it; the loss of the weights. What comes after an epoch is no part of a step."""
        event = next(self._events)
        return self.step() if isinstance(event, SearchEpoch) else event.loss


class Plain:
    """DARTS' search as its code does it: first order, all gradients in both steps."""

    def __init__(self, corpus: Corpus, settings: DifferentiableSettings) -> None:
        self._settings = settings
        self.model, self._alpha, self._weights = plain_model(
            DifferentiableSearch(corpus, settings, seed=0)
        )
        self._sgd = torch.optim.SGD(
            self._weights, lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self._adam = torch.optim.Adam(
            [self._alpha],
            lr=settings.architecture_rate_intra,
            weight_decay=settings.architecture_decay,
        )
        texts = Texts.of(corpus, settings)
        self._train = segments(texts.weights, settings.bptt)
        self._valid = segments(texts.architecture, settings.bptt)
        self._states: dict[str, Any] = {ARCHITECTURE: None, WEIGHTS: None}

    def step(self) -> float:
        """The same for the plain model."""
        self.model.zero_grad(set_to_none=True)
        self._loss(ARCHITECTURE, next(self._valid)).backward()
        self._adam.step()
        self.model.zero_grad(set_to_none=True)
        loss = self._loss(WEIGHTS, next(self._train))
        loss.backward()
        assert self._settings.clip is not None
        nn.utils.clip_grad_norm_(self._weights, self._settings.clip)
        self._sgd.step()
        return loss.item()

    def _loss(self, what: str, text: tuple[Tensor, Tensor]) -> Tensor:
        state = self._states[what]
        loss, state = self.model(*text, state, penalty=what == WEIGHTS)
        self._states[what] = detach_state(state)
        return loss


def segments(text: Any, length: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Words and those that follow them, from the start once done."""
    rows = torch.from_numpy(np.ascontiguousarray(text).astype(np.int64))
    whole = [s for s in even_segments(len(rows), length) if s.length == length]
    for start, length in itertools.cycle(whole):
        yield rows[start : start + length], rows[start + 1 : start + 1 + length]


def plain_model(
    search: DifferentiableSearch,
) -> tuple[PlainLanguageModel, nn.Parameter, list[nn.Parameter]]:
    """The plain model with the weights and variables of ours; its α, and its weights."""
    settings = search.settings
    alpha = nn.Parameter(torch.cat([v.detach() for v in search.variables.intra.values()]))
    loop = DartsSupernetLoop(search.model.recurrent, settings.nodes, settings.operations)
    model = PlainLanguageModel(search.model, LoopLayer(loop, settings.model, alpha))
    return model, alpha, [p for p in model.parameters() if p is not alpha]


# -- are they equal? -----------------------------------------------------------------------


def same_as_plain(corpus: Corpus, shape: Shape, nodes: int) -> float:
    """Compare losses and gradients of both steps; the largest difference, in single precision.

    First in double precision on the torch backend, without dropout; then on the native core in
    single precision, without dropout and with the same masks. Light ones: a row of which little is
    left may be constant, and its norm nothing but rounding.

    Raises:
        UnequalError: if they differ by more than rounding.
    """
    none = {**NO_DROPOUT, "tar": 1.0}
    light = {**none, **dict.fromkeys(("dropout_x", "dropout_hidden", "dropout_output"), 0.2)}
    few = Shape(min(shape.steps, 4), 4, shape.hidden)
    _difference(corpus, settings_of(few, nodes, **none), "torch", torch.float64, 1e-9)
    single = [
        _difference(corpus, settings_of(few, nodes, **model), "native", torch.float32, 1e-4)
        for model in (none, light)
    ]
    return max(single)


def _difference(
    corpus: Corpus,
    settings: DifferentiableSettings,
    backend: str,
    dtype: torch.dtype,
    tolerance: float,
) -> float:
    search = DifferentiableSearch(corpus, settings, seed=0, backend=backend)
    with torch.no_grad():  # so large that every term shows
        for parameter in (*search.model.parameters(), *search.variables.parameters()):
            parameter.uniform_(-0.2, 0.2)
    plain = plain_model(search)[0].double()
    ours, variables = search.model.to(dtype), search.variables.to(dtype)
    text = next(segments(Texts.of(corpus, settings).weights, settings.bptt))
    worst = 0.0
    for what in (ARCHITECTURE, WEIGHTS):
        ours.zero_grad()
        variables.zero_grad()
        torch.manual_seed(1)
        mean, penalty, _ = ours.loss(*text, theta=variables.theta())
        total = mean + penalty if what == WEIGHTS else mean
        total.backward()
        plain.zero_grad()
        torch.manual_seed(1)
        loss, _ = plain(*text, None, penalty=what == WEIGHTS)
        loss.backward()
        by_alpha = torch.cat([matrix.grad for matrix in variables.intra.values()])
        found = {"loss": total.detach(), "layer.alpha": by_alpha, **gradients_like(plain, ours)}
        expected = {"loss": loss.detach(), **{n: p.grad for n, p in plain.named_parameters()}}
        worst = max(worst, largest_difference(what, found, expected, tolerance))
    return worst
