"""Tables for people and papers: numbers in full as CSV, words that LaTeX sets as they stand."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from cellwright.base.endings import EndingError
from cellwright.report.latex import escaped, number
from cellwright.report.tables import (
    Column,
    Measured,
    Said,
    Table,
    best_rows,
    to_csv,
    to_latex,
    to_markdown,
    write_table,
)

TABLE = Table(
    [
        Column("cell & co", "cell", right=False),
        Column("parameters", "parameters", "{:,}".format),
        Column("valid", "valid", "{:.1f}".format, measured=True),
        Column("test", "test"),
    ],
    [
        ("found_1", 1_234_567, Measured(98.71, 1.234), Said(97.449, "97.4")),
        ("a|b", None, Measured(103.5), None),
        ("gone", 5, None, None),
    ],
    "100% of cells, mean ± deviation",
    "tab:x",
    {0},
)


def test_latex():
    text = to_latex(TABLE)
    head, body = text.split(r"\begin{table}")
    assert all(line.startswith("% ") for line in head.splitlines())
    assert r"\usepackage{booktabs}" in head
    assert r"\caption{100\% of cells, mean $\pm$ deviation}" in body
    assert r"\label{tab:x}" in body
    assert r"\begin{tabular}{lrr@{}lr}" in body
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert rows == [
        r"cell \& co & parameters & \multicolumn{2}{c}{valid} & test \\",
        r"\textbf{found\_1} & \boldmath$1{,}234{,}567$ & \boldmath$98.7$ & "
        r"\boldmath${}\pm 1.2$ & \boldmath$97.4$ \\",
        r"a\textbar{}b & -- & $103.5$ & & -- \\",
        r"gone & $5$ & -- & & -- \\",
    ]
    columns = {line.replace(r"\&", "").count("&") for line in rows[1:]}
    assert columns == {4}
    assert all(rule in body for rule in (r"\toprule", r"\midrule", r"\bottomrule"))


def test_markdown():
    lines = to_markdown(TABLE).splitlines()
    assert lines[0] == "100% of cells, mean ± deviation"
    assert lines[3] == "| --- | ---: | ---: | ---: |"
    assert lines[4] == "| **found\\_1** | **1,234,567** | **98.7 ± 1.2** | **97.4** |"
    assert lines[5] == "| a\\|b | – | 103.5 | – |"


def test_csv_has_all_digits():
    rows = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert rows[0] == {
        "cell": "found_1", "parameters": "1234567", "valid": "98.71", "valid_deviation": "1.234",
        "test": "97.449",
    }  # fmt: skip
    assert (rows[2]["valid"], rows[2]["test"]) == ("", "")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 50% #1", r"a\_b \& 50\% \#1"),
        ("~ ^ \\ {x}", r"\textasciitilde{} \textasciicircum{} \textbackslash{} \{x\}"),
        ("$x$ <a> |", r"{\char36}x{\char36} \textless{}a\textgreater{} \textbar{}"),
        ("± · θ − σ → ∞", r"$\pm$ $\cdot$ $\theta$ $-$ $\sigma$ $\to$ $\infty$"),
        ("Müller, Łódź, façade, naïve", r"M\"{u}ller, \L{}\'{o}d\'{z}, fa\c{c}ade, na\"{\i}ve"),
        ("“q” – …", r"``q'' -- \ldots{}"),
        ("中 🙂 \ud800\x00", "? ? ??"),
        ("a\nb\tc", "a b c"),
        ("R² ﬁ", r"R$^2$ fi"),
    ],
)
def test_words_in_latex(text, latex):
    found = escaped(text)
    assert found == latex
    assert found.isascii()


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("1,234.50", "$1{,}234.50$"),
        ("-0.5", "$-0.5$"),
        ("−0.5", "$-0.5$"),
        ("2e+07", r"$2 \times 10^{7}$"),
        ("62%", r"$62\%$"),
        ("∞", r"$\infty$"),
        ("3 min 20 s", "3 min 20 s"),
        ("3 of 4", "3 of 4"),
        ("–", "--"),
    ],
)
def test_numbers_in_latex(text, latex):
    assert number(text) == latex


def test_the_best_rows():
    assert best_rows([3.0, 1.0, None, float("nan")]) == {1}
    assert best_rows([3.0, 1.0, 3.0], higher_is_better=True) == {0, 2}
    assert best_rows([None, float("inf")]) == set()


def test_the_ending_says_the_format(tmp_path: Path):
    for kind, begins in (("csv", "cell,"), ("md", "100%"), ("tex", "% To see")):
        path = tmp_path / f"my-table.{kind}"
        write_table(TABLE, path)
        assert path.read_text().startswith(begins)
    assert r"\input{my-table}" in (tmp_path / "my-table.tex").read_text()
    with pytest.raises(EndingError, match=r"x.xlsx: a table's name ends in \.csv, \.md or \.tex"):
        write_table(TABLE, tmp_path / "x.xlsx")
    assert not (tmp_path / "x.xlsx").exists()
