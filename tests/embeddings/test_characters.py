"""Words by their characters: as the papers' equations say, whatever the padding."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from cellwright.base.threads import threads_for
from cellwright.cell.zoo import zoo
from cellwright.embeddings.characters import (
    MOST_CHARACTERS,
    UNKNOWN,
    Alphabet,
    CharacterCell,
    CharacterCNN,
)
from cellwright.embeddings.errors import EmbeddingError
from cellwright.engine import Recurrent

WORDS = ["cat", "a", "cat", "Zürich", "", "tac", "a", "c" * 12]
ALPHABET = Alphabet.of(["cat", "Zurich", "act"])

CELLS = ["lstm", "gru", "rnn"]


def cell_module(name: str) -> CharacterCell:
    return CharacterCell(zoo[name], len(ALPHABET), size=7, hidden=5)


MODULES = {
    "cnn": lambda: CharacterCNN(len(ALPHABET), size=7, filters=4),
    "wide cnn": lambda: CharacterCNN(len(ALPHABET), size=7, filters=4, width=5),
    **{name: (lambda name=name: cell_module(name)) for name in CELLS},
}


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> nn.Module:
    torch.manual_seed(0)
    return MODULES[request.param]()


def test_an_alphabet_is_ordered_by_counts():
    assert Alphabet.of(["ba", "b", "c", "a", "b"]).characters == ("b", "a", "c")
    with pytest.raises(EmbeddingError, match="twice"):
        Alphabet(("a", "a"))


def test_a_batch_has_each_word_once():
    batch = ALPHABET.batch(WORDS)
    assert batch.numbers.shape == (6, 12)
    assert batch.rows.tolist() == [0, 1, 0, 2, 3, 4, 1, 5]
    assert batch.lengths.tolist() == [3, 1, 6, 1, 3, 12]
    assert batch.numbers[3, 0] == UNKNOWN
    read = [[2 + ALPHABET.characters.index(c) for c in "cat"]]
    assert batch.numbers[:1, :3].tolist() == read
    assert ALPHABET.batch(["x" * 10**6]).numbers.shape == (1, MOST_CHARACTERS)


def cnn_by_hand(module: CharacterCNN, numbers: list[int]) -> torch.Tensor:
    """Each filter at each place of one word, without padding."""
    weight, bias = module.filters.weight, module.filters.bias
    reach = weight.shape[2] // 2
    vectors = [module.table.weight[number] for number in numbers]
    zeros = [torch.zeros(weight.shape[1])] * reach
    vectors = [*zeros, *vectors, *zeros]
    places = []
    for at in range(len(numbers)):
        seen = torch.stack(vectors[at : at + weight.shape[2]])
        places.append(torch.einsum("fsw,ws->f", weight, seen) + bias)
    return torch.stack(places).max(0).values


def cell_by_hand(module: CharacterCell, numbers: list[int]) -> torch.Tensor:
    """One word at a time, in each direction by a network of its own."""
    weights = module.rnn.state_dict(keep_vars=True)
    x = module.table.weight[torch.tensor(numbers)].unsqueeze(1)
    ends = []
    for ending, seen in (("", x), ("_reverse", x.flip(0))):
        one = Recurrent(module.rnn.cell, 7, 5, backend="torch")
        own = {
            name: weights[name.replace("layer0", f"layer0{ending}")] for name in one.state_dict()
        }
        ends.append(torch.func.functional_call(one, own, (seen,))[0][-1, 0])
    return torch.cat(ends)


def by_hand(module: nn.Module, words: list[str]) -> torch.Tensor:
    one = cnn_by_hand if isinstance(module, CharacterCNN) else cell_by_hand
    return torch.stack([one(module, ALPHABET.batch([word]).numbers[0].tolist()) for word in words])


def test_values_and_gradients_are_those_of_single_words(module):
    found, expected = module(*ALPHABET.batch(WORDS)), by_hand(module, WORDS)
    assert found.shape == (len(WORDS), module.size)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
    factors = torch.randn(found.shape)
    parameters = list(module.parameters())
    ours = torch.autograd.grad((found * factors).sum(), parameters)
    theirs = torch.autograd.grad((expected * factors).sum(), parameters)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_what_is_behind_a_words_end_does_not_count(module):
    numbers, lengths, rows = ALPHABET.batch(WORDS)
    expected = module(numbers, lengths, rows)
    more = torch.cat([numbers, torch.zeros(len(numbers), 3, dtype=torch.int64)], 1)
    behind = torch.arange(more.shape[1]) >= lengths.unsqueeze(1)
    more[behind] = 4  # a real character
    torch.testing.assert_close(module(more, lengths, rows), expected, atol=1e-6, rtol=0)


def test_without_rows_there_is_a_vector_for_each_row(module):
    batch = ALPHABET.batch(WORDS)
    each = module(batch.numbers, batch.lengths)
    torch.testing.assert_close(each[batch.rows], module(*batch), atol=1e-6, rtol=0)


def test_no_words_have_no_vectors(module):
    assert module(*ALPHABET.batch([])).shape == (0, module.size)


def test_dropout_is_for_training_alone():
    module = CharacterCNN(len(ALPHABET), dropout=0.5)
    batch = ALPHABET.batch(WORDS)
    assert not torch.equal(module(*batch), module(*batch))
    module.eval()
    assert torch.equal(module(*batch), module(*batch))


def test_an_lstm_over_characters_is_the_papers():
    torch.manual_seed(1)
    plain = nn.LSTM(25, 25, bidirectional=True)
    module = CharacterCell(zoo["lstm"], len(ALPHABET))
    module.rnn = Recurrent.from_torch(plain)
    numbers, lengths, rows = ALPHABET.batch(WORDS)
    packed = nn.utils.rnn.pack_padded_sequence(
        module.table(numbers.t()), lengths, enforce_sorted=False
    )
    _, (last, _) = plain(packed)
    expected = torch.cat([last[0], last[1]], 1)[rows]
    torch.testing.assert_close(module(numbers, lengths, rows), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("numbers", "lengths"),
    [((2, 3), (1,)), ((2,), (2,)), ((2, 3), (2, 4)), ((2, 3), (0, 1))],
)
def test_lengths_that_do_not_fit_are_an_error(module, numbers, lengths):
    given = torch.zeros(numbers, dtype=torch.int64)
    with pytest.raises(EmbeddingError, match="have to be"):
        module(given, torch.tensor(lengths))


def test_a_filter_of_even_width_is_an_error():
    with pytest.raises(EmbeddingError, match="odd, not 4"):
        CharacterCNN(9, width=4)


def test_the_number_of_threads_changes_no_bit(module):
    numbers = torch.randint(1, len(ALPHABET), (200, 12), generator=torch.manual_seed(1))
    lengths = torch.arange(200) % 12 + 1

    def results(threads: int) -> list[torch.Tensor]:
        with threads_for(threads):
            found = module(numbers, lengths)
            return [found, *torch.autograd.grad(found.square().sum(), list(module.parameters()))]

    for one, other in zip(results(1), results(2), strict=True):
        assert torch.equal(one, other)
