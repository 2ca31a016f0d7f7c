"""A language model that writes: what it draws from, how often it reads, and what it repeats."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.base.threads import threads_for
from cellwright.data import Vocabulary
from cellwright.models.awd import Awd
from cellwright.models.one_layer import OneLayer
from cellwright.models.settings import AwdSettings, OneLayerSettings
from cellwright.tasks.language.prompt import read_prompt, running_text
from cellwright.tasks.language.writer import _AT_ONCE, TextWriter

WORDS = ["the", "cat", ",", "is", "n't", "Ann", "N", "well-known", "<eos>", "<unk>"]
VOCABULARY = Vocabulary([*WORDS, *(f"w{i}" for i in range(30))], [1] * 40)
PROMPT = "The cat, w3 w4"

TWO_BACK = cw.Cell(
    [
        cw.Node("s", "linear", ("x", "x@2", "h0", "h0@3")),
        cw.Node("h", "tanh", ("s",)),
    ],
    states=["h"],
)


def writer(cell: Any = "lstm", kind: str = "one-layer", backend: str = "auto") -> TextWriter:
    """A model with weights that prefer some words to others."""
    found = cw.zoo[cell] if isinstance(cell, str) else cell
    with torch.random.fork_rng():
        torch.manual_seed(1)
        if kind == "awd":
            settings = AwdSettings(embedding=6, hidden=9, layers=2)
            model: Any = Awd(settings, found, len(VOCABULARY), backend)
        else:
            one = OneLayerSettings.model_validate({"hidden": 12})
            model = OneLayer(one, found, len(VOCABULARY), backend)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.6)
    return TextWriter(model, VOCABULARY)


def softmax_of_all(model: Any, words: list[str]) -> np.ndarray:
    """What the model makes of a whole text, by its own weights and torch's plain operations."""
    tokens = torch.tensor(VOCABULARY.encode(words), dtype=torch.long).unsqueeze(1)
    with torch.no_grad():
        output, _ = model.recur(model.embedding.weight[tokens], None, None)
        logits = output[-1, 0].double() @ model.embedding.weight.double().T
        return torch.softmax(logits + model.decoder_bias.double(), -1).numpy()


@pytest.mark.parametrize("kind", ["one-layer", "awd"])
@pytest.mark.parametrize("cell", ["lstm", "darts-v1", TWO_BACK])
def test_probabilities_are_the_softmax_of_the_models_logits(cell: Any, kind: str):
    native, plain = writer(cell, kind), writer(cell, kind, "torch")
    wanted = softmax_of_all(plain.model, list(read_prompt(PROMPT, VOCABULARY).words))
    found = native.next_word_probabilities(PROMPT, top=None)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose([found[word] for word in VOCABULARY], wanted, rtol=2e-4)
    assert list(native.next_word_probabilities(PROMPT, 3)) == list(found)[:3]


@pytest.mark.parametrize("cell", ["lstm", TWO_BACK])
def test_greedy_text_is_that_of_a_model_which_reads_all_again_for_each_word(cell: Any):
    one = writer(cell)
    words, found = list(read_prompt(PROMPT, VOCABULARY).words), []
    for word in one.generate(PROMPT, words=12, temperature=0, unk=True):
        found.append("<eos>" if word == "\n" else word)
    for _ in range(12):
        words.append(VOCABULARY.token(int(softmax_of_all(one.model, words).argmax())))
    assert words[-12:] == found
    assert len(set(found)) > 2


def test_the_prompt_is_read_once(monkeypatch: pytest.MonkeyPatch):
    one, read = writer(), []
    forward = one.model.forward

    def counted(tokens: Any, *rest: Any) -> Any:
        read.append(len(tokens))
        return forward(tokens, *rest)

    monkeypatch.setattr(one.model, "forward", counted)
    start = one.read("w1 " * 20)
    for seed in (0, 1):
        list(one.generate(start, words=5, seed=seed))
    assert read == [21, *[1] * 8]


def test_a_long_prompt_is_read_in_parts_to_the_same_end():
    one = writer("gru")
    prompt = " ".join(f"w{i * 7 % 30}" for i in range(_AT_ONCE + 40))
    wanted = softmax_of_all(writer("gru", backend="torch").model, ["<eos>", *prompt.split()])
    found = one.next_word_probabilities(prompt, top=None)
    np.testing.assert_allclose([found[word] for word in VOCABULARY], wanted, rtol=1e-3)


def test_a_seed_decides_the_words_whatever_the_number_of_threads():
    one = writer("darts-v1")
    torch.manual_seed(3)
    first = list(one.generate(PROMPT, words=40, seed=7))
    for threads in (2, 4):
        with threads_for(threads):
            torch.rand(5)  # what others draw does not matter
            assert list(one.generate(PROMPT, words=40, seed=7)) == first
            assert torch.get_num_threads() == threads
    assert list(one.generate(PROMPT, words=40, seed=8)) != first
    assert list(islice(one.generate(PROMPT, words=99, seed=7), 40)) == first


def test_several_texts_from_one_reading_do_not_disturb_each_other():
    one = writer()
    start = one.read(PROMPT)
    side_by_side = [one.generate(start, words=15, seed=seed) for seed in (0, 1)]
    turns = list(zip(*side_by_side, strict=True))
    for seed in (0, 1):
        assert [turn[seed] for turn in turns] == list(one.generate(PROMPT, words=15, seed=seed))


def test_unknown_words_are_written_only_if_they_may_be():
    one = writer()
    with torch.no_grad():
        one.model.decoder_bias[VOCABULARY.unk] = 50.0
    assert set(one.generate(words=5, unk=True)) == {"<unk>"}
    assert "<unk>" not in set(one.generate(words=60))
    assert next(iter(one.next_word_probabilities())) == "<unk>"
    with torch.no_grad():
        one.model.decoder_bias[VOCABULARY.eos] = 90.0
    assert list(one.generate(words=3)) == ["\n", "\n", "\n"]


def test_what_cannot_be_is_told_at_once():
    one = writer()
    for setting in ({"words": -1}, {"words": 2.5}, {"seed": -1}, {"temperature": -1}):
        with pytest.raises(UserError):
            one.generate(PROMPT, **setting)
    with pytest.raises(UserError, match="a prompt is a text, not 3"):
        one.generate(3)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="top is a whole number from 1 on"):
        one.next_word_probabilities(PROMPT, 0)
    assert list(one.generate(words=0)) == []
    with torch.no_grad():
        one.model.embedding.weight[3] = torch.nan
    with pytest.raises(UserError, match="not finite"):
        one.next_word_probabilities(PROMPT)


# -- prompts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words", "unknown"),
    [
        ("", "<eos>", ()),
        ("the cat", "<eos> the cat", ()),
        ("THE ann Ann", "<eos> the <unk> Ann", ("ann",)),
        ("the cat,", "<eos> the cat ,", ()),
        ("isn't", "<eos> is n't", ()),
        ("3,000.5 cats", "<eos> N <unk>", ("cats",)),
        ("well-known", "<eos> well-known", ()),
        ("un-heard-of! un-heard-of!", "<eos> <unk> <unk>", ("un-heard-of!",)),
        ("dog, dog, cat", "<eos> <unk> , <unk> , cat", ("dog",)),
        ("the <unk> <eos> cat", "<eos> the <unk> <eos> cat", ()),
        ("the\r\ncat\n", "<eos> the <eos> cat <eos>", ()),
    ],
)
def test_a_prompt_in_the_words_of_a_model(text: str, words: str, unknown: tuple[str, ...]):
    found = read_prompt(text, VOCABULARY)
    assert (" ".join(found.words), found.unknown) == (words, unknown)


def test_a_model_of_characters_reads_and_writes_characters():
    letters = Vocabulary(["a", "b", "␣", "<eos>", "<unk>"], [1] * 5)
    assert read_prompt("  a  b ", letters).words == ("<eos>", "a", "␣", "b", "␣")
    assert "".join(running_text(["a", "␣", "b", "\n", "a"], characters=True)) == "a b\na"
    assert not TextWriter(writer().model, VOCABULARY).characters
