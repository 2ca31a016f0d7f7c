"""The `cells` commands do what their help says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cellwright.cell import Cell, formats
from cellwright.cell.zoo import zoo


def test_list_shows_the_whole_zoo(run):
    outcome = run("cells", "list")
    assert outcome.code == 0
    for name in zoo:
        assert any(line.startswith(f"{name} ") for line in outcome.out.splitlines()), name


def test_list_as_json_has_the_numbers(run):
    rows = json.loads(run("cells", "list", "lstm", "--input-size", "10", "--json").out)
    lstm = zoo["lstm"]
    assert [row["name"] for row in rows] == ["lstm"]
    assert rows[0]["id"] == lstm.id
    assert rows[0]["parameters"] == lstm.parameters(10, 300)
    assert rows[0]["multiply_adds"] == 4 * 300 * (10 + 300)


def test_list_has_no_numbers_where_the_sizes_do_not_fit(run, folder: Path):
    cell = Cell.from_json(
        '{"format": "cellwright/1", "states": ["h"],'
        ' "nodes": [{"name": "h", "op": "add", "inputs": ["x", "h0"]}]}'
    )
    Path("add.json").write_text(cell.to_json())
    rows = json.loads(run("cells", "list", "add.json", "--input-size", "7", "--json").out)
    assert rows[0]["parameters"] is None
    assert "needs equal sizes" in run("cells", "list", "add.json", "--input-size", "7").out
    assert "needs equal sizes" in run("cells", "show", "add.json", "--input-size", "7").out


def test_show_draws_and_tells(run):
    out = run("cells", "show", "gru").out
    gru = zoo["gru"]
    assert gru.to_text().strip() in out
    assert gru.id in out
    assert f"{gru.parameters(300, 300):,} parameters" in out


def test_show_json_is_the_cell(run):
    assert Cell.from_json(run("cells", "show", "enas", "--json").out) == zoo["enas"]


def test_show_can_simplify(run):
    text = run("cells", "show", "darts-v1", "--json", "--simplify").out
    assert Cell.from_json(text) == zoo["darts-v1"].simplified()


def test_several_cells_stay_several(run):
    text = run("cells", "show", "lstm", "gru", "--json").out
    assert [cell.id for cell in formats.read(text)] == [zoo["lstm"].id, zoo["gru"].id]
    rows = json.loads(run("cells", "list", "-", "--json", stdin=text).out)
    assert [row["id"] for row in rows] == [zoo["lstm"].id, zoo["gru"].id]


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<"), ("png", b"\x89PNG")])
def test_draw_writes_a_picture_and_prints_its_name(run, ending: str, start: bytes):
    outcome = run("cells", "draw", "gru", "-o", f"picture.{ending}")
    assert outcome.out == f"picture.{ending}\n"
    assert Path(f"picture.{ending}").read_bytes().startswith(start)


def test_draw_names_the_file_after_the_cell(run):
    assert run("cells", "draw", "gru").out == "gru.svg\n"
    unnamed = zoo["gru"].renamed("").to_json()
    assert run("cells", "draw", "-", stdin=unnamed).out == f"{zoo['gru'].id}.svg\n"


def test_draw_several_into_a_new_folder(run):
    outcome = run("cells", "draw", "lstm", "gru", "-o", "a/b.c/", "--format", "png", "--no-legend")
    assert outcome.code == 0
    assert sorted(path.name for path in Path("a/b.c").iterdir()) == ["gru.png", "lstm.png"]


def test_draw_keeps_cells_of_one_name_apart_and_inside_the_folder(run, folder: Path):
    cells = [zoo[name].renamed("../evil name") for name in ("lstm", "gru", "gru")]
    text = "[" + ",".join(cell.to_json() for cell in cells) + "]"
    assert run("cells", "draw", "-", "-o", "pictures", stdin=text).code == 0
    id = zoo["gru"].id
    names = ["evil_name.svg", f"evil_name-{id}.svg", f"evil_name-{id}-2.svg"]
    assert sorted(path.name for path in Path("pictures").iterdir()) == sorted(names)
    assert [path.name for path in folder.iterdir()] == ["pictures"]


def test_convert_to_every_format_that_fits_and_back(run):
    for name in ("rnn", "darts-v1", "enas", "sentpair-3"):
        for format in formats.FORMATS:
            outcome = run("cells", "convert", name, "--to", format, "-o", "cell")
            if outcome.code:
                assert outcome.err.startswith(f"error: {name}: ")
                continue
            assert formats.read(Path("cell").read_bytes(), format)[0] == zoo[name]
            back = run("cells", "convert", "cell", "--from", format, "--to", "cellwright").out
            assert Cell.from_json(back) == zoo[name]


def test_convert_several_can_be_read_back(run):
    for format, names in {
        "cellwright": ["lstm", "gru"],
        "darts": ["darts-v1", "darts-v2"],
        "enas": ["enas", "sentpair-1"],
    }.items():
        text = run("cells", "convert", *names, "--to", format).out
        assert [cell.id for cell in formats.read(text)] == [zoo[name].id for name in names]


def test_convert_lists_the_formats(run):
    out = run("cells", "convert", "--formats").out
    assert all(f"{name}: " in out for name in formats.FORMATS)


def test_convert_replaces_a_file_whole(run, folder: Path):
    Path("out.json").write_text("old")
    assert run("cells", "convert", "gru", "--to", "cellwright", "-o", "out.json").code == 0
    assert Cell.from_json(Path("out.json").read_text()) == zoo["gru"]
    assert [path.name for path in folder.iterdir()] == ["out.json"]


def test_every_zoo_cell_survives_every_format_that_can_say_it(run):
    outcome = run("cells", "check", *zoo)
    assert outcome.code == 0, outcome.out


def test_a_pipe_that_is_named_is_read_and_one_in_a_folder_is_not(run, folder: Path):
    reader, writer = os.pipe()
    os.write(writer, zoo["gru"].to_json().encode())
    os.close(writer)
    assert "cdb0c692efc1d7a9" in run("cells", "list", f"/dev/fd/{reader}").out
    os.close(reader)
    Path("cells").mkdir()
    Path("cells/gru.json").write_text(zoo["gru"].to_json())
    os.mkfifo("cells/pipe.json")
    Path("cells/zero.json").symlink_to("/dev/zero")
    listed = run("cells", "list", "cells")
    assert (listed.code, listed.out.count("cdb0c692efc1d7a9"), len(listed.out.splitlines())) == (
        0,
        1,
        2,
    )
