"""The models of sentences as a textbook writes them: single sentences, plain PyTorch, doubles.

What is here shares no code with the package, so that its models can be held against it.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from cellwright.engine.from_torch import parameters

SENTPAIR_4 = ("identity", [(0, "relu"), (0, "sigmoid"), (0, "relu"), (2, "relu"), (1, "relu")])
"""Row 4 of Table 6 in ENAS-pairs."""

FUNCTIONS = {"identity": lambda x: x, "relu": torch.relu, "sigmoid": torch.sigmoid}


class PlainLstm(nn.Module):
    """PyTorch's own, over packed sequences."""

    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, bidirectional=True)

    def forward(self, sentences):
        said, _ = self.lstm(pack_sequence(sentences, enforce_sorted=False))
        return unpack_sequence(said)

    def weights(self, of):
        """Of each weight what `of` says, under the names of `Recurrent`."""
        found = nn.LSTM(self.lstm.input_size, self.lstm.hidden_size, bidirectional=True).double()
        for name, value in self.lstm.named_parameters():
            setattr(found, name, nn.Parameter(of(value)))
        return parameters(found)


class PlainEnas(nn.Module):
    """An ENAS cell as Pham et al. 2018 have it, a loop over the words of one sentence."""

    def __init__(self, width, hidden):
        super().__init__()
        self.hidden = hidden
        first, self.nodes = SENTPAIR_4
        self.first = FUNCTIONS[first]
        self.ways = nn.ModuleList(self._way(width) for _ in range(2))

    def _way(self, width):
        sizes = {"c_0.weight_x": width, "h_0.weight_x": width}
        sizes |= {"c_0.weight_h0": self.hidden, "h_0.weight_h0": self.hidden}
        for number, (before, _) in enumerate(self.nodes, 1):
            sizes |= {f"{which}_{number}.weight_s_{before}": self.hidden for which in "ch"}
        made = {name.replace(".", "/"): torch.randn(self.hidden, size) / self.hidden**0.5
                for name, size in sizes.items()}  # fmt: skip
        return nn.ParameterDict(made)

    def step(self, w, x, h):
        gate = torch.sigmoid(w["c_0/weight_x"] @ x + w["c_0/weight_h0"] @ h)
        new = self.first(w["h_0/weight_x"] @ x + w["h_0/weight_h0"] @ h)
        states = [gate * new + (1 - gate) * h]
        for number, (before, function) in enumerate(self.nodes, 1):
            old = states[before]
            gate = torch.sigmoid(w[f"c_{number}/weight_s_{before}"] @ old)
            new = FUNCTIONS[function](w[f"h_{number}/weight_s_{before}"] @ old)
            states.append(gate * new + (1 - gate) * old)
        read = {before for before, _ in self.nodes}
        return sum(s for n, s in enumerate(states) if n not in read) / (len(states) - len(read))

    def one_way(self, w, sentence):
        h, said = sentence.new_zeros(self.hidden), []
        for x in sentence:
            h = self.step(w, x, h)
            said.append(h)
        return torch.stack(said)

    def forward(self, sentences):
        there, back = self.ways
        return [
            torch.cat([self.one_way(there, s), self.one_way(back, s.flip(0)).flip(0)], 1)
            for s in sentences
        ]

    def weights(self, of):
        """Of each weight what `of` says, under the names of `Recurrent`."""
        layers = zip(("layer0", "layer0_reverse"), self.ways, strict=True)
        return {
            f"{layer}.{name.replace('/', '.')}": of(value)
            for layer, way in layers
            for name, value in way.items()
        }


LAYERS = {"L": PlainLstm, "E": PlainEnas}


class PlainModel(nn.Module):
    """Any of the three.

    Args:
        settings: of the package's model.
        layers: "L" and "E" for each layer.
        words, width: the size of the table of vectors.
        more: how many numbers of a word come from elsewhere.
        labels: 0 for a score.
        per_example: sentences.
    """

    def __init__(self, settings, layers, words, width, more, labels, per_example):
        super().__init__()
        self.settings, self.labels = settings, labels
        esim, hidden = settings.kind == "esim", settings.hidden
        last = settings.hidden_composition if esim else hidden
        inputs = [width + more, settings.projection if esim else 2 * hidden]
        self.table = nn.Parameter(torch.randn(words, width))
        self.layers = nn.ModuleList(
            LAYERS[each](inputs[min(number, 1)], last if number else hidden)
            for number, each in enumerate(layers)
        )
        self.enhancement = nn.Linear(8 * hidden, settings.projection) if esim else None
        joint = 8 * last if per_example == 2 else 2 * last
        self.feed_forward = nn.Linear(joint, settings.feed_forward)
        self.projection = nn.Linear(settings.feed_forward, labels or 1)
        self.double()

    def forward(self, examples):
        """Outputs of examples, each a tuple of sentences: their words, and what else is known."""
        vectors = [[torch.cat([self.table[w], more], 1) for w, more in e] for e in examples]
        joint = self.esim(vectors) if self.settings.kind == "esim" else self.pooled(vectors)
        said = self.head(torch.stack(joint))
        return said if self.labels else said[:, 0]

    def loss(self, said, targets):
        if self.labels:
            return -said.log_softmax(1)[range(len(said)), targets.long()].mean()
        difference = said - targets.double()
        squared = self.settings.loss == "squared"
        return (difference**2 if squared else difference.abs()).mean()

    def pooled(self, examples):
        settings = self.settings
        sentences = [sentence for example in examples for sentence in example]
        for number, layer in enumerate(self.layers):
            if settings.kind == "blm":
                sentences = [self.locked(s, settings.dropout_input) for s in sentences]
            else:
                rate = settings.dropout_layers if number else settings.dropout_input
                sentences = [self.dropped(s, rate) for s in sentences]
            sentences = layer(sentences)
        sentences = [self.dropped(s, settings.dropout_output) for s in sentences]
        if settings.kind == "blm" and settings.padding_is_zero:
            sentences = [torch.cat([s, torch.zeros_like(s[:1])]) for s in sentences]
        best = iter([s.max(0).values for s in sentences])
        joint = []
        for example in examples:
            u, *others = [next(best) for _ in example]
            if others:
                (v,) = others
                signed = settings.kind == "blm" and settings.signed_difference
                u = torch.cat([u, v, u - v if signed else (u - v).abs(), u * v])
            joint.append(u)
        return joint

    def esim(self, pairs):
        settings, (encoder, composer) = self.settings, self.layers
        sentences = [self.locked(s, settings.dropout_input) for pair in pairs for s in pair]
        said, joint = encoder(sentences), []
        for a, b in zip(said[::2], said[1::2], strict=True):
            alike = a @ b.t()
            found = []
            for one, other, by in ((a, b, alike), (b, a, alike.t())):
                seen = by.softmax(1) @ other
                seen = torch.cat([one, seen, one - seen, one * seen], 1)
                seen = self.enhancement(self.dropped(seen, settings.dropout_enhancement))
                found.append(self.locked(torch.relu(seen), settings.dropout_composition))
            composed = composer(found)
            joint.append(torch.cat([p for s in composed for p in (s.mean(0), s.max(0).values)]))
        return joint

    def head(self, joint):
        settings = self.settings
        if settings.kind == "bi-rnn":
            joint = self.dropped(joint, settings.dropout_classifier)
            inner = torch.tanh(self.feed_forward(joint))
            return self.projection(self.dropped(inner, settings.dropout_classifier))
        if settings.kind == "esim":
            joint = self.dropped(joint, settings.dropout_pooled)
        inner = torch.relu(self.feed_forward(joint))
        return self.projection(self.dropped(inner, settings.dropout_projection))

    # `moved` in place of random masks: what it does tells where a dropout is and how strong.

    def dropped(self, x, rate):
        return moved(x, rate, self.training)

    def locked(self, x, rate):
        return x * moved(torch.ones_like(x), rate, self.training)


def moved(x, p=0.5, training=True):
    """Stands in for `F.dropout`: no chance, but a change by the rate."""
    return x + p if training else x


def near(found, wanted):
    scale = wanted.abs().max().item()
    return (found.double() - wanted).abs().max().item() < 2e-5 * max(scale, 1e-2)
