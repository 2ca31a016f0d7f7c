"""Exported Python files: readable, scriptable, compiled, and of no use for cellwright."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from export_cases import call_of, imported, network, same, tensors, zoo_network
from word_models import SENTENCE_CASES, sentence_model, tagger

import cellwright as cw
from cellwright import Cell, Node
from cellwright.export.as_python.python_check import checked
from cellwright.export.as_python.python_file import cell_file, recurrent_file
from cellwright.export.as_python.python_models import model_file
from cellwright.export.refusal import ExportError
from cellwright.models import AwdSettings, OneLayerSettings, build_language_model


def test_a_step_has_a_line_for_each_node_under_its_own_name() -> None:
    source = cell_file(cw.zoo["gru"], {}).source
    tree = ast.parse(source)
    [step] = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "step"
    ]
    lines = [line for line in step.body if isinstance(line, ast.Assign)]
    names = [line.targets[0].id for line in lines if isinstance(line.targets[0], ast.Name)]
    assert names == [node.name for node in cw.zoo["gru"].simplified().nodes]
    assert "h = n + z * (h0 - n)  # z·h0 + (1 − z)·n" in source
    assert max(map(len, source.splitlines())) <= 100


def test_weights_have_the_names_of_the_engine() -> None:
    rnn = zoo_network("gru", num_layers=2, bidirectional=True)
    weights = recurrent_file(rnn, {}, "m").weights
    places = {"layer0": 0, "layer0_reverse": 1, "layer1": 2, "layer1_reverse": 3}
    for name, tensor in rnn.state_dict().items():
        layer, _, rest = name.partition(".")
        assert torch.equal(weights[f"layers.{places[layer]}.{rest}"], tensor)
    assert len(weights) == len(rnn.state_dict())


def test_names_that_python_cannot_have_do_not_meet() -> None:
    cell = Cell(
        [
            Node("n-1", "linear", ("x", "h0", "h0")),
            Node("n_1", "linear", ("x", "x@2"), keys=("for", "a")),
            Node("lambda", "tanh", ("n-1",)),
            Node("torch", "sigmoid", ("n_1",)),
            Node("new_h0", "mul", ("lambda", "torch")),
        ],
        states=["new_h0"],
        name='"""\nraise SystemExit  # \\',
    )
    rnn = network(cell, layers=2)
    file = recurrent_file(rnn, {"data": '"""x\\'}, '"""')
    assert checked(file, rnn) < 1e-5
    assert checked(cell_network(cell), rnn_of(cell)) < 1e-5


def rnn_of(cell: Cell) -> cw.Recurrent:
    torch.manual_seed(0)
    return cw.Recurrent(cell.renamed("weights"), 3, 3).eval()


def cell_network(cell: Cell):
    return recurrent_file(rnn_of(cell), {}, "m")


def test_two_cells_of_one_name_have_two_classes(tmp_path: Path) -> None:
    """ESIM has a cell for each layer."""
    model = sentence_model("esim", 3, 2)
    source = model_file(model, {}, "m").source
    classes = [node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert len(set(classes)) == len(classes)
    assert {"Gru", "GruCell", "DartsV1", "DartsV1Cell"} <= set(classes)


def test_it_learns_what_the_network_learns(tmp_path: Path) -> None:
    rnn = zoo_network("lstm", bidirectional=True)
    file = recurrent_file(rnn, {}, "m")
    module = imported(file, tmp_path).load().train()
    x, state, lengths = call_of(rnn)
    own = dict(module.named_parameters())
    for run in (rnn, module):
        output, after = run(x, state, lengths)
        (output.square().sum() + sum(t.sum() for t in tensors(after))).backward()
    wanted = {name.replace("layer0_reverse", "layers.1").replace("layer0", "layers.0"): each.grad
              for name, each in rnn.named_parameters()}  # fmt: skip
    same([own[name].grad for name in wanted], list(wanted.values()))


def test_batch_first_and_dropout_are_kept(tmp_path: Path) -> None:
    rnn = zoo_network("gru", num_layers=2, batch_first=True, dropout=0.5)
    module = imported(recurrent_file(rnn, {}, "m"), tmp_path).load()
    x = torch.randn(3, 7, 4)
    with torch.no_grad():
        same([module(x)[0]], [rnn(x)[0]])
        module.train()
        assert not torch.allclose(module(x)[0], module(x)[0])


def test_it_compiles(tmp_path: Path) -> None:
    rnn = zoo_network("lstm")
    module = imported(recurrent_file(rnn, {}, "m"), tmp_path).load()
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    x, state, lengths = call_of(rnn, steps=3, lengths=(3, 1))
    with torch.no_grad():
        output, after = rnn(x, state, lengths)
        found, new = compiled(x, state, lengths)
    same([found, *new], [output, *after])


@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_it_runs_on_other_devices_and_types(name: str, tmp_path: Path) -> None:
    """Nothing in it is of one device: the device without memory takes every step."""
    module = imported(recurrent_file(zoo_network(name), {}, "m"), tmp_path).load()
    lengths = torch.tensor([2, 5], device="meta")
    output, _ = module.to("meta")(torch.randn(5, 2, 4, device="meta"), None, lengths)
    assert output.device.type == "meta"
    assert output.shape == (5, 2, 5)


@pytest.mark.parametrize("cell", ["darts-v1", "lstm"])
@pytest.mark.parametrize(
    "settings",
    [OneLayerSettings(hidden=6), AwdSettings(embedding=5, hidden=7, layers=3)],
    ids=["one-layer", "awd"],
)
def test_a_language_model_says_what_the_model_says(cell: str, settings, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = build_language_model(settings, cw.zoo[cell], 12).eval()
    torch.nn.init.normal_(model.embedding.weight)
    taken = imported(model_file(model, {}, "m"), tmp_path).load()
    tokens = torch.randint(12, (9, 2))
    with torch.no_grad():
        chances, state = model.next_words(tokens[:4])
        more, _ = model.next_words(tokens[4:], state)
        for form in (taken, torch.jit.script(taken)):
            found, own = form(tokens[:4])
            same([found, form(tokens[4:], own)[0]], [chances.log(), more.log()])


@pytest.mark.parametrize("by", ["cnn", "lstm"])
@pytest.mark.parametrize(("crf", "constrained"), [(True, True), (True, False), (False, False)])
def test_a_tagger_gives_the_same_tags(by: str, crf: bool, constrained: bool) -> None:
    model = tagger(by, crf=crf, constrained=constrained)
    assert checked(model_file(model, {}, "m"), model) < 1e-5


@pytest.mark.parametrize(("name", "per_example"), SENTENCE_CASES)
def test_a_model_of_sentences_gives_the_same_outputs(name: str, per_example: int) -> None:
    model = sentence_model(name, 0 if per_example == 1 else 3, per_example)
    assert checked(model_file(model, {}, "m"), model) < 1e-5


def test_models_of_words_can_be_scripted(tmp_path: Path) -> None:
    for number, model in enumerate(
        (tagger("lstm", crf=True, constrained=True), sentence_model("esim", 3, 2))
    ):
        module = imported(model_file(model, {}, "m"), tmp_path, f"scripted{number}")
        torch.jit.script(module.load())


def test_the_check_finds_a_wrong_weight() -> None:
    rnn = zoo_network("gru")
    file = recurrent_file(rnn, {}, "m")
    file.weights["layers.0.n_x.bias"] = file.weights["layers.0.n_x.bias"] + 0.01
    with pytest.raises(ExportError, match="differ from the model's by up to"):
        checked(file, rnn)


ALONE = """
import importlib.util, sys
assert importlib.util.find_spec("cellwright") is None
import torch
import taken_away
model = taken_away.load()
tokens = torch.tensor({tokens})
chances, state = model(tokens)
again, _ = torch.jit.script(model)(tokens)
assert torch.equal(chances, again) or torch.allclose(chances, again, atol=1e-6)
print(chances[-1, 0].tolist())
assert not any(name.split(".")[0] == "cellwright" for name in sys.modules)
"""


def test_the_file_runs_where_there_is_no_cellwright(tmp_path: Path) -> None:
    """Another Python, which sees torch and safetensors, and cannot import cellwright."""
    torch.manual_seed(0)
    model = build_language_model(OneLayerSettings(hidden=4), cw.zoo["darts-v1"], 5).eval()
    imported(model_file(model, {}, "m"), tmp_path)
    seen = tmp_path / "packages"
    seen.mkdir()
    for package in Path(torch.__file__).parents[1].iterdir():
        if "cellwright" not in package.name and package.suffix != ".pth":
            (seen / package.name).symlink_to(package)
    tokens = [[0], [3], [1]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(seen)])}
    done = subprocess.run(
        [sys.executable, "-S", "-c", ALONE.format(tokens=tokens)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    chances, _ = model.next_words(torch.tensor(tokens))
    same([torch.tensor(ast.literal_eval(done.stdout))], [chances[-1, 0].log()])
