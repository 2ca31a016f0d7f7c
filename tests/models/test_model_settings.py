"""The settings: the papers' values, and nothing that makes no sense."""

import subprocess
import sys

import pytest
from pydantic import TypeAdapter, ValidationError

from cellwright.models import AwdSettings, ModelSettings, OneLayerSettings

ANY: TypeAdapter[OneLayerSettings | AwdSettings] = TypeAdapter(ModelSettings)


def test_kind_chooses_the_model():
    assert ANY.validate_python({"kind": "one-layer", "hidden": 300}) == OneLayerSettings(hidden=300)
    assert ANY.validate_python({"kind": "awd", "layers": 2}) == AwdSettings(layers=2)


@pytest.mark.parametrize("settings", [OneLayerSettings(), AwdSettings()])
def test_settings_go_through_json(settings):
    assert ANY.validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"kind": "lstm"}, "'one-layer', 'awd'"),
        ({"hidden": 300}, "kind"),
        ({"kind": "awd", "dropout": 0.1}, "dropout\n"),
        ({"kind": "one-layer", "layers": 2}, "layers"),
        ({"kind": "one-layer", "hidden": 0}, "hidden"),
        ({"kind": "one-layer", "hidden": 12.5}, "hidden"),
        ({"kind": "one-layer", "dropout_x": 1.0}, "dropout_x"),
        ({"kind": "one-layer", "dropout_words": -0.1}, "dropout_words"),
        ({"kind": "one-layer", "dropout_output": float("nan")}, "dropout_output"),
        ({"kind": "one-layer", "init_range": 0.0}, "init_range"),
        ({"kind": "one-layer", "init_range": "wide"}, "above 0 and at most 1,000,000, or 'width'"),
        ({"kind": "one-layer", "init_range": float("nan")}, "init_range"),
        ({"kind": "one-layer", "init_range_embedding": True}, "init_range_embedding"),
        ({"kind": "one-layer", "tar": float("inf")}, "tar"),
        ({"kind": "awd", "ar": -1.0}, "ar"),
        ({"kind": "awd", "layers": 0}, "layers"),
    ],
)
def test_what_is_wrong_is_named(given, named):
    with pytest.raises(ValidationError) as error:
        ANY.validate_python(given)
    assert named in str(error.value)


def test_settings_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        OneLayerSettings().hidden = 300


@pytest.mark.parametrize("settings", [OneLayerSettings, AwdSettings])
def test_every_field_is_described(settings):
    for name, field in settings.model_fields.items():
        assert field.description, name


def test_settings_need_no_torch():
    code = "import sys, cellwright.models; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_starts_are_numbers_or_follow_from_the_width():
    settings = OneLayerSettings(hidden=100, init_range="width", init_range_embedding=0.04)
    starts = (settings.start(settings.init_range), settings.start(settings.init_range_embedding))
    assert starts == (0.1, 0.04)
    assert (OneLayerSettings().init_range, OneLayerSettings().init_range_embedding) == (0.04, 0.1)
    assert ANY.validate_json(settings.model_dump_json()) == settings
