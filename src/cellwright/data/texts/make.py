"""A corpus from a folder of texts: train.txt, valid.txt, test.txt; and corpus.json says how."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from cellwright.base.errors import refused
from cellwright.base.half_made import whole_folder
from cellwright.base.progress import Progress
from cellwright.base.signals import stop_requests
from cellwright.data.errors import DataError
from cellwright.data.texts.found import find, is_made
from cellwright.data.texts.made import Made, Options
from cellwright.data.texts.work import Meter, Work


def make(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    files: Sequence[str] = (),
    encoding: str = "utf-8",
    skip_bad: bool = False,
    tokens: str = "words",
    lower: bool = False,
    numbers: bool = False,
    split: str | None = None,
    valid: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    vocabulary: int = 10_000,
    least: int = 2,
    force: bool = False,
    progress: Progress | None = None,
) -> Made:
    """Make a corpus of all text below a folder, or of one file; `load(out)` opens it.

    Ctrl-C and the signal TERM leave nothing behind.

    Args:
        source: the folder, or the file.
        out: the folder to make. Nothing that is there is overwritten.
        files: patterns of file names, as `*.py`, in place of the usual endings.
        encoding: of all files. A byte-order mark is dropped.
        skip_bad: pass over files that are not of this encoding; otherwise they are an error.
        tokens: `words`, `spaces` or `characters`; `texts/words.py` has the rules.
        lower: make all letters lower case.
        numbers: make every number `N`.
        split: `files`, whole files into each part, or `share`, blocks of lines; None decides by
            the number and sizes of the files.
        valid: the share of the text that valid gets.
        test: the share of the text that test gets.
        seed: decides which files, or which blocks.
        vocabulary: the most types, with `<unk>` and `<eos>`; the most frequent of train are kept.
        least: how often train has to have a word.
        force: replace `out` if it was made so.
        progress: called with what is being done, bytes done, and bytes in all.

    Raises:
        DataError: there is no text, not enough of it, text of another encoding, or something in
            the place of `out`. The message says what to do.
        FileError: it cannot be written.
    """
    started = time.perf_counter()
    options = Options(
        files=tuple(files),
        encoding=encoding,
        skip_bad=skip_bad,
        tokens=tokens,
        lower=lower,
        numbers=numbers,
        split=split,
        valid=valid,
        test=test,
        seed=seed,
        vocabulary=vocabulary,
        least=least,
    )
    origin, target = Path(source).expanduser(), Path(out).expanduser()
    _check_place(origin, target, force)
    found = find(origin, options.files, target)
    with stop_requests() as stop:
        work = Work(origin, found, options, Meter(progress, stop))
        work.read_all()
        work.decide()
        try:
            with whole_folder(target, replace=force) as new:
                work.write_words(new)
                made = work.write_parts(new, str(out), started)
        except OSError as error:
            raise refused("write", target, error) from None
    return made


def _check_place(origin: Path, target: Path, force: bool) -> None:
    here, there = os.path.realpath(origin), os.path.realpath(target)
    if here == there:
        raise DataError(f"{target} is the text itself; give another folder for the corpus")
    if not os.path.lexists(target):
        above = next((folder for folder in target.parents if folder.exists()), target.parent)
        if not above.is_dir():
            raise DataError(f"{above} is a file, and no folder can be in it")
        return
    if target.is_dir() and not target.is_symlink():
        if not any(target.iterdir()):
            return
        if os.path.commonpath([here, there]) == there:
            raise DataError(f"{target} has the text in it; give another folder for the corpus")
        if is_made(target):
            if force:
                return
            raise DataError(
                f"{target} has a corpus already; give another folder, or --force to replace it"
            )
    raise DataError(
        f"{target} is there already, and not a corpus that was made from texts; give another folder"
    )
