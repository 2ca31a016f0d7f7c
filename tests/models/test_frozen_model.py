"""The head on vectors that do not change, against jiant's as plain PyTorch writes it."""

import pytest
import torch
from plain_sentences import PlainLstm, moved, near
from sentence_cases import MORE, RAGGED, WIDTH, Elsewhere, Table, batch_of, examples
from torch import nn

from cellwright.base.errors import UserError
from cellwright.base.threads import threads_for
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import WeightBank
from cellwright.models.sentences.build import build_sentence_model
from cellwright.models.sentences.settings import FrozenSettings


def model_of(labels=3, per_example=2, cell=zoo["lstm"], bank=None, **changes):
    settings = FrozenSettings(**{"projection": 6, "feed_forward": 7} | changes)
    torch.manual_seed(0)
    return build_sentence_model(
        settings, cell, [Table(), Elsewhere()], labels, per_example, bank=bank
    )


class Plain(nn.Module):
    """Sentence by sentence, in doubles; shares no code with the package."""

    def __init__(self, model, labels, per_example):
        super().__init__()
        settings = self.settings = model.settings
        self.labels = labels
        self.table = nn.Parameter(torch.zeros_like(model.embedders[0].table))
        self.project = nn.Linear(WIDTH + MORE, settings.projection)
        joint = settings.projection * (4 if per_example == 2 else 1)
        self.classifier = nn.Sequential(
            nn.Linear(joint, settings.feed_forward),
            nn.Tanh(),
            nn.LayerNorm(settings.feed_forward),
            nn.Linear(settings.feed_forward, labels or 1),
        )
        self.load_state_dict({
            "table": model.embedders[0].table,
            "project.weight": model.projection.weight,
            "project.bias": model.projection.bias,
            "classifier.0.weight": model.head.feed_forward.weight,
            "classifier.0.bias": model.head.feed_forward.bias,
            "classifier.2.weight": model.head.norm.weight,
            "classifier.2.bias": model.head.norm.bias,
            "classifier.3.weight": model.head.projection.weight,
            "classifier.3.bias": model.head.projection.bias,
        })  # fmt: skip
        self.double()

    def vector(self, words, more):
        x = torch.cat([self.table[words], more], 1)
        x = self.project(moved(x, self.settings.dropout_input, self.training))
        return x.max(0).values if self.settings.pooling == "max" else x.mean(0)

    def forward(self, batch):
        joint = []
        for example in examples(batch):
            u, *others = [self.vector(*sentence) for sentence in example]
            for v in others:
                u = torch.cat([u, v, (u - v).abs(), u * v])
            joint.append(u)
        first, last = self.classifier[:3], self.classifier[3]
        inner = moved(first(torch.stack(joint)), self.settings.dropout_projection, self.training)
        said = last(inner)
        return said if self.labels else said[:, 0]


@pytest.mark.parametrize("pooling", ["max", "mean"])
@pytest.mark.parametrize("labels", [3, 0])
@pytest.mark.parametrize("lengths", [RAGGED, ((3, 7, 1, 5),)])
def test_outputs_and_gradients_are_those_of_jiants_head(monkeypatch, lengths, labels, pooling):
    monkeypatch.setattr("torch.nn.functional.dropout", moved)
    model = model_of(labels, len(lengths), pooling=pooling, dropout_projection=0.4)
    nn.init.normal_(model.head.norm.weight)
    plain = Plain(model, labels, len(lengths))
    batch = batch_of(*lengths, labels=labels, behind=2)
    said, wanted = model.outputs(batch), plain(batch)
    assert said.shape == wanted.shape
    assert near(said, wanted)
    weight = torch.randn(said.shape, dtype=torch.double)
    (said * weight).sum().backward()
    (wanted * weight).sum().backward()
    assert near(model.embedders[0].table.grad, plain.table.grad)
    assert near(model.projection.weight.grad, plain.project.weight.grad)
    assert near(model.head.norm.weight.grad, plain.classifier[2].weight.grad)
    assert near(model.head.projection.bias.grad, plain.classifier[3].bias.grad)
    model.eval(), plain.eval()
    assert near(model.outputs(batch), plain(batch))
    assert not torch.allclose(model.outputs(batch), said, atol=1e-3)


class PlainAttention(nn.Module):
    """jiant's encoder of a pair, example by example, in doubles: each word beside what it attends
    to in the other sentence, an LSTM in both directions, the largest of each feature."""

    def __init__(self, model):
        super().__init__()
        width = model.settings.attention
        self.lstm = PlainLstm(2 * (WIDTH + MORE), width).double()
        self.table = nn.Parameter(model.embedders[0].table.detach().double())
        self.training_dropout = model.settings.dropout_input
        own = self.lstm.weights(lambda value: value.detach())
        model.recurrent[0].load_state_dict({name: each.float() for name, each in own.items()})

    def vectors(self, batch):
        for example in examples(batch):
            a, b = (
                moved(torch.cat([self.table[words], more], 1), self.training_dropout, True)
                for words, more in example
            )
            beside_a = torch.softmax(a @ b.T, 1) @ b
            beside_b = torch.softmax(b @ a.T, 1) @ a
            read = self.lstm([torch.cat([a, beside_a], 1), torch.cat([b, beside_b], 1)])
            u, v = (each.max(0).values for each in read)
            yield torch.cat([u, v, (u - v).abs(), u * v])


def test_attention_is_that_of_jiants_pairs(monkeypatch):
    monkeypatch.setattr("torch.nn.functional.dropout", moved)
    model = model_of(attention=5, dropout_projection=0.0)
    plain = PlainAttention(model)
    batch = batch_of(*RAGGED, labels=3, behind=2)
    joint = torch.stack(list(plain.vectors(batch)))
    seen = []
    model.head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    model.outputs(batch)
    assert near(seen[0], joint)
    weight = torch.randn(joint.shape, dtype=torch.double)
    (seen[0] * weight).sum().backward()
    (joint * weight).sum().backward()
    assert near(model.embedders[0].table.grad, plain.table.grad)
    wanted = plain.lstm.weights(lambda value: value.grad)
    found = {name: each.grad for name, each in model.recurrent[0].named_parameters()}
    assert all(near(found[name], wanted[name]) for name in found)


def test_attention_is_for_pairs_alone():
    single = model_of(per_example=1, attention=5)
    assert len(single.recurrent) == 0
    assert len(model_of(attention=5).recurrent) == 1


@pytest.mark.parametrize("attention", [0, 16])
def test_a_seed_decides_every_bit_for_any_number_of_threads(attention):
    lengths = torch.randint(1, 31, (2, 48), generator=torch.Generator().manual_seed(1)).tolist()

    def trained(threads):
        with threads_for(threads):
            model = model_of(projection=128, feed_forward=512, attention=attention)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            for step in range(3):
                optimizer.zero_grad()
                model.loss(batch_of(*lengths, seed=step), ()).mean.backward()
                optimizer.step()
            return model.state_dict()

    weights = trained(1)
    for threads in (1, 2, 3):
        same = trained(threads)
        assert all(torch.equal(weights[name], same[name]) for name in weights)


def test_there_is_no_cell_in_it():
    model = model_of()
    assert model.around(zoo["gru"], WeightBank()) is model
    other = model_of(cell=zoo["gru"])
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True)
    )


def test_it_cannot_be_searched():
    with pytest.raises(UserError, match="no cell that could be searched"):
        model_of(bank=WeightBank())
    with pytest.raises(UserError, match="no cell that could be searched"):
        model_of(cell=darts_supernet(nodes=2).cell)
