"""What can be relied on of models of sentences, whichever they are."""

import pytest
import torch
from model_cases import ADDS_X
from sentence_cases import KINDS, RAGGED, batch_of, model_of

from cellwright.base.errors import UserError
from cellwright.base.threads import threads_for
from cellwright.cell.listings import EnasListing, enas
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, WeightBank
from cellwright.engine.ragged import Ragged
from cellwright.models.sentences.pooling import largest, mean

every_kind = pytest.mark.parametrize("kind", KINDS)

FIRST = enas.lower(EnasListing("tanh", ((0, "relu"), (0, "tanh"))), keys=True)
SECOND = enas.lower(EnasListing("relu", ((0, "tanh"), (1, "relu"))), keys=True)


def two_layers(kind, cell, *layer_cells, **more):
    layers = {} if kind == "esim" else {"layers": 2}
    return model_of(kind, cell, layer_cells=layer_cells, **layers, **more)


# -- the same again ------------------------------------------------------------------------


@every_kind
def test_a_seed_decides_every_bit_for_any_number_of_threads(kind):
    sizes = {"hidden": 40, "feed_forward": 64, "dropouts": True}
    sizes |= {"projection": 60} if kind == "esim" else {"layers": 2}
    torch.manual_seed(1)
    lengths = torch.randint(1, 31, (2, 48)).tolist()

    def trained(threads):
        with threads_for(threads):
            model = model_of(kind, zoo["sentpair-4"], **sizes)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            losses = []
            for step in range(2):
                optimizer.zero_grad()
                loss = model.loss(batch_of(*lengths, seed=step), ()).mean
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses, model.state_dict()

    losses, weights = trained(1)
    for threads in (1, 2, 3):
        again, same = trained(threads)
        assert losses == again
        assert all(torch.equal(weights[name], same[name]) for name in weights)


@every_kind
def test_what_is_behind_the_end_of_a_sentence_does_not_matter(kind):
    model = model_of(kind)
    batch = batch_of(*RAGGED, behind=2)
    said = model.outputs(batch)
    for row, length in enumerate(batch.sentences.lengths):
        batch.sentences.words[length:, row] = 7
        batch.sentences.features["more"][length:, row] = torch.nan
    assert torch.equal(model.outputs(batch), said)


@every_kind
def test_examples_do_not_influence_each_other(kind):
    model = model_of(kind)
    batch = batch_of(*RAGGED)
    said = model.outputs(batch)
    with torch.no_grad():
        for row in (0, 4):  # the first pair
            batch.sentences.features["more"][:, row] += 1
    other = model.outputs(batch)
    assert not torch.allclose(other[0], said[0])
    assert torch.allclose(other[1:], said[1:], atol=1e-6)


# -- cells ---------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("cell", [zoo["gru"], zoo["darts-v1"], zoo["sru"], ADDS_X])
def test_any_cell_learns(kind, cell):
    model = model_of(kind, cell, labels=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    batch, losses = batch_of(*RAGGED, labels=0), []
    for _ in range(15):
        optimizer.zero_grad()
        loss = model.loss(batch, ()).mean
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


@every_kind
def test_around_another_cell_copies_nothing(kind):
    bank = WeightBank()
    model = two_layers(kind, FIRST, bank=bank)
    other = model.around(SECOND, bank)
    assert type(other) is type(model)
    known = {id(p) for p in model.parameters()} | {id(p) for p in bank.parameters()}
    assert {id(p) for p in other.parameters()} <= known
    batch = batch_of(*RAGGED)
    assert not torch.allclose(model.outputs(batch), other.outputs(batch))
    assert torch.equal(other.around(FIRST, bank).outputs(batch), model.outputs(batch))


@every_kind
@pytest.mark.parametrize("star", [0, 1])
def test_around_leaves_layers_with_cells_of_their_own(kind, star):
    bank = WeightBank()
    cells = ["gru", "gru"]
    cells[star] = "*"
    model = two_layers(kind, FIRST, *cells, bank=bank)
    other = model.around(SECOND, bank)
    assert other.recurrent[1 - star] is model.recurrent[1 - star]
    assert [layer.cell for layer in other.recurrent] == [
        SECOND if cell == "*" else zoo["gru"] for cell in cells
    ]
    other.loss(batch_of(*RAGGED), ()).mean.backward()
    assert all(p.grad is not None for p in other.recurrent[1 - star].parameters())


@every_kind
def test_no_two_layers_share_weights(kind):
    """Also where a layer's own cell names its weights as the searched one does."""
    for cells in (("*", "*"), ("*", FIRST.to_json())):
        bank = WeightBank()
        model = two_layers(kind, FIRST, *cells, bank=bank).around(FIRST, bank)
        first, second = ({id(p) for p in layer.parameters()} for layer in model.recurrent)
        assert first
        assert not first & second
        searched = {id(p) for p in bank.parameters()}
        assert first <= searched
        assert (second <= searched) == (cells[1] == "*")
        assert second & searched == (second if cells[1] == "*" else set())


@every_kind
@pytest.mark.parametrize("cells", [("*", "*"), ("*", "lstm"), ("lstm", "*")])
def test_a_supernet_stands_where_the_searched_cell_does(kind, cells):
    supernet = darts_supernet(2, ("tanh", "relu"))
    model = two_layers(kind, supernet.cell, *cells, bank=WeightBank())
    theta = {
        name: torch.full((len(edges),), 1 / len(edges), requires_grad=True)
        for name, edges in supernet.edges.items()
    }
    model.loss(batch_of(*RAGGED), (), theta=theta).mean.backward()
    assert all(each.grad is not None and each.grad.any() for each in theta.values())


# -- starts and dropouts -------------------------------------------------------------------


def test_esim_starts_as_allennlp_does():
    model = model_of("esim", hidden=60, projection=80)
    weight = model.projection.weight
    bound = (6 / (480 + 80)) ** 0.5
    assert weight.abs().max() <= bound
    assert weight.abs().max() > 0.98 * bound
    for linear in (model.projection, model.head.feed_forward, model.head.projection):
        assert not linear.bias.any()


@every_kind
def test_cells_start_as_wanted(kind):
    for start, bound in ((0.01, 0.01), ("width", 1 / 6**0.5)):
        weights = list(model_of(kind, init_range=start).recurrent[0].parameters())
        largest_of_all = max(weight.abs().max().item() for weight in weights)
        assert 0.9 * bound < largest_of_all <= bound


@pytest.mark.parametrize(("kind", "layers"), [("blm", (0, 1)), ("esim", (0, 1))])
def test_one_mask_for_all_words_of_a_sentence(kind, layers):
    changes = {"dropout_input": 0.5} | ({"layers": 2} if kind == "blm" else {})
    changes |= {"dropout_composition": 0.5, "projection": 50} if kind == "esim" else {}
    model = model_of(kind, zoo["lstm"], **changes)
    seen = []
    for number in layers:
        model.recurrent[number].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    batch = batch_of((6, 9, 4), (7, 5, 8))
    ragged = Ragged.of(batch.sentences.lengths, *batch.sentences.words.shape)
    model.outputs(batch)
    assert len(seen) == len(layers)
    masks = []
    for packed in seen:
        zero = packed.data == 0
        for row in range(6):
            words = zero[ragged.word_rows == row]
            masks.append(words.all(0))
            if kind == "blm" or packed is seen[0]:  # a ReLU makes zeros of its own
                assert torch.equal(words.any(0), words.all(0))
    assert 0 < torch.cat(masks).float().mean() < 1
    assert len({tuple(mask.tolist()) for mask in masks}) > 3


@every_kind
def test_dropouts_end_with_training(kind):
    model = model_of(kind, dropouts=True)
    batch = batch_of(*RAGGED)
    assert not torch.equal(model.outputs(batch), model.outputs(batch))
    model.eval()
    assert torch.equal(model.outputs(batch), model.outputs(batch))


# -- pooling -------------------------------------------------------------------------------


def test_pooling_of_sentences():
    ragged = Ragged.of([2, 3, 1], 4, 3)
    padded = torch.tensor([[1.0, -5, 7], [3, -2, 0], [9, -4, 0], [9, 9, 9]]).unsqueeze(2)
    words = ragged.begin(padded).requires_grad_()
    assert largest(words, ragged).flatten().tolist() == [3, -2, 7]
    assert largest(words, ragged, at_least_zero=True).flatten().tolist() == [3, 0, 7]
    assert mean(words, ragged).flatten().tolist() == pytest.approx([2, -11 / 3, 7])


def test_words_that_share_the_largest_value_share_its_gradient():
    ragged = Ragged.of([4, 2], 4, 2)
    padded = torch.tensor([[1.0, 5], [3, 5], [3, 0], [2, 0]]).unsqueeze(2).requires_grad_()
    largest(ragged.begin(padded), ragged).sum().backward()
    assert padded.grad.squeeze(2).t().tolist() == [[0, 0.5, 0.5, 0], [0.5, 0.5, 0, 0]]


# -- mistakes ------------------------------------------------------------------------------


def test_esim_wants_pairs():
    with pytest.raises(UserError, match="esim reads pairs of sentences"):
        model_of("esim", per_example=1)


@every_kind
def test_a_score_has_no_cross_entropy(kind):
    with pytest.raises(UserError, match="should be squared or absolute"):
        model_of(kind, labels=0, loss="cross-entropy")
    assert isinstance(model_of(kind, labels=2, loss="cross-entropy").recurrent[0], Recurrent)


def test_a_batch_has_as_many_sentences_as_the_model_reads():
    with pytest.raises(ValueError, match="reads 2 sentences of an example, and the batch has 1"):
        model_of("blm").outputs(batch_of((3, 4)))
