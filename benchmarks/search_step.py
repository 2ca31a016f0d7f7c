"""A step of DARTS' search: on which text, by whom, and whether both compute the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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
from cellwright.models.cell_model import detached
from cellwright.models.language_model import TextBatch
from cellwright.models.settings import OneLayerSettings
from cellwright.search.gradient.records import SearchEpoch
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.tasks.language.task import LanguageTask

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


class Setup(NamedTuple):
    """All that decides a search but its seed."""

    task: LanguageTask
    model: OneLayerSettings
    settings: DifferentiableSettings

    def search(self, seed: int, backend: str = "auto") -> DifferentiableSearch:
        """A search before its first step."""
        return DifferentiableSearch(self.task, self.model, self.settings, seed, backend)


def setup_of(corpus: Corpus, shape: Shape, nodes: int, **model: Any) -> Setup:
    """DARTS' search on PTB, in segments of one length."""
    values = {
        "search.nodes": nodes,
        "search.batch": shape.batch,
        "task.bptt": shape.steps,
        "task.bptt_shortest": 1,
        "task.bptt_halve": 0.0,
        "model.hidden": shape.hidden,
        **{f"model.{name}": value for name, value in model.items()},
    }
    recipe = load_search_recipe("darts-ptb", [f"{key}={value}" for key, value in values.items()])
    return Setup(LanguageTask(corpus, recipe.task), recipe.model, recipe.search)


class Ours:
    """Our search; `step` is a step of the architecture and one of the weights."""

    def __init__(self, setup: Setup) -> None:
        self._events = self._endless(setup)

    @staticmethod
    def _endless(setup: Setup) -> Iterator[Any]:
        for seed in itertools.count():  # a search that ends, or diverges, is followed by another
            yield from setup.search(seed).run()

    def step(self) -> float:
        """Do it; the loss of the weights. What comes after an epoch is no part of a step."""
        event = next(self._events)
        return self.step() if isinstance(event, SearchEpoch) else event.loss


class Plain:
    """DARTS' search as its code does it: first order, all gradients in both steps."""

    def __init__(self, setup: Setup) -> None:
        self._settings = settings = setup.settings
        self.model, self._alpha, self._weights = plain_model(setup.search(seed=0))
        self._sgd = torch.optim.SGD(
            self._weights, lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self._adam = torch.optim.Adam(
            [self._alpha],
            lr=settings.architecture_rate_intra,
            weight_decay=settings.architecture_decay,
        )
        self._train = segments(setup.task.ordered("train", settings.batch))
        self._valid = segments(setup.task.ordered("valid", settings.batch))
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
        self._states[what] = detached(state)
        return loss


def segments(batches: Sequence[TextBatch]) -> Iterator[tuple[Tensor, Tensor]]:
    """Words and those that follow them, from the start once done; a shorter rest is left out."""
    whole = len(batches) - (len(batches[-1].tokens) < len(batches[0].tokens))
    for number in itertools.cycle(range(whole)):
        batch = batches[number]
        yield batch.tokens, batch.targets


def plain_model(
    search: DifferentiableSearch,
) -> tuple[PlainLanguageModel, nn.Parameter, list[nn.Parameter]]:
    """The plain model with the weights and variables of ours; its α, and its weights."""
    settings = search.settings
    alpha = nn.Parameter(torch.cat([v.detach() for v in search.variables.intra.values()]))
    loop = DartsSupernetLoop(search.model.recurrent, settings.nodes, settings.operations)
    layer = LoopLayer(loop, search.model.settings, alpha)
    model = PlainLanguageModel(search.model, layer)
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
    _difference(setup_of(corpus, few, nodes, **none), "torch", torch.float64, 1e-9)
    single = [
        _difference(setup_of(corpus, few, nodes, **model), "native", torch.float32, 1e-4)
        for model in (none, light)
    ]
    return max(single)


def _difference(setup: Setup, backend: str, dtype: torch.dtype, tolerance: float) -> float:
    search = setup.search(seed=0, backend=backend)
    with torch.no_grad():  # so large that every term shows
        for parameter in (*search.model.parameters(), *search.variables.parameters()):
            parameter.uniform_(-0.2, 0.2)
    plain = plain_model(search)[0].double()
    ours, variables = search.model.to(dtype), search.variables.to(dtype)
    text = next(segments(setup.task.ordered("train", setup.settings.batch)))
    worst = 0.0
    for what in (ARCHITECTURE, WEIGHTS):
        ours.zero_grad()
        variables.zero_grad()
        torch.manual_seed(1)
        mean, penalty, _ = ours.text_loss(*text, theta=variables.theta())
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
