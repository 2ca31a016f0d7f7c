"""Stores where nothing can be written are read all the same."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.trials.store import Store, StoreError, create_study, list_studies, open_store
from cellwright.trials.store.read_only import as_it_is, copied
from cellwright.trials.store.urls import parse
from own_disk import needs_own_disk, on_own_disk


@needs_own_disk
def test_on_a_medium_that_must_not_be_written_to(tmp_path: Path):
    script = Path(__file__).parent / "read_only.py"
    command = [*on_own_disk(tmp_path), sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all read\n")


def test_who_only_reads_writes_nothing(place: str, store: Store):
    create_study(store, "s", {}, {})
    with open_store(place, only_read=True) as opened:
        assert [study.name for study in list_studies(opened)] == ["s"]
        with pytest.raises(StoreError, match="was opened to be read, not to be written to"):
            create_study(opened, "t", {}, {})


def test_a_log_is_part_of_what_is_read(tmp_path: Path):
    """A process that was killed leaves a log with what the file does not have yet."""
    with open_store(tmp_path / "studies.db") as store:
        create_study(store, "in the log", {}, {})
        left = tmp_path / "left"
        left.mkdir()
        for name in ("studies.db", "studies.db-wal"):
            shutil.copy(tmp_path / name, left)
    url = parse(left / "studies.db")
    assert as_it_is(url) is None
    engine, folder = copied(url)
    with Store(engine, url, folder, only_read=True) as store:
        assert store.title == str(left / "studies.db")
        assert [study.name for study in list_studies(store)] == ["in the log"]
    assert not Path(folder.name).exists()
    closed = as_it_is(parse(tmp_path / "studies.db"))
    assert closed is not None
    with Store(closed) as store:
        assert [study.name for study in list_studies(store)] == ["in the log"]
