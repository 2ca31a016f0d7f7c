"""Flair's character language models give what a plain nn.LSTM gives, read as Flair reads it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from cellwright.embeddings import text_states
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.flair_files import find_model
from cellwright.embeddings.flair_lm import CharacterModel, kept_states
from cellwright.embeddings.pooled import WordMemory

CHARACTERS = ["<unk>", " ", "\n", "a", "b", "c", "ä", "."]
SENTENCES = [
    ["a", "cab", "."],
    ["ab"],
    [],
    ["ä", "日本", "bc", "b", "c" * 40, "."],
    ["b", "a"],
    ["ab", "ä", "cab", "☃", "."],
]
WORDS = [word for sentence in SENTENCES for word in sentence]


def random_weights(kind: type[nn.LSTM] | type[nn.GRU] = nn.LSTM, hidden: int = 6, layers: int = 1):
    torch.manual_seed(hidden)
    rnn = kind(5, hidden, layers)
    weights = {f"rnn.{name}": tensor.detach() * 3 for name, tensor in rnn.named_parameters()}
    weights["encoder.weight"] = torch.randn(len(CHARACTERS), 5)
    weights["decoder.weight"] = torch.randn(len(CHARACTERS), hidden)
    return weights


@pytest.fixture
def write(tmp_path: Path):
    def written(name: str = "my-forward.safetensors", characters=CHARACTERS, **weights) -> Path:
        save_file(
            {k: v.contiguous() for k, v in (weights or random_weights()).items()}, tmp_path / name
        )
        (tmp_path / "chars.json").write_text(json.dumps(characters))
        return tmp_path / name

    return written


def by_hand(weights, sentences, forwards: bool, kind=nn.LSTM, characters=CHARACTERS):
    """One sentence after the other, whole, by PyTorch's own module, looked up as Flair does."""
    layers = sum("weight_ih" in name for name in weights)
    width, hidden = weights["encoder.weight"].shape[1], weights["rnn.weight_hh_l0"].shape[1]
    rnn = kind(width, hidden, layers)
    rnn.load_state_dict({k[4:]: v for k, v in weights.items() if k.startswith("rnn.")})
    found = []
    for words in sentences:
        text = " ".join(words)
        read = "\n" + (text if forwards else "".join(reversed(text))) + " "
        ids = torch.tensor([characters.index(c) if c in characters else 0 for c in read])
        with torch.no_grad():
            output = rnn(weights["encoder.weight"][ids].unsqueeze(1))[0].squeeze(1)
        end, begin = 1, len(text) + 1
        for word in words:
            end += len(word)
            found.append(output[end if forwards else begin])
            end += 1
            begin -= len(word) + 1
    return torch.stack(found)


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("forwards", [True, False])
@pytest.mark.parametrize(("kind", "layers"), [(nn.LSTM, 1), (nn.LSTM, 2), (nn.GRU, 1)])
def test_states_are_those_of_plain_torch(write, forwards: bool, backend: str, kind, layers: int):
    weights = random_weights(kind, layers=layers)
    path = write(f"my-{'forward' if forwards else 'backward'}.safetensors", **weights)
    found = CharacterModel(path, backend=backend).states(SENTENCES)
    expected = by_hand(weights, SENTENCES, forwards, kind)
    assert found.shape == (len(WORDS), 6)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("batch", "steps"), [(1, 64), (2, 3), (64, 1), (3, 7)])
def test_batches_and_pieces_change_nothing(write, monkeypatch, batch: int, steps: int):
    model = CharacterModel(write())
    expected = model.states(SENTENCES)
    monkeypatch.setattr(text_states, "BATCH", batch)
    monkeypatch.setattr(text_states, "STEPS", steps)
    torch.testing.assert_close(model.states(SENTENCES), expected, atol=1e-6, rtol=0)


def test_a_projection_is_applied(write):
    weights = random_weights()
    extra = {"proj.weight": torch.randn(4, 6), "proj.bias": torch.randn(4)}
    model = CharacterModel(write(**weights, **extra))
    expected = by_hand(weights, SENTENCES, True) @ extra["proj.weight"].T + extra["proj.bias"]
    assert model.size == 4
    torch.testing.assert_close(model.states(SENTENCES), expected, atol=1e-5, rtol=0)


def test_making_a_model_draws_no_random_numbers(write):
    path = write()
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    CharacterModel(path)
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize("zipped", [True, False])
def test_flairs_own_file_is_read(tmp_path: Path, flair_dictionary, zipped: bool):
    dictionary = flair_dictionary(CHARACTERS)
    weights = random_weights()
    value = {"state_dict": weights, "dictionary": dictionary, "is_forward_lm": False}
    value |= {"hidden_size": 6, "nlayers": 1, "nout": None, "document_delimiter": "\n"}
    torch.save(value, tmp_path / "model.pt", _use_new_zipfile_serialization=zipped)
    model = CharacterModel(tmp_path / "model.pt")
    assert not model.forwards
    expected = by_hand(weights, SENTENCES, False)
    torch.testing.assert_close(model.states(SENTENCES), expected, atol=1e-6, rtol=0)


def test_states_are_computed_once(write, monkeypatch):
    path = write()
    weights = random_weights()
    models = [CharacterModel(path), CharacterModel(path, forwards=False)]
    first = kept_states(models, SENTENCES)
    expected = torch.cat([by_hand(weights, SENTENCES, way) for way in (True, False)], 1)
    np.testing.assert_allclose(first, expected.numpy(), atol=1e-6)
    monkeypatch.setattr(CharacterModel, "states", lambda *_: pytest.fail("computed again"))
    again = kept_states(models, SENTENCES)
    assert isinstance(again, np.memmap)
    np.testing.assert_array_equal(again, first)


def test_states_of_other_sentences_or_models_are_others(write):
    models = [CharacterModel(write()), CharacterModel(write(), forwards=False)]
    halves = kept_states(models[:1], [["a"], ["b"]]), kept_states(models[:1], [["a", "b"]])
    assert not np.array_equal(*halves)
    assert kept_states(models[1:], [["a", "b"]])[0, 0] != halves[1][0, 0]


def test_no_sentences_have_no_states(write):
    assert CharacterModel(write()).states([]).shape == (0, 6)
    assert kept_states([CharacterModel(write())], [[]]).shape == (0, 6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"encoder.weight": None}, "it has no encoder.weight"),
        ({"encoder.weight": torch.ones(3, 5)}, "other characters than vectors"),
        ({"encoder.weight": torch.ones(8, 4)}, "its layers take other vectors than it has"),
        ({"encoder.weight": torch.full((8, 5), float("nan"))}, "not finite"),
        ({"rnn.weight_hh_l0": torch.ones(25, 6)}, "neither of an LSTM nor of a GRU"),
        ({"rnn.bias_ih_l0": torch.ones(3)}, "bias_ih_l0"),
        ({"rnn.bias_hh_l0": None}, "bias_hh_l0"),
        ({"proj.weight": torch.ones(3, 5), "proj.bias": torch.ones(3)}, "its projection"),
    ],
)
def test_weights_that_do_not_fit_are_an_error(write, change, message: str):
    weights = {k: v for k, v in (random_weights() | change).items() if v is not None}
    path = write(**weights)
    with pytest.raises(EmbeddingError, match=message) as caught:
        CharacterModel(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_bad_files_are_errors(write, tmp_path: Path, monkeypatch):
    with pytest.raises(EmbeddingError, match="either forward or backward"):
        CharacterModel(write("model.safetensors"))
    with pytest.raises(EmbeddingError, match=r"chars\.json: is no list of characters"):
        CharacterModel(write(characters={"a": 1}))
    path = write()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(EmbeddingError, match="is cut off, or no safetensors file"):
        CharacterModel(path)
    (tmp_path / "chars.json").unlink()
    write_again = write(**random_weights())
    (tmp_path / "chars.json").unlink()
    with pytest.raises(EmbeddingError, match=r"chars\.json: no such file"):
        CharacterModel(write_again)
    torch.save({"state_dict": {}}, tmp_path / "model.pt")
    with pytest.raises(EmbeddingError, match="is no character language model of Flair's"):
        CharacterModel(tmp_path / "model.pt")
    with pytest.raises(EmbeddingError, match="did you mean 'news-forward-fast'"):
        find_model("news-forwards-fast")
    with pytest.raises(EmbeddingError, match="is a folder"):
        find_model(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path))
    with pytest.raises(EmbeddingError, match=r"take news-forward-0\.4\.1\.pt from https"):
        find_model("news-forward")


@pytest.mark.parametrize("wrong", ["a text", ["a text"], [["a", 3]]])
def test_sentences_are_lists_of_words(write, wrong):
    with pytest.raises(EmbeddingError, match="a sentence has to be a list of words"):
        CharacterModel(write()).states(wrong)


def test_the_real_models_read_as_plain_torch_does():
    data = os.environ.get("CELLWRIGHT_DATA")
    if not data or not (Path(data) / "flair-news-fast").is_dir():
        pytest.skip("CELLWRIGHT_DATA has no flair-news-fast")
    sentences = [["The", "cat", "sat", "."], ["1½", "Zürich"]]
    for way in ("forward", "backward"):
        path = find_model(f"news-{way}-fast")
        characters = json.loads((path.parent / "chars.json").read_text(encoding="utf-8"))
        expected = by_hand(load_file(path), sentences, way == "forward", characters=characters)
        found = CharacterModel(path).states(sentences)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


# -- pooled ----------------------------------------------------------------------------


def pooled_by_hand(batches, pooling: str):
    """Word by word, as the paper has it."""
    memory: dict[str, list[np.ndarray]] = {}
    fold = {"min": np.min, "max": np.max, "mean": np.mean}[pooling]
    result = []
    for words, states in batches:
        for word, state in zip(words, states.numpy(), strict=True):
            memory.setdefault(word, []).append(state)
        for word, state in zip(words, states.numpy(), strict=True):
            result.append(np.concatenate([fold(memory[word], axis=0), state]))
    return np.stack(result)


@pytest.mark.parametrize("pooling", ["min", "max", "mean"])
def test_pooled_vectors_are_of_all_batches_so_far(pooling: str):
    generator = torch.Generator().manual_seed(3)
    texts = [["a", "b", "a"], ["c"], [], ["A", "a", "c", "d", "e", "f", "g"], ["b", "b", "b", "a"]]
    batches = [(words, torch.randn(len(words), 4, generator=generator)) for words in texts]
    memory = WordMemory(4, pooling)
    found = torch.cat([memory.with_pooled(*batch) for batch in batches])
    np.testing.assert_allclose(found.numpy(), pooled_by_hand(batches, pooling), atol=1e-6)
    assert len(memory) == 8
    memory.empty()
    assert len(memory) == 0
    again = torch.cat([memory.with_pooled(*batch) for batch in batches])
    assert torch.equal(again, found)


def test_bad_uses_of_the_memory_are_errors():
    with pytest.raises(EmbeddingError, match="unknown pooling 'minimum'"):
        WordMemory(4, "minimum")
    memory = WordMemory(4)
    with pytest.raises(EmbeddingError, match=r"of the shape \(1, 4\), not \(1, 3\)"):
        memory.add(["a"], torch.ones(1, 3))
    with pytest.raises(EmbeddingError, match="'a' has no pooled vector"):
        memory.pooled(["a"])
