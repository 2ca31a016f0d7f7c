"""Code by its place: how it is named, loaded, and what is said where it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cellwright.base.plugins import (
    Place,
    PluginError,
    as_place,
    load,
    place_of,
    placed_from,
    source_of,
    split_place,
)


@pytest.mark.parametrize(
    ("text", "where", "name", "rest"),
    [
        ("mine.py:Mine", "mine.py", "Mine", None),
        (
            "a/b c/mine.py:Mine:temperature=2,label=x",
            "a/b c/mine.py",
            "Mine",
            "temperature=2,label=x",
        ),
        ("C:/x, y/mine.py:Mine:a=1", "C:/x, y/mine.py", "Mine", "a=1"),
        ("a.py:b/mine.py:Mine", "a.py:b/mine.py", "Mine", None),
        ("mine.py:Mine:file=other.py:Name", "mine.py", "Mine", "file=other.py:Name"),
        ("package.module:Mine", "package.module", "Mine", None),
        ("package.module:Mine:a=1", "package.module", "Mine", "a=1"),
        ("mine.py:Mine:", "mine.py", "Mine", ""),
    ],
)
def test_how_a_place_is_read(text, where, name, rest):
    assert split_place(text) == (Place(where, name), rest)


@pytest.mark.parametrize(
    "text",
    ["random", "random:epochs=3", "mine.py", "mine.py:", "mine.py:3", ":Mine", "a b:Mine", ""],
)
def test_what_is_no_place(text):
    assert split_place(text) is None
    assert as_place(text) is None


def test_a_file_runs_once_and_again_when_it_has_changed(tmp_path: Path, capsys):
    file = tmp_path / "code, here.py"
    (tmp_path / "beside_it.py").write_text("number = 4\n")
    file.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "import beside_it\nprint('it runs')\n@dataclass\nclass A:\n    x: int = beside_it.number\n"
    )
    found, source = load(Place(str(file), "A"))
    assert found().x == 4
    assert source.label == "code, here.py:A"
    assert source.file == str(file)
    assert load(Place(str(file), "A"))[0] is found
    out, err = capsys.readouterr()
    assert (out, err) == ("", "it runs\n")  # standard output is the command's
    file.write_text("A = 5\n")
    again, changed = load(Place(str(file), "A"))
    assert again == 5
    assert changed.sha256 != source.sha256
    assert (place_of(found), source_of(found).sha256) == (f"{file}:A", source.sha256)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (None, "there is no file"),
        (
            "class A(:\n",
            r"cannot be loaded: SyntaxError: invalid syntax \(it.py, line 1: class A\(:",
        ),
        ("\nx = 1 / 0\n", r"ZeroDivisionError: division by zero \(it.py, line 2: x = 1 / 0\)"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("class B: pass\n", "has no attribute 'A'"),
        ("class Aa: pass\n", "did you mean 'Aa'"),
        (b"\xff\xfe", "cannot be loaded"),
    ],
)
def test_what_cannot_be_loaded(tmp_path: Path, code, says):
    file = tmp_path / "it.py"
    if code is not None:
        file.write_bytes(code if isinstance(code, bytes) else code.encode())
    before = set(sys.modules)
    with pytest.raises(PluginError, match=says) as caught:
        load(Place(str(file), "A"))
    assert "\n" not in str(caught.value)
    half_run = [name for name in set(sys.modules) - before if name.startswith("_file_it")]
    assert not half_run or "attribute" in str(caught.value)


def test_a_file_is_found_beside_a_recipe_first(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "a.py").write_text("")
    assert placed_from("a.py:A", tmp_path / "recipes") == f"{tmp_path}/recipes/a.py:A"
    assert placed_from("b.py:A", tmp_path / "recipes") == f"{tmp_path}/b.py:A"
    assert placed_from("module:A", tmp_path) == "module:A"
    assert placed_from("random") == "random"


def test_a_class_that_no_name_leads_to():
    class Inside:
        pass

    with pytest.raises(PluginError, match="outside of functions"):
        place_of(Inside)
    assert place_of(Place) == "cellwright.base.plugins:Place"


def test_a_class_of_a_notebook_is_not_found_elsewhere(monkeypatch):
    main = type(sys)("__main__")
    main.Mine = type("Mine", (), {"__module__": "__main__"})
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert place_of(main.Mine) == "__main__:Mine"
    with pytest.raises(PluginError, match="notebook"):
        place_of(main.Mine, elsewhere=True)
    main.__file__ = "/somewhere/script.py"
    assert place_of(main.Mine, elsewhere=True) == "/somewhere/script.py:Mine"
