"""Inputs that exported models are tried on, and what the originals make of them.

Inputs and outputs are named as in ONNX graphs; the classes of Python files call them the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cellwright.embeddings.characters import CharacterBatch
from cellwright.engine import Recurrent
from cellwright.export.model_parts import (
    NEXT,
    PADDING,
    as_state,
    as_tensors,
    feature_input,
    feature_width,
    is_stack,
    layer_prefixes,
    recurrent_layers,
    state_names,
    state_shape,
)
from cellwright.models.language_model import LanguageModel
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.models.tagger import TaggedBatch, Tagger
from cellwright.models.words import WordBatch
from cellwright.tasks.words.embedders import HandedOn, LearnedOn, Mixed, Spelled, WordTable

Arrays = dict[str, NDArray[Any]]
"""Inputs or outputs by name."""

LENGTHS = (5, 1, 3)
SENTENCE_LENGTHS = (5, 1, 3, 2, 4, 5)


@dataclass(frozen=True)
class Sample:
    """Inputs of a model, and what it gives for them."""

    inputs: Arrays
    outputs: Arrays


def sample_of(model: nn.Module) -> Sample:
    """Random inputs of a network or a model, which does not learn, and its outputs."""
    with torch.no_grad():
        if isinstance(model, Recurrent):
            return _of_network(model)
        if isinstance(model, LanguageModel):
            return _of_language_model(model)
        if isinstance(model, Tagger):
            return _of_tagger(model)
        assert isinstance(model, SentenceModel)
        return _of_sentence_model(model)


def largest_difference(found: Arrays, wanted: Arrays) -> float:
    """The largest difference, relative to the larger of 1 and the value; infinite if something else
    is wrong: a shape, a whole number, or what is not finite in one alone."""
    worst = 0.0
    for name, want in wanted.items():
        have = found[name]
        if have.shape != want.shape:
            return np.inf
        if want.dtype.kind != "f":
            if not np.array_equal(have, want):
                return np.inf
            continue
        same = (have == want) | (np.isnan(have) & np.isnan(want))
        with np.errstate(invalid="ignore"):
            gaps = np.where(same, 0.0, np.abs(have - want) / np.maximum(1.0, np.abs(want)))
        if gaps.size:
            worst = max(worst, float(np.where(np.isnan(gaps), np.inf, gaps).max()))
    return worst


def _arrays(values: dict[str, Tensor]) -> Arrays:
    return {name: value.detach().cpu().numpy() for name, value in values.items()}


# -- networks and language models --------------------------------------------------------------


def _random_state(rnn: Recurrent, batch: int, draw: torch.Generator) -> list[Tensor]:
    return [0.1 * torch.randn(size, generator=draw) for size in state_shape(rnn).sizes(batch)]


def _of_network(rnn: Recurrent) -> Sample:
    draw, lengths = torch.Generator().manual_seed(0), torch.tensor(LENGTHS)
    x = torch.randn(max(LENGTHS), len(LENGTHS), rnn.input_size, generator=draw)
    x = x.transpose(0, 1) if rnn.batch_first else x
    state = _random_state(rnn, len(LENGTHS), draw)
    y, new = rnn(x, as_state(rnn, state), lengths=lengths)
    names = state_names(rnn)
    given = {"x": x, "lengths": lengths, **dict(zip(names, state, strict=True))}
    wanted = dict(zip((NEXT + name for name in names), as_tensors(new), strict=True))
    assert isinstance(y, Tensor)
    return Sample(_arrays(given), _arrays({"y": y, **wanted}))


def _of_language_model(model: LanguageModel) -> Sample:
    """What the model itself makes of each text alone, up to its end. Behind that it has nothing to
    go by but how frequent words are."""
    draw, layers = torch.Generator().manual_seed(0), recurrent_layers(model)
    steps, batch = max(LENGTHS), len(LENGTHS)
    tokens = torch.randint(model.vocabulary_size, (steps, batch), generator=draw)
    states = [_random_state(layer, batch, draw) for layer in layers]
    chances = model.decoder_bias.log_softmax(0).expand(steps, batch, -1).clone()
    rows = []
    for row, length in enumerate(LENGTHS):
        own = [
            as_state(layer, [part[..., row : row + 1, :] for part in state])
            for layer, state in zip(layers, states, strict=True)
        ]
        text = tokens[:length, row : row + 1]
        found, after = model.next_words(text, tuple(own) if is_stack(model) else own[0])
        chances[:length, row] = found[:, 0].log()
        rows.append(as_tensors(after))
    new = [torch.cat(parts, -2) for parts in zip(*rows, strict=True)]
    names = [
        name
        for layer, before in zip(layers, layer_prefixes(layers), strict=True)
        for name in state_names(layer, before)
    ]
    given = {"tokens": tokens, "lengths": torch.tensor(LENGTHS)}
    given |= dict(zip(names, (part for state in states for part in state), strict=True))
    wanted = dict(zip((NEXT + name for name in names), new, strict=True))
    return Sample(_arrays(given), _arrays({"log_probabilities": chances, **wanted}))


# -- models of words ---------------------------------------------------------------------------


def _of_tagger(model: Tagger) -> Sample:
    words = _random_words(model.embedders, LENGTHS)
    batch = TaggedBatch(
        words.words, words.lengths, words.features, words.characters, tags=words.words * 0
    )
    scores = model.scores(batch)
    tags = torch.full(words.words.shape, PADDING)
    for row, best in enumerate(model.best(scores, words.lengths)):
        tags[: len(best), row] = torch.tensor(best)
    wanted = {"scores": scores.transpose(0, 1), "tags": tags}
    return Sample(_arrays(word_inputs(words, model.embedders)), _arrays(wanted))


def _of_sentence_model(model: SentenceModel) -> Sample:
    words = _random_words(model.embedders, SENTENCE_LENGTHS)
    examples = len(SENTENCE_LENGTHS) // model.per_example
    said = model.outputs(SentenceBatch(words, model.per_example, torch.zeros(examples)))
    wanted = {"outputs": said}
    if model.labels:
        wanted["probabilities"] = said.softmax(1)
    return Sample(_arrays(word_inputs(words, model.embedders)), _arrays(wanted))


def word_inputs(batch: WordBatch, embedders: Iterable[nn.Module]) -> dict[str, Tensor]:
    """A batch as the inputs of an exported model: those that it has."""
    found = {"lengths": batch.lengths}
    if any(isinstance(each, LearnedOn | WordTable) for each in embedders):
        found["words"] = batch.words
    for each in embedders:
        if isinstance(each, HandedOn | LearnedOn | Mixed):
            found[feature_input(each.name)] = batch.features[each.name]
    if batch.characters is not None:
        numbers, lengths, rows = batch.characters
        found |= {
            "characters": numbers,
            "character_lengths": lengths,
            "character_rows": rows.view(batch.words.shape),
        }
    return found


def _random_words(embedders: Iterable[nn.Module], lengths: tuple[int, ...]) -> WordBatch:
    """Sentences that say nothing, of these lengths, with all that embedders ask for."""
    draw, shape = torch.Generator().manual_seed(0), (max(lengths), len(lengths))
    words, features, characters = torch.zeros(shape, dtype=torch.long), {}, None
    for each in embedders:
        if isinstance(each, LearnedOn | WordTable):
            words = torch.randint(len(each.rows), shape, generator=draw)
        if isinstance(each, HandedOn | LearnedOn | Mixed):
            features[each.name] = torch.randn(*shape, feature_width(each), generator=draw)
        if isinstance(each, Spelled):
            known = each.module.table.num_embeddings
            numbers = torch.randint(1, known, (3, 4), generator=draw)
            rows = torch.randint(3, shape, generator=draw).reshape(-1)
            characters = CharacterBatch(numbers, torch.tensor([4, 1, 2]), rows)
    return WordBatch(words, torch.tensor(lengths), features, characters)
