"""`cw.export` and `cw.load`: what a user takes away, opens elsewhere, and is refused."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

import cellwright as cw
from cellwright.base import files as whole_files
from cellwright.base.errors import FileError, UserError
from cellwright.runs.folder import RunFolder
from cellwright.runs.runner import train
from runs.support import small_run, write_corpus
from tiny_sentences import pairs, train_on

TAGGED = {
    "train": "Ann B-PER\nlives O\nin O\nNew B-LOC\nYork I-LOC\n\nBob B-PER\nleft O\n\nOslo B-LOC\n",
    "valid": "Eve B-PER\nlives O\n",
    "test": "in O\nOslo B-LOC\n\nAnn B-PER\n",
}

TAGGING = """
[task]
kind = "tagging"
data = "{data}"
embeddings = [{{kind = "table", width = 4, least = 1}}, "characters"]
[model]
kind = "tagger"
hidden = 5
[training]
optimizer = "adam"
learning_rate = 0.05
weight_decay = 0.0
batch = 2
evaluation_batch = 2
epochs = 3
average_after = "none"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs of all three tasks, and what each is as a folder, in another place; the runs' data is
    gone, and so are the runs that were opened from folders."""
    root = tmp_path_factory.mktemp("taken")
    language = small_run(write_corpus(root / "text"), root / "runs" / "language")
    train(language.folder, language.training)
    (root / "tagged").mkdir()
    for part, rows in TAGGED.items():
        (root / "tagged" / f"{part}.txt").write_text(rows)
    (root / "tagging.toml").write_text(TAGGING.format(data=root / "tagged"))
    cw.train(
        "gru", recipe=root / "tagging.toml", name="tagging", out=root / "runs", threads=1,
        progress=False,
    )  # fmt: skip
    train_on(pairs(root / "pairs"), root / "runs", "sentences", first="one", second="other")
    test_text = (root / "text" / "test.txt").read_text()
    folders, runs = root / "elsewhere", {}
    for name in ("language", "tagging", "sentences"):
        runs[name] = cw.load(root / "runs" / name)
        cw.export(runs[name], folders / name, to="folder")
    for data in ("text", "tagged", "pairs"):
        shutil.rmtree(root / data)
    return SimpleNamespace(runs=runs, folders=folders, test_text=test_text)


KINDS = ["language", "tagging", "sentences"]


# -- folders -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_has_the_weights_and_figures_of_its_run(made: Any, kind: str) -> None:
    run, opened = made.runs[kind], cw.load(made.folders / kind)
    assert opened.cell == run.cell
    assert (opened.status, opened.valid, opened.test) == (run.status, run.valid, run.test)
    assert opened.cost == run.cost
    assert opened.curve == run.curve
    wanted = run.model.state_dict()
    found = opened.model.state_dict()
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


def test_a_language_model_is_used_from_its_folder(made: Any) -> None:
    run, opened = made.runs["language"], cw.load(made.folders / "language")
    assert opened.vocabulary.tokens == run.vocabulary.tokens
    tokens = torch.tensor([[1, 2], [3, 4]])
    chances, _ = opened.model.next_words(tokens)
    assert torch.equal(chances, run.model.next_words(tokens)[0])


def test_a_tagger_is_used_from_its_folder(made: Any) -> None:
    texts = ["Ann left New York", "Zoe lives"]
    wanted = [str(each) for each in cw.tag(made.runs["tagging"], texts)]
    assert [str(each) for each in cw.tag(made.folders / "tagging", texts)] == wanted


def test_a_model_of_pairs_is_used_from_its_folder(made: Any) -> None:
    examples = [("the film is good", "a bad plot"), ("a", "great acting")]
    wanted = cw.predict(made.runs["sentences"], examples)
    assert cw.predict(made.folders / "sentences", examples) == wanted


def test_a_folder_can_be_exported_again(made: Any, tmp_path: Path) -> None:
    cw.export(made.folders / "language", tmp_path / "again", to="folder")
    first, second = (
        {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "README.md"}
        for folder in (made.folders / "language", tmp_path / "again")
    )
    assert first == second


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_names_no_place_of_this_machine(made: Any, kind: str) -> None:
    place = str(made.folders.parent)
    for path in (made.folders / kind).iterdir():
        assert place.encode() not in path.read_bytes(), path.name


def test_the_card_says_what_a_hub_reads(made: Any) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="comes with transformers")
    path = made.folders / "language" / "README.md"
    card, about = path.read_text(), hub.ModelCard.load(path).data
    run = made.runs["language"]
    [entry] = about.eval_results
    assert entry.metric_type == "perplexity"
    assert entry.metric_value == pytest.approx(run.test, rel=1e-5)
    assert (about.library_name, about.pipeline_tag) == ("cellwright", "text-generation")
    assert f"| test | {run.metric.written(run.test)} |" in card
    assert f"parameters: {run.result.parameters:,}" in card
    assert "![The graph of the cell](cell.svg)" in card
    assert "<svg" in (made.folders / "language" / "cell.svg").read_text()
    assert "--seed 0" in card


def test_the_weights_are_those_of_any_safetensors_reader(made: Any) -> None:
    from safetensors import safe_open

    with safe_open(made.folders / "language" / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}
        assert set(file.keys()) == set(made.runs["language"].model.state_dict())


# -- damaged folders ---------------------------------------------------------------------------


def copied(made: Any, tmp_path: Path, **changes: Any) -> Path:
    """The language model's folder, with changes of its configuration."""
    folder = Path(shutil.copytree(made.folders / "language", tmp_path / "copied"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
    return folder


def test_weights_that_were_cut_off_are_noticed(made: Any, tmp_path: Path) -> None:
    folder = copied(made, tmp_path)
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    with pytest.raises(UserError, match="is not what was exported"):
        _ = cw.load(folder).model


def test_a_vocabulary_that_was_changed_is_noticed(made: Any, tmp_path: Path) -> None:
    folder = copied(made, tmp_path)
    with (folder / "vocabulary.txt").open("a") as file:
        file.write("more\t1\n")
    with pytest.raises(UserError, match=r"vocabulary\.txt is not what the run has kept"):
        _ = cw.load(folder).model


def test_no_code_is_run_that_a_configuration_names(made: Any, tmp_path: Path) -> None:
    config = json.loads((made.folders / "language" / "config.json").read_text())
    config["run"]["recipe"]["task"]["kind"] = f"{tmp_path / 'evil.py'}:kind"
    (tmp_path / "evil.py").write_text("raise SystemExit('this ran')\n")
    folder = copied(made, tmp_path, run=config["run"])
    with pytest.raises(UserError, match="does not come with cellwright"):
        cw.load(folder)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model_type": "bert"}, "neither a run nor a model that cellwright has exported"),
        ({"format": "cellwright-model/9"}, "this version reads 'cellwright-model/1'"),
        ({"run": {}}, "does not come with cellwright"),
        ({"run": None}, "does not come with cellwright"),
    ],
)
def test_other_configurations_are_told_apart(
    made: Any, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(UserError, match=says):
        cw.load(copied(made, tmp_path, **changes))


@pytest.mark.parametrize("changes", [{"cell": {}}, {"cell": None}])
def test_a_damaged_cell_is_told(made: Any, tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"config\.json"):
        _ = cw.load(copied(made, tmp_path, **changes)).cell


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_as_onnx_and_python(made: Any, kind: str, tmp_path: Path) -> None:
    found = cw.export(made.runs[kind], tmp_path / "model.onnx")
    assert found.note.startswith("ONNX Runtime gives the model's outputs")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    words = json.loads(session.get_modelmeta().custom_metadata_map["cellwright.words"])
    files = cw.export(made.runs[kind], tmp_path / "model.py").files
    assert {path.name for path in files} >= {"model.py", "model.safetensors", "model.words.json"}
    assert json.loads((tmp_path / "model.words.json").read_text()) == words
    assert "cellwright" not in {
        line.split()[1].split(".")[0]
        for line in (tmp_path / "model.py").read_text().splitlines()
        if line.lstrip().startswith(("import ", "from "))
    }


def test_the_perplexity_of_an_onnx_model_is_that_of_its_run(made: Any, tmp_path: Path) -> None:
    """By somebody who has the ONNX file and the text."""
    cw.export(made.runs["language"], tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    known = json.loads(session.get_modelmeta().custom_metadata_map["cellwright.words"])
    lines = made.test_text.splitlines()
    text = [known.index(word) for line in lines for word in (*line.split(), "<eos>")]
    batch = 4  # as the run measured itself: so many readers side by side
    columns = np.array(text[: len(text) // batch * batch]).reshape(batch, -1).T
    state, nats = np.zeros((1, batch, 6), np.float32), []
    for start in range(0, len(columns) - 1, 5):
        targets = columns[start + 1 : start + 6]
        tokens = columns[start : start + len(targets)]
        given = {"tokens": tokens, "lengths": np.full(batch, len(tokens)), "h0": state}
        chances, state = session.run(["log_probabilities", "next_h0"], given)
        nats.append(-np.take_along_axis(chances, targets[..., None], 2))
    found = np.exp(np.concatenate(nats).mean(dtype=np.float64))
    assert found == pytest.approx(made.runs["language"].test, rel=1e-5)


def test_the_tags_of_an_onnx_tagger_have_names(made: Any, tmp_path: Path) -> None:
    """From text to tags as somebody does it who has the ONNX file alone."""
    cw.export(made.runs["tagging"], tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    known = {
        name: json.loads(session.get_modelmeta().custom_metadata_map[f"cellwright.{name}"])
        for name in ("words", "characters", "tags")
    }
    sentence = ["Ann", "left", "Paris"]
    numbers = [
        known["words"].index(word) if word in known["words"] else len(known["words"])
        for word in sentence
    ]
    first = 2  # behind the numbers of padding and of unknown characters
    spelled = [
        [known["characters"].index(c) + first if c in known["characters"] else 1 for c in word]
        for word in sentence
    ]
    longest = max(map(len, spelled))
    given = {
        "lengths": [len(sentence)],
        "words": [[number] for number in numbers],
        "characters": [row + [0] * (longest - len(row)) for row in spelled],
        "character_lengths": [len(row) for row in spelled],
        "character_rows": [[row] for row in range(len(sentence))],
    }
    arrays = {name: torch.tensor(value).numpy() for name, value in given.items()}
    [tags] = session.run(["tags"], arrays)
    [wanted] = cw.tag(made.runs["tagging"], [sentence])
    assert tuple(known["tags"][number] for number in tags[:, 0]) == wanted.tags


def test_a_network_of_ones_own(tmp_path: Path) -> None:
    rnn = cw.Recurrent(cw.zoo["lstm"], 3, 4, dropout=0.5, num_layers=2).double()
    found = cw.export(rnn, tmp_path / "mine.py")
    assert [path.name for path in found.files] == ["mine.py", "mine.safetensors"]
    assert rnn.training
    assert next(rnn.parameters()).dtype == torch.float64
    cw.export(rnn, tmp_path / "mine.onnx")


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.py", "x.onnx"])
def test_a_supernet_is_refused(name: str, tmp_path: Path) -> None:
    nodes = [cw.Node("a", "tanh", ("h0",)), cw.Node("h", "mix", ("a", "h0"))]
    with pytest.raises(UserError, match=r"is a supernet \(mix\), which only a search can run"):
        cw.export(cw.Cell(nodes, states=["h"]), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_has_not_ended_is_refused(tmp_path: Path) -> None:
    run = small_run(write_corpus(tmp_path / "text"), tmp_path / "run")
    with pytest.raises(UserError, match="no weights yet"):
        cw.export(tmp_path / "run", tmp_path / "model.py")
    train(run.folder, run.training)
    folder = RunFolder.open(tmp_path / "run")
    folder.rewrite(folder.info.model_copy(update={"status": "stopped"}))
    with pytest.raises(UserError, match="has not ended: it is stopped; 'cellwright train --resume"):
        cw.export(tmp_path / "run", tmp_path / "model.py")


def test_a_cell_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a folder holds a trained model, and the cell gru is none"):
        cw.export("gru", tmp_path / "gru")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"what": "grru"}, "did you mean 'gru'"),
        ({"what": "gru", "to": "onx"}, "did you mean 'onnx'"),
        ({"what": "gru", "to": "onnx", "path": "gru.py"}, r"ends in \.onnx"),
        ({"what": "gru", "to": "folder", "path": "gru.py"}, "has no ending"),
        ({"what": 7}, "not a int"),
    ],
)
def test_what_was_meant_is_asked(arguments: dict[str, Any], says: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=says):
        cw.export(**arguments)


# -- nothing is lost ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gru.py", "gru.safetensors"])
def test_what_is_there_is_replaced_by_force_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    rnn = cw.Recurrent(cw.zoo["gru"], 3, 4)
    with pytest.raises(UserError, match="is there already; --force"):
        cw.export(rnn, tmp_path / "gru.py")
    assert (tmp_path / name).read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1
    cw.export(rnn, tmp_path / "gru.py", force=True)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_of_something_else_is_not_replaced_even_by_force(made, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("all of it")
    for force in (False, True):
        with pytest.raises(UserError, match=r"is there already|is no exported model"):
            cw.export(made.runs["language"], tmp_path / "mine", to="folder", force=force)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "all of it"


def test_what_somebody_put_into_an_exported_folder_is_not_lost(made, tmp_path: Path) -> None:
    cw.export(made.runs["tagging"], tmp_path / "mine")
    cw.export(made.runs["tagging"], tmp_path / "mine", force=True)
    (tmp_path / "mine" / ".git").mkdir()
    with pytest.raises(UserError, match=r"has \.git, which no export has written"):
        cw.export(made.runs["language"], tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / ".git").is_dir()


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(
    ("name", "writes"), [("model.py", 0), ("model.py", 1), ("model.onnx", 0), ("model", 1)]
)
def test_a_full_disk_or_a_stop_leaves_nothing_half_written(
    made: Any, name: str, there: bool, writes: int, tmp_path: Path, monkeypatch
) -> None:
    run, target = made.runs["language"], tmp_path / name
    if there:
        cw.export(run, target)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for error, met in (
        (OSError(errno.ENOSPC, "No space left on device"), FileError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(whole_files, "_write_parts", failing(error, writes))
            with pytest.raises(met):
                cw.export(run, target, force=True)
        after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert after == before
    assert target.exists() == there


def failing(error: BaseException, writes: int) -> Any:
    """What writes so many files, and then fails in the middle of one."""
    write, left = whole_files._write_parts, [writes]

    def fail(file: Any, data: Any) -> None:
        if not left[0]:
            file.write(b"some")
            raise error
        left[0] -= 1
        write(file, data)

    return fail
