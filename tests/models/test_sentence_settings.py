"""The settings of models of sentences: the papers' values, and cells that are said in full."""

import subprocess
import sys

import pytest
from pydantic import TypeAdapter, ValidationError

from cellwright.base.bounds import KEPT
from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.models.sentences.settings import (
    BiRnnSettings,
    BlmSettings,
    EsimSettings,
    SentenceSettings,
)

ANY = TypeAdapter(SentenceSettings)
ALL = (BiRnnSettings, BlmSettings, EsimSettings)

DEAD = Cell([Node("g", "linear", ("h0",), bias=False), Node("h", "mul", ("x", "g"))], ["h"])


def test_kind_chooses_the_model():
    for kind, settings in zip(("bi-rnn", "blm", "esim"), ALL, strict=True):
        assert ANY.validate_python({"kind": kind}) == settings()


def test_defaults_are_the_papers():
    fenas, blm, esim = (settings() for settings in ALL)
    assert (fenas.hidden, fenas.layers, fenas.feed_forward) == (1500, 2, 256)
    assert (fenas.dropout_input, fenas.dropout_output) == (0.2, 0.2)
    assert (blm.hidden, blm.dropout_output, blm.dropout_projection, blm.dropout_input) == (
        300, 0.3555, 0.2937, 0.2774
    )  # fmt: skip
    assert not blm.signed_difference
    assert not blm.padding_is_zero
    assert (esim.hidden, esim.hidden_composition) == (200, 300)
    assert (esim.dropout_enhancement, esim.dropout_projection) == (0.4369, 0.5705)
    assert (esim.dropout_input, esim.dropout_composition) == (0.4491, 0.3239)


@pytest.mark.parametrize("settings", ALL)
def test_every_field_is_described(settings):
    for name, field in settings.model_fields.items():
        assert field.description, name


def test_settings_need_no_torch():
    code = (
        "import sys; from cellwright.models.sentences.settings import EsimSettings; "
        "EsimSettings(layer_cells=['*', 'lstm']); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# -- cells of layers -----------------------------------------------------------------------


def test_cells_of_layers_are_said_in_full(tmp_path, monkeypatch):
    file = tmp_path / "mine.json"
    file.write_text(zoo["mgu"].to_json())
    monkeypatch.chdir(tmp_path)
    said = ["*", "lstm", "mine.json", str(file), zoo["gru"].to_json(), "0 0 0 1 1 2 1"]
    settings = BlmSettings(layers=6, layer_cells=said)
    file.unlink()
    star, *texts = settings.layer_cells
    assert star == "*"
    cells = [Cell.from_json(text) for text in texts]
    assert cells[:4] == [zoo["lstm"], zoo["mgu"], zoo["mgu"], zoo["gru"]]
    assert cells[0].name == "lstm"
    assert len(cells[4].nodes) > 10
    assert ANY.validate_json(settings.model_dump_json()) == settings
    assert ANY.validate_python(settings.model_dump(), strict=True) == settings


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"kind": "esim", "layer_cells": ["*"]}, "2 in all, not 1"),
        ({"kind": "blm", "layer_cells": ["*", "lstm"]}, "1 in all, not 2"),
        ({"kind": "bi-rnn", "layer_cells": ["lstm", "gru"]}, "should have a '*'"),
        ({"kind": "esim", "layer_cells": "lstm"}, "should be a list"),
        ({"kind": "esim", "layer_cells": ["*", 3]}, "valid string"),
        ({"kind": "esim", "layer_cells": ["*", "lstmm"]}, "did you mean 'lstm'"),
        ({"kind": "esim", "layer_cells": ["*", ""]}, "there is no cell ''"),
        ({"kind": "esim", "layer_cells": ["*", "nowhere.json"]}, "no file of that name"),
        ({"kind": "esim", "layer_cells": ["*", "a\0b"]}, "there is no cell"),
        ({"kind": "esim", "layer_cells": ["*", "x" * 9999]}, "too long"),
        ({"kind": "esim", "layer_cells": ["*", '{"nodes": [']}, "layer_cells.1"),
        ({"kind": "esim", "layer_cells": ["*", DEAD.to_json()]}, "cannot learn: its output is"),
        (
            {"kind": "esim", "layer_cells": ["*", darts_supernet(2).cell.to_json()]},
            "is a supernet",
        ),
        ({"kind": "blm", "dropout": 0.1}, "dropout"),
        ({"kind": "esim", "layers": 3}, "layers"),
        ({"kind": "blm", "loss": "hinge"}, "'cross-entropy', 'squared' or 'absolute'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(values, named):
    with pytest.raises(ValidationError) as error:
        ANY.validate_python(values)
    assert named in str(error.value)


def test_a_file_with_several_cells_is_refused(tmp_path):
    file = tmp_path / "two.txt"
    file.write_text("0 0 0 1 1 2 1\n0 0 0 1 1 2 2\n")
    with pytest.raises(ValidationError, match="has 2 cells, and one is wanted"):
        EsimSettings(layer_cells=["*", str(file)])


def test_what_was_let_through_once_opens_again():
    kept = {"kind": "esim", "layer_cells": ["*", DEAD.to_json()]}
    assert ANY.validate_python(kept, context=KEPT).layer_cells[1].startswith("{")
