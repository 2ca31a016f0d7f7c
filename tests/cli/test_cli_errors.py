"""Whatever goes wrong is one line on standard error and an exit code, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.cell.zoo import zoo

COMMANDS = {
    "list": ["list"],
    "show": ["show"],
    "draw": ["draw", "-o", "out/"],
    "convert": ["convert", "--to", "cellwright"],
}


def assert_one_line(outcome, code: int, *parts: str) -> None:
    assert outcome.code == code
    assert outcome.err.startswith("error: ")
    if code == 2:
        assert outcome.err.splitlines()[1].startswith("try: ")
    elif "cells look like this" not in outcome.err:
        assert len(outcome.err.splitlines()) == 1
    for part in parts:
        assert part in outcome.err


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_input(run, folder: Path, command: str):
    cells = ["cells", *COMMANDS[command]]
    Path("binary.json").write_bytes(bytes(range(256)) * 10)
    Path("cut.json").write_text(zoo["gru"].to_json()[:-30])
    Path("empty.json").write_text("")
    Path("folder").mkdir()
    assert_one_line(run(*cells, "missing.json"), 1, "missing.json: no such file")
    assert_one_line(run(*cells, "no/such"), 1, "no/such: no such file")
    assert_one_line(run(*cells, "folder"), 1, "folder: the folder has no")
    assert_one_line(run(*cells, "binary.json"), 1, "binary.json: ")
    assert_one_line(run(*cells, "cut.json"), 1, "cut.json: ", "line")
    assert_one_line(run(*cells, "empty.json"), 1, "empty.json: ")
    assert_one_line(run(*cells, "-"), 1, "standard input: ")
    assert_one_line(run(*cells, "ltsm"), 1, "ltsm", "'lstm'")
    assert_one_line(run(*cells, "gru", "--from", "dart"), 2, "'dart'", "'darts'")
    assert_one_line(run(*cells, "gru", "--nonsense"), 2, "--nonsense")


def test_check_of_bad_input(run):
    assert_one_line(run("cells", "check", "missing.json"), 1, "missing.json: no such file")
    assert_one_line(run("cells", "check"), 2, "PATH", "try: cellwright cells check --help")
    assert run("cells", "check", "-", stdin=b"\xff\xfe").code == 1


def test_a_cell_that_does_not_fit_the_format_names_the_cell(run):
    assert_one_line(run("cells", "convert", "lstm", "--to", "darts"), 1, "lstm: ")


def test_a_format_of_one_cell_does_not_take_two(run):
    convert = ("cells", "convert", "fenas-lstm", "fenas-gru", "--to", "fenas")
    assert_one_line(run(*convert), 1, "one at a time")


def test_bad_output(run, folder: Path):
    Path("folder").mkdir()
    Path("file").write_text("")
    convert = ("cells", "convert", "gru", "--to", "cellwright", "-o")
    assert_one_line(
        run(*convert, "no/such/folder.json"), 1, "no/such/folder.json: there is no folder no/such"
    )
    assert_one_line(run(*convert, "folder"), 1, "folder: is a directory")
    draw = ("cells", "draw", "gru", "-o")
    assert_one_line(run(*draw, "no/such/folder.svg"), 1, "no/such/folder.svg", "no folder")
    assert_one_line(run(*draw, "file/"), 1, "file: ")
    assert_one_line(run(*draw, "gru.gif"), 2, ".svg, .pdf or .png")
    assert_one_line(run(*draw, "gru.svg", "--format", "png"), 2, "does not fit")
    assert_one_line(run("cells", "draw", "gru", "lstm", "-o", "x.svg"), 2, "2 cells", "folder")


def test_usage(run):
    assert_one_line(run("cels"), 2, "cels", "cells")
    assert_one_line(run("cells", "lst"), 2, "lst", "list")
    assert_one_line(run("cells", "convert", "gru"), 2, "--to")
    assert_one_line(run("cells", "convert", "gru", "--to", "nas-bench"), 2, "'nas-bench-nlp'")
    assert_one_line(run("cells", "list", "--hidden-size", "0"), 2, "--hidden-size")
    assert run().code == 2


def test_a_name_with_a_null_character(run):
    assert_one_line(run("cells", "show", "a\0b"), 1, "file name")


def test_markup_and_control_characters_in_names_do_no_harm(run, folder: Path):
    name = "[red]x[/nothing] \x1b[31m \ud800 :smile:"
    Path("odd.json").write_text(
        zoo["gru"]
        .renamed("NAME")
        .to_json()
        .replace("NAME", name.replace("\x1b", "\\u001b").replace("\ud800", "\\ud800"))
    )
    for command in (["list"], ["show"], ["show", "--json"], ["draw", "-o", "odd.svg"]):
        outcome = run("cells", *command, "odd.json")
        assert outcome.code == 0
        assert "\x1b" not in outcome.out
    assert "\x1b" not in run("cells", "show", "a\x1b[31m.json").err


def test_a_terminal_without_unicode(shell):
    outcome = shell(
        "cellwright cells show darts-v1 && cellwright cells list", PYTHONIOENCODING="ascii"
    )
    assert outcome.code == 0
    assert outcome.out.isascii()
    json = shell(
        "cellwright cells show gru --json | cellwright cells check -", PYTHONIOENCODING="ascii"
    )
    assert json.code == 0


def test_the_reader_of_a_pipe_goes_away(shell):
    for command in ("cells list", "cells list --json", "cells --help", "cells show sentpair-1"):
        outcome = shell(f"set +o pipefail; cellwright {command} | true")
        assert (outcome.code, outcome.err) == (0, "")


def test_closed_streams(shell):
    assert shell("cellwright cells list >&-").code == 0
    assert shell("cellwright cells show - <&-").code == 1
    assert shell("cellwright cells show nonsense 2>&-").code == 1


def test_process_substitution(shell):
    assert shell("cellwright cells check <(cellwright cells show gru --json)").code == 0


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(number: signal.Signals):
    process = subprocess.Popen(
        [sys.executable, "-m", "cellwright", "cells", "show", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    # More than a pipe holds: once it is all taken, the command is reading.
    process.stdin.write(b" " * 2**20)
    process.stdin.flush()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err.decode() == "error: interrupted\n"


INTERRUPTED_IMPORT = """
import os, signal, sys
from cellwright.__main__ import main

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIG{})

sys.meta_path.insert(0, Interrupting())
main()
"""

INTERRUPTED_END = """
import atexit, os, signal
from cellwright.__main__ import main

atexit.register(lambda: os.kill(os.getpid(), signal.SIG{}))
main()
"""


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_an_interruption_while_the_command_is_imported_or_ends(name: str):
    def done(program: str) -> tuple[int, str]:
        command = [sys.executable, "-c", program.format(name), "cells", "list", "gru"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return found.returncode, found.stderr

    code = 128 + getattr(signal, f"SIG{name}")
    assert done(INTERRUPTED_IMPORT) == (code, "error: interrupted\n")
    assert done(INTERRUPTED_END) == (0, "")


def test_an_interruption_that_others_make_another_error_of(run, monkeypatch):
    def load(*arguments: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("SchemaError: KeyboardInterrupt") from None

    monkeypatch.setattr("cellwright.cli.sources.load", load)
    assert_one_line(run("cells", "list"), 130, "error: interrupted")


@pytest.mark.parametrize(
    "words",
    [
        ("cells", "show", ""),
        ("cells", "draw", "gru", "-o", ""),
        ("train", "gru", "--data", ""),
        ("runs", "list", ""),
        ("bench", "build", "-o", ""),
        ("train", "--resume", ""),
    ],
)
def test_an_argument_that_is_empty_is_refused(run, words: tuple[str, ...]):
    done = run(*words)
    assert (done.code, done.err) == (
        2, "error: an argument is empty: say what is meant, or leave it out\n",
    )  # fmt: skip
    assert not list(Path().iterdir())
