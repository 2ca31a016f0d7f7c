"""Settings for all tests. Being here also lets tests import `cells`, the random cells."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:  # tests run side by side: a core each, not all for all
    os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts pytest in the background hands this down, and the tests that press
    # Ctrl-C in processes of their own would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default",
    deadline=None,  # a shared machine is slow at times, and that is not a failure
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory):
    """Token files of tests do not go to the user's cache."""
    folder: Path = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELLWRIGHT_CACHE", str(folder))
        yield


@pytest.fixture(autouse=True, scope="session")
def _one_command_line() -> Iterator[None]:
    """Typer would make all commands anew for each that is run, which takes longer than most."""
    import typer.testing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory):
    """A small corpus: sentences of a made-up language in which the next word is easy to guess."""
    import numpy as np

    from cellwright import data

    folder = tmp_path_factory.mktemp("corpus")
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(25)]
    for part, lines in (("train", 60), ("valid", 12), ("test", 12)):
        text = []
        for _ in range(lines):
            at = int(rng.integers(25))
            text.append(" ".join(words[(at + 3 * step) % 25] for step in range(9)))
        (folder / f"{part}.txt").write_text("\n".join(text) + "\n")
    return data.load(str(folder))


@pytest.fixture(scope="session")
def text_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few hundred words of train, valid and test text."""
    from runs.support import write_corpus

    return write_corpus(tmp_path_factory.mktemp("texts") / "small")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a private PostgreSQL server."""
    from trials.postgres import NoServerError, server

    with ExitStack() as stack:
        try:
            found = stack.enter_context(server())
        except NoServerError as error:
            pytest.skip(str(error))
        yield found.url


WHOLE: dict[str, str] = {}


@pytest.fixture(autouse=True, scope="session")
def _short_builtin(tmp_path_factory: pytest.TempPathFactory):
    """Commands of the documents train on the text that comes with Python; here on a quarter of it.

    A package of the same name before Python's own serves the processes that tests start, too.
    """
    from pydoc_data import topics

    WHOLE.update(topics.topics)
    kept = {name: topics.topics[name] for name in sorted(topics.topics)[1::4]}
    package = tmp_path_factory.mktemp("short") / "pydoc_data"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "topics.py").write_text(f"topics = {kept!r}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topics, "topics", kept)
        patch.syspath_prepend(str(package.parent))  # workers take over the path
        patch.setenv("PYTHONPATH", os.pathsep.join([str(package.parent), *_python_path()]))
        yield


@pytest.fixture
def whole_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the text that comes with Python, for tests about just that."""
    monkeypatch.setattr("pydoc_data.topics.topics", WHOLE)


def _python_path() -> list[str]:
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
