"""Terminals of any width: names are always there, nothing is cut to nothing, and what is left out
is said."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cellwright.cell.zoo import zoo
from cellwright.cli import help as help_texts
from cellwright.cli import output
from cellwright.cli.bars import Bar, Bars
from cellwright.cli.output import Trimmed, folded, say
from cellwright.cli.tables import Column, Listing, Whole, fitted, print_facts, shortened

WIDTHS = (40, 80, 200)


def drawn(shown: Any, width: int) -> list[str]:
    stream: Any = Trimmed(io.StringIO())
    Console(file=stream, width=width, no_color=True).print(shown)
    return stream.getvalue().splitlines()


# -- which columns there is room for -------------------------------------------------------------

COLUMNS = st.lists(
    st.tuples(
        st.integers(0, 9), st.sampled_from(["", "fold", "end", "middle"]), st.integers(1, 80)
    ),
    min_size=1,
    max_size=9,
)


@given(COLUMNS, st.integers(20, 200))
def test_what_stays_fits_and_what_goes_had_to(made, room: int):
    columns = [
        Column(f"c{i}", goes if i else 0, short=how) for i, (goes, how, _) in enumerate(made)
    ]
    widths = [width for *_, width in made]
    shown = fitted(columns, widths, room)
    assert list(shown) == sorted(shown)
    assert {i for i, column in enumerate(columns) if not column.goes} <= set(shown)
    assert all(0 < shown[i] <= widths[i] for i in shown)
    total = sum(shown.values()) + 2 * (len(shown) - 1)
    assert total <= room or max(shown.values()) <= 8
    if sum(widths) + 2 * (len(widths) - 1) <= room:
        assert shown == dict(enumerate(widths))


def test_the_least_important_goes_first_and_is_named():
    table = Listing(Column("name"), Column("id", 1), Column("size", 2, right=True))
    table.add("a-long-name", "0123456789", "12")
    assert drawn(table, 40) == [
        "name         id          size",
        "a-long-name  0123456789    12",
    ]
    assert drawn(table, 26) == [
        "name         id",
        "a-long-name  0123456789",
        "not shown at this width:",
        "size",
    ]
    assert drawn(table, 20)[:2] == ["name         size", "a-long-name    12"]  # it has room again
    assert drawn(table, 16)[:2] == ["name", "a-long-name"]


def test_paths_lose_their_middle_and_remarks_their_end():
    assert shortened("/data/corpora/mine", 11, middle=True) == "/data…/mine"
    assert shortened("as it is", 8) == "as it is"
    table = Listing(
        Column("name"),
        Column("where", 1, short="middle", least=9),
        Column("note", 2, short="end", least=5),
    )
    table.add("x", "/home/a/b/c/text", "a remark about it")
    assert drawn(table, 22)[1] == "x     /hom…text  a re…"


# -- facts ---------------------------------------------------------------------------------------


def facts(rows: list[tuple[str, str]], width: int) -> list[str]:
    stream: Any = io.StringIO()
    print_facts(rows, Console(file=stream, width=width, no_color=True))
    return stream.getvalue().splitlines()


def test_facts_are_folded_beside_their_names_or_below():
    rows = [("name", "a value of many words"), ("next", Whole("cellwright train " + "x" * 40))]
    assert facts(rows, 80) == [
        "name  a value of many words",
        "next  cellwright train " + "x" * 40,
    ]
    narrow = facts([("a long name of it", "a value of many words, that is folded")], 30)
    assert narrow == ["a long name of it", "  a value of many words, that", "  is folded"]
    assert facts(rows, 32)[-1].endswith("x" * 40)  # what is copied stays in one line


# -- every command that lists --------------------------------------------------------------------


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> str:
    from cellwright.bench import save
    from cellwright.bench.synthetic import synthetic

    return str(save(synthetic(6, epochs=3), tmp_path_factory.mktemp("b") / "made.bench"))


@pytest.mark.parametrize("width", [20, *WIDTHS])
def test_names_of_cells(run, width: int):
    lines = run("cells", "list", width=width).out.splitlines()
    assert lines[0].split()[0] == "name"
    assert set(zoo) <= {line.split()[0] for line in lines if line}
    check_lines(lines, width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "command",
    [
        ["cells", "list", "gru", "darts-v1"],
        ["data", "list"],
        ["train", "--list-recipes"],
        ["search", "--list-recipes"],
        ["bench", "top", "BENCH"],
        ["bench", "query", "BENCH", "nbnlp-gru"],
        ["bench", "info", "BENCH"],
    ],
    ids=" ".join,
)
def test_lists_of_every_width(run, benchmark: str, command: list[str], width: int):
    done = run(*(word.replace("BENCH", benchmark) for word in command), width=width)
    assert done.code == 0
    lines = done.out.splitlines()
    prose = ("losses ", "–: not read yet")  # sentences, which only terminals fold
    check_lines([line for line in lines if not line.startswith(prose)], width)
    if width < 80 and "info" not in command:
        assert "not shown at this width: " in done.out


def check_lines(lines: list[str], width: int) -> None:
    """Nothing is wider than the terminal, filled up with spaces, or a letter to a line."""
    assert all(cell_len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert "111" not in "".join(str(min(9, len(line.strip()))) for line in lines)


def test_names_of_a_benchmark_are_there_at_80_columns(run, benchmark: str):
    top = run("bench", "top", benchmark, width=80).out
    assert top.startswith("name ")
    assert "nbnlp-lstm" in top
    assert "not shown at this width: " in top
    query = run("bench", "query", benchmark, "nbnlp-gru", width=80).out
    assert any("nbnlp-gru" in line for line in query.splitlines()[1:])


@pytest.mark.parametrize("width", ["0", "-5", "wide", ""])
def test_a_width_that_is_none_is_as_good_as_none(run, monkeypatch, width: str):
    from typer.testing import CliRunner

    from cellwright.cli import app

    found = CliRunner().invoke(app, ["cells", "list", "gru"], env={"COLUMNS": width})
    assert found.stdout == run("cells", "list", "gru", width=160).out
    helped = CliRunner().invoke(app, ["cells", "--help"], env={"COLUMNS": width})
    assert "Usage: cellwright" in helped.stdout.replace("root", "cellwright")


# -- lines ---------------------------------------------------------------------------------------


def test_what_goes_into_a_pipe_has_no_spaces_behind_it():
    stream = io.StringIO()
    trimmed = Trimmed(stream)
    for part in ("a  \nb ", " ", "c \n", "  d  ", "\n"):
        trimmed.write(part)
    assert stream.getvalue() == "a\nb  c\n  d\n"


def test_sentences_are_folded_at_words_on_terminals_alone():
    sentence = "it was put into /a/rather/long/path/of/a/folder and that was all"
    piped, shown = io.StringIO(), io.StringIO()
    say(sentence, "", Console(file=piped, width=20))
    say(sentence, "", Console(file=shown, width=20, force_terminal=True, no_color=True))
    assert piped.getvalue() == sentence + "\n"
    assert shown.getvalue().splitlines() == folded(sentence, 20)
    assert "/a/rather/long/path/of/a/folder" in folded(sentence, 20)


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_of_every_width(width: int):
    bars = Bars(
        [
            Bar("random-nas-bench-nlp-1 seed 12", 0.5, 61.0, ("epoch 6 of 10", "best 91.75")),
            Bar("all trainings", 0.25, None, ("1 of 4", "25%")),
        ]
    )
    lines = drawn(bars, width)
    assert len(lines) == 2
    assert all(cell_len(line) <= width for line in lines)
    assert lines[0].endswith("1:01 left")
    assert ("best 91.75" in lines[0]) == (width > 40)
    assert lines[0].startswith("random-nas-bench-nlp-1 seed 12"[: max(8, width // 2 - 1)])


@pytest.mark.parametrize("command", [[], ["train"], ["bench"], ["search"], ["similarity"]])
def test_help_in_a_narrow_terminal_has_every_word(run, command: list[str]):
    narrow = run(*command, "--help", width=help_texts.NARROW - 20).out
    wide = run(*command, "--help", width=400).out
    before, _, examples = narrow.partition("Examples")
    check_lines(before.rstrip().splitlines(), help_texts.NARROW - 20)
    assert examples.split() == wide.partition("Examples")[2].split()
    words = {word for word in wide.split() if word.startswith("--") or word.isalpha()}
    assert words <= set(narrow.split()) | {"COMMAND"}


def test_consoles_are_never_narrower_than_can_be_read(monkeypatch):
    monkeypatch.setenv("COLUMNS", "3")
    assert output.stdout().width == output.LEAST_WIDTH


def test_a_long_name_of_a_run_is_folded_and_whole(run, trained):
    name = "a-rather-long-name-of-a-run-for-any-table"
    trained("gru", name)
    for columns in (40, 80):
        _, first, second, *_ = run("runs", "list", width=columns).out.splitlines()
        assert first.split()[0] + second.split()[0] == name
        assert "finished" in first
