"""The language task: text in segments, measured with its state carried, in parts and halves."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from cellwright import zoo
from cellwright.data import DataError, batchify
from cellwright.data.word_pairs import WordPairs
from cellwright.models import AwdSettings, OneLayerSettings
from cellwright.models.language_model import TextBatch
from cellwright.tasks.language.measuring import segment_losses
from cellwright.tasks.language.segments import even_segments, training_segments
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.language.task import LanguageTask, segments_of
from cellwright.tasks.task import whole_batches


def task_of(corpus, **settings):
    return LanguageTask(corpus, LanguageSettings(**settings))


def model_of(task, settings=None):
    """With weights so large that a state matters."""
    torch.manual_seed(0)
    model = task.model(zoo["lstm"], settings or OneLayerSettings(hidden=6))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(8)
    return model


def losses_of(model, batches):
    return np.concatenate([part.losses for part in segment_losses(model, batches)])


# -- segments ------------------------------------------------------------------------------


def test_segments_cover_the_text_once():
    plan = LanguageSettings(bptt=35, bptt_spread=5.0, bptt_shortest=5, bptt_halve=0.3)
    for epoch in range(3):
        found = training_segments(4000, plan, 1, epoch)
        assert found[0].start == 0
        assert all(a.start + a.length == b.start for a, b in pairwise(found))
        assert found[-1].start + found[-1].length == 3999
        assert min(segment.length for segment in found[:-1]) >= 5
        assert found == training_segments(4000, plan, 1, epoch)
        assert found != training_segments(4000, plan, 2, epoch)
    lengths = [s.length for s in training_segments(400_000, plan, 1, 0)]
    short = sum(length < 26 for length in lengths) / len(lengths)
    assert 0.25 < short < 0.37  # three in ten are halved, and the spread makes a few more short
    assert training_segments(4000, plan, 1, 0) != training_segments(4000, plan, 1, 1)


def test_segments_without_chance_are_even():
    plan = LanguageSettings(bptt=7, bptt_spread=0, bptt_shortest=1, bptt_halve=0)
    assert training_segments(24, plan, 0, 0) == even_segments(24, 7)
    assert [segment.length for segment in even_segments(24, 7)] == [7, 7, 7, 2]


def test_the_papers_segments_are_the_defaults():
    """DARTS' training of a found cell, which is that of AWD-LSTM (Merity et al. 2018, 4.1)."""
    settings = LanguageSettings()
    assert (settings.bptt, settings.bptt_spread) == (35, 5.0)
    assert (settings.bptt_shortest, settings.bptt_halve) == (5, 0.05)


# -- batches -------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["train", "valid", "test"])
@pytest.mark.parametrize("what", ["batches", "ordered"])
def test_batches_are_running_text(corpus, part, what):
    task = task_of(corpus, bptt=6, bptt_spread=2.0, bptt_shortest=2)
    found = task.batches(part, 3, 1, 0) if what == "batches" else task.ordered(part, 3)
    text = torch.from_numpy(batchify(getattr(corpus, part), 3).astype(np.int64))
    assert torch.equal(torch.cat([batch.tokens for batch in found]), text[:-1])
    assert torch.equal(torch.cat([batch.targets for batch in found]), text[1:])
    assert [batch.size for batch in found] == [3 * len(batch.tokens) for batch in found]
    assert sum(batch.size for batch in found) == 3 * (len(text) - 1)


def test_seed_and_epoch_decide_the_batches(corpus):
    def lengths(seed, epoch):
        task = task_of(corpus, bptt=6, bptt_spread=2.0, bptt_shortest=2)
        return [len(batch.tokens) for batch in task.batches("train", 3, seed, epoch)]

    assert lengths(1, 0) == lengths(1, 0)
    assert lengths(1, 0) != lengths(1, 1)
    assert lengths(1, 0) != lengths(2, 0)


def test_a_shorter_segment_takes_a_shorter_step(corpus):
    batches = task_of(corpus, bptt=6, bptt_spread=2.0, bptt_shortest=2).batches("train", 3, 1, 0)
    assert {batch.rate(12.0) for batch in batches} == {2.0 * len(b.tokens) for b in batches}


def test_a_slice_of_batches_is_some_of_them(corpus):
    whole = task_of(corpus, bptt=6).ordered("train", 3)
    some = whole[2:5]
    assert len(some) == 3
    assert [torch.equal(some[n].tokens, whole[n + 2].tokens) for n in range(3)] == [True] * 3
    assert torch.equal(whole[-1].tokens, whole[len(whole) - 1].tokens)


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [([9, 9, 4], 2), ([9, 9, 9], 3), ([9, 5, 12, 7], 3), ([9, 5, 12], 3), ([4], 1)],
)
def test_a_rest_that_is_smaller_than_the_first_batch_is_left_out(sizes, kept):
    batches = [TextBatch(torch.zeros(size, 1), torch.zeros(size, 1), 9) for size in sizes]
    assert [batch.size for batch in whole_batches(batches)] == sizes[:kept]


def test_text_that_is_too_short(corpus):
    with pytest.raises(DataError, match="too few for a batch"):
        task_of(corpus).batches("train", 4000, 0, 0)


# -- measuring -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [OneLayerSettings(hidden=6), AwdSettings(embedding=6, hidden=8, layers=2)],
    ids=["one-layer", "awd"],
)
def test_measuring_carries_the_state(corpus, settings):
    task = task_of(corpus, bptt=5)
    model = model_of(task, settings)
    text = batchify(corpus.valid, 2)
    whole = losses_of(model, segments_of(corpus.valid, 2, len(text)))
    assert whole.shape == (len(text) - 1, 2)
    np.testing.assert_allclose(losses_of(model, task.ordered("valid", 2)), whole, atol=1e-5)
    found = task.measure(model, task.ordered("valid", 2))
    assert found.loss == pytest.approx(whole.mean(), abs=1e-5)
    assert found.figures == {}


def test_measuring_drops_nothing(corpus):
    task = task_of(corpus)
    model = model_of(task).train()
    batches = task.ordered("valid", 2)
    assert task.measure(model, batches) == task.measure(model, batches)


# -- parts ---------------------------------------------------------------------------------


def test_word_pairs_are_a_figure_of_a_model(corpus):
    words = [word for word in corpus.vocabulary.tokens if word[0] != "<"][:8]
    judged = [*zip(words[::2], words[1::2], strict=True), (words[0], "not-there")]
    scores = np.array([5.0, 1.0, 3.0, 9.0, 2.0])
    task = LanguageTask(corpus, pairs=[WordPairs("people", tuple(judged), scores)])
    model = model_of(task)
    table = model.embedding.weight.detach().double().numpy()
    ids = [(corpus.vocabulary[a], corpus.vocabulary[b]) for a, b in judged[:4]]
    cosines = [
        table[a] @ table[b] / np.linalg.norm(table[a]) / np.linalg.norm(table[b]) for a, b in ids
    ]
    batches = task.ordered("valid", 4)
    expected = np.corrcoef(cosines, scores[:4])[0, 1]
    assert task.measure(model, batches).figures == {"people": pytest.approx(expected, abs=1e-6)}
    assert task.halves()[1].limited({"valid": 30}).measure(model, batches).figures
    assert LanguageTask(corpus).measure(model, batches).figures == {}


def test_limited_keeps_the_beginning_and_the_vocabulary(corpus):
    task = task_of(corpus, bptt=9)
    less = task.limited({"train": 100, "test": 10**9})
    assert np.array_equal(less.corpus.train, corpus.train[:100])
    assert np.array_equal(less.corpus.valid, corpus.valid)
    assert np.array_equal(less.corpus.test, corpus.test)
    assert (less.corpus.vocabulary, less.settings) == (corpus.vocabulary, task.settings)
    assert less.fingerprint != task.fingerprint
    assert task.limited({}).fingerprint == task.fingerprint == task_of(corpus).fingerprint


@pytest.mark.parametrize(
    ("most", "says"),
    [
        ({"trian": 5}, "a corpus has the parts train, valid, test, not 'trian'"),
        ({"train": 0}, "the tokens of train must be a whole number"),
        ({"train": True}, "the tokens of train must be a whole number"),
        ({"valid": 1.5}, "the tokens of valid must be a whole number"),
    ],
)
def test_limits_that_are_none(corpus, most, says):
    with pytest.raises(DataError, match=says):
        task_of(corpus).limited(most)


def test_halves_are_the_training_text(corpus):
    task = task_of(corpus, bptt=9)
    first, second = task.halves()
    both = np.concatenate([first.corpus.train, second.corpus.train])
    assert np.array_equal(both, corpus.train)
    assert abs(len(first.corpus.train) - len(second.corpus.train)) <= 1
    for half in (first, second):
        assert np.array_equal(half.corpus.valid, corpus.valid)
        assert half.settings == task.settings


# -- where the decoder's bias starts ---------------------------------------------------------------


def test_a_bias_that_starts_at_frequencies_gives_the_unigram_loss(corpus):
    task, counts = task_of(corpus), corpus.vocabulary.counts + 1
    shares = counts / counts.sum()
    for start, wanted in (("frequency", -np.log(shares)), ("zero", np.log(len(counts)))):
        settings = OneLayerSettings(hidden=6, init_range_embedding=1e-6, bias_start=start)
        model = task.model(zoo["lstm"], settings)
        batches = task.ordered("valid", 2)
        words = np.concatenate([batch.targets.numpy() for batch in batches])
        expected = np.broadcast_to(wanted, len(counts))[words].mean()
        assert task.measure(model, batches).loss == pytest.approx(expected, rel=1e-4)
