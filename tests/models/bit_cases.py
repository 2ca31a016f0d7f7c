"""Two steps of training of every kind of model, for `test_bits.py`, and as a process of its own.

Sizes are small, but large enough for torch to give its products to several threads.
"""

import hashlib
import json
import sys

import torch
from model_cases import ADDS_X
from sentence_cases import Elsewhere, Table, batch_of, model_of

from cellwright.base.threads import threads_for
from cellwright.cell.zoo import zoo
from cellwright.embeddings.characters import Alphabet, CharacterCell, CharacterCNN
from cellwright.models import AwdSettings, OneLayerSettings, build_language_model
from cellwright.models.cell_model import detached
from cellwright.models.language_model import TextBatch
from cellwright.models.sentences.build import build_sentence_model
from cellwright.models.sentences.settings import FrozenSettings
from cellwright.models.settings import TaggerSettings
from cellwright.models.tagger import TaggedBatch, Tagger
from cellwright.models.words import Embedder

VOCABULARY, TAGS, SENTENCES = 300, 17, 40
ALPHABET = Alphabet.of(["abcdefghij"])


class ByCharacters(Embedder):
    def __init__(self, module):
        super().__init__()
        self.module, self.width = module, module.size

    def forward(self, batch):
        return self.module(*batch.characters).view(*batch.words.shape, -1)


def language(settings, cell):
    model = build_language_model(settings, cell, VOCABULARY)
    words = torch.randint(VOCABULARY, (2, 17, 24))
    return model, [TextBatch(text[:-1], text[1:], 16) for text in words]


def tagger(cell=zoo["gru"], **changes):
    cnn = CharacterCNN(len(ALPHABET), 20, 30)
    cells = CharacterCell(zoo["lstm"], len(ALPHABET), 15, 20)
    settings = TaggerSettings(hidden=48, **changes)
    embedders = [Table(), ByCharacters(cnn), ByCharacters(cells)]
    model = Tagger(settings, cell, embedders, TAGS)
    batches = []
    for _ in range(2):
        lengths = torch.randint(1, 25, (SENTENCES,))
        words = torch.randint(20, (int(lengths.max()), SENTENCES))
        names = [
            "abcdefghij"[number % 10] * (1 + number % 7) for number in words.flatten().tolist()
        ]
        tags = torch.randint(TAGS, words.shape)
        batches.append(TaggedBatch(words, lengths, {}, ALPHABET.batch(names), tags=tags))
    return model, batches


def pairs():
    lengths = torch.randint(1, 31, (2, SENTENCES)).tolist()
    return [batch_of(*lengths, seed=step) for step in range(2)]


def sentences(kind, cell, **sizes):
    return model_of(kind, cell, dropouts=True, **sizes), pairs()


def frozen(**changes):
    settings = FrozenSettings(projection=128, feed_forward=300, **changes)
    return build_sentence_model(settings, zoo["lstm"], [Table(), Elsewhere()], 3, 2), pairs()


CASES = {
    "one-layer": lambda: language(OneLayerSettings(hidden=64), zoo["darts-v1"]),
    "AWD": lambda: language(AwdSettings(embedding=40, hidden=64), zoo["lstm"]),
    "AWD behind a projection": lambda: language(AwdSettings(embedding=40, hidden=64), ADDS_X),
    "tagger with characters and CRF": tagger,
    "tagger without": lambda: tagger(crf=False, relearn=False),
    "BiRNN + MLP": lambda: sentences("bi-rnn", zoo["lstm"], hidden=40, layers=2, feed_forward=64),
    "BiLSTM-Max": lambda: sentences("blm", zoo["lstm"], hidden=40, feed_forward=64),
    "BiLSTM-Max behind projections": lambda: sentences("blm", ADDS_X, hidden=40, feed_forward=64),
    "ESIM": lambda: sentences(
        "esim", zoo["sentpair-4"], hidden=40, projection=60, feed_forward=64
    ),
    "head on frozen vectors": frozen,
    "head with attention": lambda: frozen(attention=16),
}  # fmt: skip


def trained(name):
    """A model after two steps, and its last batch."""
    torch.manual_seed(0)
    model, batches = CASES[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    carried = model.begin(batches[0])
    for batch in batches:
        optimizer.zero_grad()
        loss = model.loss(batch, detached(carried))
        carried = loss.carried
        (loss.mean + loss.penalty).backward()
        optimizer.step()
    return model.eval(), batches[-1]


@torch.no_grad()
def used(model, batch):
    """What a trained model says."""
    if isinstance(batch, TextBatch):
        return model.next_words(batch.tokens)[0]
    return model.scores(batch) if isinstance(batch, TaggedBatch) else model.outputs(batch)


def bits(name, threads):
    """A hash of all parameters after two steps, and of what the model says then."""
    with threads_for(threads):
        model, batch = trained(name)
        tensors = [*model.state_dict().values(), used(model, batch)]
    assert all(bool(tensor.isfinite().all()) for tensor in tensors)
    return hashlib.sha256(b"".join(tensor.numpy().tobytes() for tensor in tensors)).hexdigest()


if __name__ == "__main__":
    print(json.dumps({name: bits(name, int(sys.argv[1])) for name in CASES}))
