"""Look at stores on a medium that must not be written to, by the commands and from Python.

unshare -rm sh -c 'mount -t tmpfs none /mnt && python tests/trials/store/read_only.py /mnt'
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import pytest
from typer.testing import CliRunner

from cellwright.cli import app
from cellwright.trials.store import StoreError, create_study, list_studies, open_store
from cellwright.trials.store.urls import parse
from trials.store.helpers import led_study


def make(disk: Path) -> None:
    """Stores as they may be on such a medium: closed, left by a process that was killed, old."""
    for name in ("closed", "killed", "old"):
        (disk / name).mkdir()
    with open_store(disk / "closed" / "studies.db") as store:
        led_study(store, "s", trials=2)
        create_study(store, "other", {}, {})
        # While it is open, its log has what the file does not have yet.
        for path in (disk / "closed").glob("studies.db*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, disk / "killed")
    assert (disk / "killed" / "studies.db-wal").stat().st_size
    assert os.listdir(disk / "closed") == ["studies.db"]
    connection = sqlite3.connect(disk / "old" / "studies.db")
    connection.executescript((Path(__file__).parent / "version1.sql").read_text())
    connection.close()


def command(*words: str) -> str:
    """What a command prints."""
    done = CliRunner().invoke(app, [*words], env={"COLUMNS": "200"}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def main(disk: Path) -> None:
    """Make stores, let nobody write any more, and look at them."""
    make(disk)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    before = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
    for name, studies in (("closed", "s other"), ("killed", "s other"), ("old", "by hand")):
        place = str(disk / name / "studies.db")
        with open_store(place, only_read=True) as store:
            found = " ".join(study.name for study in list_studies(store))
            assert (found, store.title) == (studies, parse(place).database), name
            with pytest.raises(StoreError, match="was opened to be read"):
                create_study(store, "new", {}, {})
        assert studies.split()[0] in command("studies", "list", "--store", place)
        first = "by hand" if name == "old" else "s"
        assert "0 of" not in command("studies", "show", first, "--store", place)
        with pytest.raises(StoreError, match="must not be written to"):
            open_store(place)
    assert before == {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
    print("all read")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
