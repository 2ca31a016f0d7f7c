"""ONNX graphs of models equal the models in ONNX Runtime; what is wrong is found."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch
from export_cases import call_of, same, session_of, tensors, zoo_network
from word_models import SENTENCE_CASES, TAGS, WORDS, sentence_model, tagger

import cellwright as cw
from cellwright.engine.crf import viterbi
from cellwright.export.as_onnx.onnx_file import onnx_file, run_session
from cellwright.export.as_onnx.onnx_networks import language_graph, recurrent_graph
from cellwright.export.as_onnx.onnx_sentences import sentence_graph
from cellwright.export.as_onnx.onnx_tagger import tagger_graph
from cellwright.export.refusal import ExportError
from cellwright.export.samples import sample_of, word_inputs
from cellwright.models import AwdSettings, OneLayerSettings, build_language_model
from cellwright.models.tagger import TaggedBatch
from cellwright.tasks.words.spellings import Spellings


def language_model(settings) -> cw.Recurrent:
    torch.manual_seed(0)
    model = build_language_model(settings, cw.zoo["darts-v1"], 12).eval()
    torch.nn.init.normal_(model.embedding.weight)
    return model


LANGUAGE = {
    "one-layer": OneLayerSettings(hidden=6),
    "awd": AwdSettings(embedding=5, hidden=7, layers=3),
}


def test_the_loop_is_inside_and_sizes_are_free() -> None:
    model = recurrent_graph(zoo_network("lstm")).graph.model("tested", {}, "0")
    assert [node.op_type for node in model.graph.node].count("Scan") == 1
    shapes = {
        each.name: [size.dim_param or size.dim_value for size in each.type.tensor_type.shape.dim]
        for each in (*model.graph.input, *model.graph.output)
    }
    assert shapes == {
        "x": ["steps", "batch", 4],
        "lengths": ["batch"],
        "h0": [1, "batch", 5],
        "h1": [1, "batch", 5],
        "y": ["steps", "batch", 5],
        "next_h0": [1, "batch", 5],
        "next_h1": [1, "batch", 5],
    }


def test_batch_first() -> None:
    rnn = zoo_network("gru", batch_first=True, num_layers=2)
    session = session_of(recurrent_graph(rnn).graph)
    x, state, lengths = call_of(rnn)
    with torch.no_grad():
        output, after = rnn(x.transpose(0, 1), state, lengths=lengths)
    given = {"x": x.transpose(0, 1).numpy(), "lengths": lengths.numpy(), "h0": state.numpy()}
    same(list(run_session(session, given).values()), [output, after])


def test_what_stands_behind_an_end_does_not_matter() -> None:
    rnn = zoo_network("lstm", num_layers=2, bidirectional=True)
    session = session_of(recurrent_graph(rnn).graph)
    x, state, lengths = call_of(rnn)
    names = [each.name for each in session.get_inputs()]
    results = []
    for rubbish in (0.0, float("nan")):
        for row, length in enumerate(lengths):
            x[length:, row] = rubbish
        given = [x, lengths, *tensors(state)]
        arrays = {name: each.numpy() for name, each in zip(names, given, strict=True)}
        results.append(list(run_session(session, arrays).values()))
    same(*results)


@pytest.mark.parametrize("kind", LANGUAGE)
def test_a_language_model_goes_on_from_its_state(kind: str) -> None:
    """Two halves of a text with the state between them are the text."""
    model = language_model(LANGUAGE[kind])
    session = session_of(language_graph(model).graph)
    tokens = torch.randint(12, (9, 2))
    chances, _ = model.next_words(tokens)
    state = {
        each.name: np.zeros([2 if size == "batch" else size for size in each.shape], np.float32)
        for each in session.get_inputs()
        if each.name not in ("tokens", "lengths")
    }
    found = []
    for part in (tokens[:5], tokens[5:]):
        lengths = np.array([len(part)] * 2)
        said = run_session(session, {"tokens": part.numpy(), "lengths": lengths, **state})
        found.append(said.pop("log_probabilities"))
        state = {name.removeprefix("next_"): value for name, value in said.items()}
    same([np.concatenate(found)], [chances.log()])


@pytest.mark.parametrize("kind", LANGUAGE)
def test_a_language_model_equals_the_model_text_by_text(kind: str) -> None:
    model = language_model(LANGUAGE[kind])
    assert onnx_file(language_graph(model), sample_of(model), {}, "0").difference < 1e-5


@pytest.mark.parametrize("by", ["cnn", "lstm"])
@pytest.mark.parametrize(("crf", "constrained"), [(True, True), (True, False), (False, False)])
def test_a_tagger_finds_the_best_tags(by: str, crf: bool, constrained: bool) -> None:
    """Of real words: known and unknown ones, of different lengths, one of a single step."""
    model = tagger(by, crf=crf, constrained=constrained)
    session = session_of(tagger_graph(model).graph)
    for lengths in ((4, 2), (1,), (7, 7, 3)):
        draw = torch.Generator().manual_seed(len(lengths))
        shape = (max(lengths), len(lengths))
        words = torch.randint(len(WORDS) + 1, shape, generator=draw)
        written = [[*WORDS.tokens, "bad"][number] for number in words.reshape(-1)]
        features = {
            name: torch.randn(*shape, width, generator=draw)
            for name, width in (("1-vectors", 3), ("2-vectors", 2), ("3-transformer", 6))
        }
        characters = Spellings(WORDS, WORDS).of(written)
        batch = TaggedBatch(
            words, torch.tensor(lengths), features, characters, tags=torch.zeros_like(words)
        )
        given = word_inputs(batch, model.embedders)
        arrays = {name: tensor.numpy() for name, tensor in given.items()}
        found = run_session(session, arrays)
        with torch.no_grad():
            scores = model.scores(batch)
            best = model.best(scores, batch.lengths)
        same([found["scores"]], [scores.transpose(0, 1)])
        for row, tags in enumerate(best):
            assert found["tags"][: len(tags), row].tolist() == tags
            assert (found["tags"][len(tags) :, row] == -1).all()


def test_the_best_path_is_that_of_random_scores() -> None:
    """Scores of a model that knows nothing are all alike; here the CRF has to decide."""
    model = tagger("cnn", crf=True, constrained=True)
    torch.nn.init.normal_(model.decision.weight, std=5)
    torch.nn.init.normal_(model.transitions, std=5)
    session, sample = session_of(tagger_graph(model).graph), sample_of(model)
    found = run_session(session, sample.inputs)
    scores = torch.from_numpy(sample.outputs["scores"]).transpose(0, 1)
    lengths = torch.from_numpy(sample.inputs["lengths"])
    paths, _ = viterbi(
        scores, lengths, model.transitions, model.start, model.end, allowed=model._allowed
    )
    assert np.array_equal(found["tags"], paths.numpy().T)
    assert len(np.unique(found["tags"])) > 3
    assert found["tags"].max() < len(TAGS)


@pytest.mark.parametrize(("name", "per_example"), SENTENCE_CASES)
def test_a_model_of_sentences(name: str, per_example: int) -> None:
    model = sentence_model(name, 0 if per_example == 1 else 3, per_example)
    assert onnx_file(sentence_graph(model), sample_of(model), {}, "0").difference < 1e-5


def test_the_file_says_what_it_is(tmp_path) -> None:
    path = tmp_path / "gru.onnx"
    cw.export(cw.zoo["gru"], path, input_size=3, hidden_size=4)
    model = onnx.load(path)
    said = {each.key: each.value for each in model.metadata_props}
    assert said["cellwright.cell"] == "gru"
    assert said["cellwright.cell id"] == cw.zoo["gru"].id
    assert model.producer_name == "cellwright"
    onnx.checker.check_model(model, full_check=True)


def test_a_wrong_graph_is_not_handed_over() -> None:
    rnn = zoo_network("gru")
    graph = recurrent_graph(rnn)
    with torch.no_grad():
        rnn.layer0.n_x.bias += 0.01
    with pytest.raises(ExportError, match="differ from the model's by up to"):
        onnx_file(graph, sample_of(rnn), {}, "0")


def test_without_the_runtime_it_says_that_nothing_was_compared(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    rnn = zoo_network("gru")
    made = onnx_file(recurrent_graph(rnn), sample_of(rnn), {}, "0")
    assert made.difference is None
    assert made.checked == "not run: onnxruntime is not installed"


def test_without_onnx_the_error_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ValueError, match=r"pip install 'cellwright\[export\]'"):
        recurrent_graph(zoo_network("gru"))
