"""From a name or a folder to the files of sentences with labels, and what becomes of them.

Data that has a name comes in its official files (`data/labelled_sets.py`). A folder of one's own
has files for train and test, and may have one for valid, named as those of running text are, that
end in `.tsv`, `.csv` or `.jsonl`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from cellwright.base.errors import did_you_mean, shown
from cellwright.data.errors import DataError, DataNotHereError
from cellwright.data.labelled.forms import own_form
from cellwright.data.labelled.options import WAYS, Options
from cellwright.data.labelled.tables import Table
from cellwright.data.labelled_sets import LABELLED, Form, KnownLabelled
from cellwright.data.registry import KNOWN, TAGGED
from cellwright.data.sources import (
    ALIASES,
    PARTS,
    Source,
    file_text,
    fits,
    in_folder,
    is_folder,
    known_folder,
    only_one,
    what_it_has,
)

ENDINGS = ("tsv", "csv", "jsonl", "json")
"""How the files of one's own data end."""

MISMATCHED = "mismatched"
"""The part that only MNLI has: the dev set with texts of other kinds than train's."""

ORIGINAL = "original"
"""The folder that GLUE's archives have for the files that a set was made from."""


@dataclass(frozen=True)
class Located:
    """Files, how their rows look, and what becomes of them.

    `source.texts` has a file for each part that has one: `train` alone if all parts are cut from
    one file. `way` is one of `WAYS`; `cut` says whether valid is cut from train.
    """

    source: Source
    forms: Mapping[str, Form]
    way: str
    cut: bool

    @property
    def per_example(self) -> int:
        """Sentences of an example."""
        return self.forms["train"].per_example


def locate(
    name: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    options: Options | None = None,
) -> Located:
    """The files of sentences with labels.

    Args:
        name: a name of `LABELLED`, or a folder with train, valid and test files. A name goes before
            a folder of the same name; `./mrpc` is always a folder.
        folder: where data of that name is: the folder itself, or one that has it as GLUE's
            archives do. Otherwise `CELLWRIGHT_DATA` and then what was downloaded are searched.
        options: what of it decides which files are taken.

    Raises:
        DataError: it is not there. The message says what to do.
    """
    options = Options() if options is None else options
    text = os.fspath(name)
    known = LABELLED.get(text)
    if known is not None:
        return _known(known, folder, options)
    path = Path(text if folder is None else folder).expanduser()
    if not is_folder(path):
        raise DataError(_no_such(text, path))
    return _own(path, text if folder is not None else path.absolute().name or text, options)


def find_files(known: KnownLabelled) -> Callable[[list[str], str], dict[str, str]]:
    """Says which of some file names are official files of a set; the second argument is where.

    It raises a DataError where they are too few.
    """

    def find(names: list[str], where: str) -> dict[str, str]:
        files = _names(names)
        _arranged(known, files, Options(), where)
        return _wanted(known, files)

    return find


def official_files(name: str, folder: Path) -> list[Path]:
    """The official files of a known set in a folder.

    Raises:
        DataError: they are too few.
    """
    known, place = LABELLED[name], Path(locate(name, folder).source.where)
    names = [path.name for path in place.iterdir() if path.is_file()]
    return [place / file for file in _wanted(known, _with_original(place, names)).values()]


def _wanted(known: KnownLabelled, files: Mapping[str, str]) -> dict[str, str]:
    """All files that a set could ever be read from, but of several forms of one the best."""
    choices = [names for layout in known.layouts for names in layout.values()]
    choices += [known.mismatched, *((name,) for name in known.hidden.values())]
    found = (next((name for name in names if name in files), None) for names in choices)
    return {name: files[name] for name in dict.fromkeys(found) if name is not None}


def _with_original(place: Path, names: list[str]) -> dict[str, str]:
    """Files by their names, those that a set was made from among them."""
    original, more = place / ORIGINAL, []
    if is_folder(original):
        more = [entry.name for entry in os.scandir(original) if entry.is_file()]
    return {name: f"{ORIGINAL}/{name}" for name in more} | _names(names)


def hidden_files(name: str, folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """The official test files without labels that are here, by their names in a submission.

    Raises:
        DataError: the set is not on this machine.
    """
    known = LABELLED[name]
    place = _place(known, folder)
    found = {}
    for called, file in known.hidden.items():
        wanted = [place / file]
        if called == "AX":  # has a folder of its own, beside that of MNLI
            beside = place.parent / "diagnostic"
            wanted += [place / "AX.tsv", beside / file, beside / "AX.tsv"]
        here = next((path for path in wanted if path.is_file()), None)
        if here is not None:
            found[called] = here
    return found


def looks_labelled(name: str) -> bool:
    """Is this sentences with labels by its name, or by the first line of its train file?"""
    if name in LABELLED:
        return True
    path = Path(name).expanduser()
    try:
        if name in KNOWN or name in TAGGED or not path.is_dir():
            return False
        files = [entry.name for entry in os.scandir(path) if entry.is_file()]
        for part in PARTS[:2]:
            for file in files:
                if fits(file, ALIASES[part], ENDINGS):
                    return own_form(file_text(path / file), Options()).label is not None
    except (OSError, ValueError, DataError):
        return False
    return False


def _known(
    known: KnownLabelled, folder: str | os.PathLike[str] | None, options: Options
) -> Located:
    if options.columns or options.separator != "auto" or options.score is not None:
        said = next(iter(options.columns), "separator" if options.score is None else "score")
        raise DataError(f"{known.name} has columns of its own; {said} is for your own files")
    path = _place(known, folder)
    arranged: Arranged | None = None

    def find(files: list[str]) -> Mapping[str, str]:
        nonlocal arranged
        arranged = _arranged(known, _with_original(path, files), options, str(path))
        return arranged.files

    source = in_folder(path, known.name, find)
    assert arranged is not None
    for part, text in source.texts.items():
        Table(text, arranged.forms[part]).check()
    return Located(source, arranged.forms, arranged.way, arranged.cut)


def _names(files: list[str]) -> dict[str, str]:
    return {name: name for name in files}


def _place(known: KnownLabelled, folder: str | os.PathLike[str] | None) -> Path:
    if folder is None:
        return known_folder(known.name)
    own = Path(folder).expanduser()
    below = (own / each for each in (*known.folders, known.name))
    return next((path for path in below if is_folder(path)), own)


@dataclass(frozen=True)
class Arranged:
    """The way, whether valid is cut from train, and of each part the file and its form."""

    way: str
    cut: bool
    files: dict[str, str]
    forms: dict[str, Form]


def _arranged(
    known: KnownLabelled, files: Mapping[str, str], options: Options, where: str
) -> Arranged:
    for way in _ways(options):
        for layout in known.layouts:
            here = {
                part: file
                for part, names in layout.items()
                if (file := next((name for name in names if name in files), None))
            }
            taken = _taken(way, here, "test" in layout, options)
            if taken is not None:
                cut, parts = taken
                named = {part: (here[official], official) for part, official in parts.items()}
                named |= _mismatched(known, files, options, where)
                return Arranged(
                    way,
                    cut,
                    {part: files[name] for part, (name, _) in named.items()},
                    {part: known.form(*each) for part, each in named.items()},
                )
    if options.parts == "official" and not any("test" in layout for layout in known.layouts):
        raise DataError(
            f"{known.name} has no public labels of test; parts 'dev-as-test' does without"
        )
    raise DataNotHereError(_lacking(known, files, options, where))


def _ways(options: Options) -> tuple[str, ...]:
    return WAYS if options.parts == "auto" else (options.parts,)


def _taken(
    way: str, found: Collection[str], tested: bool, options: Options
) -> tuple[bool, dict[str, str]] | None:
    """Whether valid is cut, and for each part the one whose file it is read from, if the parts that
    have been found allow this way."""
    train, valid, test = (part in found for part in PARTS)
    if way == "official" and tested and train and test:
        cut = not valid or options.valid == "cut"
        return cut, {part: part for part in PARTS if part != "valid" or not cut}
    if way == "dev-as-test" and train and valid:
        return True, {"train": "train", "test": "valid"}
    if way == "dev-alone" and valid and (not train or options.parts == way):
        return False, {"train": "valid"}
    return None


def _mismatched(
    known: KnownLabelled, files: Mapping[str, str], options: Options, where: str
) -> dict[str, tuple[str, str]]:
    if not options.mismatched:
        return {}
    if not known.mismatched:
        raise DataError(f"{known.name} has no mismatched part; mnli has one")
    for name in known.mismatched:
        if name in files:
            return {MISMATCHED: (name, MISMATCHED)}
    raise DataError(f"{where}: no file {known.mismatched[0]}, the mismatched part of mnli")


def _lacking(known: KnownLabelled, files: Mapping[str, str], options: Options, where: str) -> str:
    wanted = [" and ".join(names[0] for names in layout.values()) for layout in known.layouts]
    way = "" if options.parts == "auto" else f" for the parts {options.parts!r}"
    return (
        f"{where}: the files of {known.name}{way} are {', or '.join(wanted)} ({what_it_has(files)})"
    )


def _own(path: Path, name: str, options: Options) -> Located:
    if options.mismatched:
        raise DataError(f"{name} has no mismatched part; mnli has one")
    forms: dict[str, Form] = {}
    way, cut = "", False

    def find(files: list[str]) -> Mapping[str, str]:
        nonlocal way, cut
        named = {}
        for part in PARTS:
            fitting = sorted(each for each in files if fits(each, ALIASES[part], ENDINGS))
            one = only_one(part, fitting, str(path))
            if one is not None:
                named[part] = one
                forms[one] = own_form(file_text(path / one), options, labelled=part != "test")
        tested = "test" in named and forms[named["test"]].label is not None
        for way in _ways(options):
            taken = _taken(way, named, tested, options)
            if taken is not None:
                cut, parts = taken
                return {part: named[official] for part, official in parts.items()}
        raise DataError(_no_parts(path, files, named, tested, options))

    source = in_folder(path, name, find)
    by_part = {part: forms[Path(text.label).name] for part, text in source.texts.items()}
    pairs = {part: form.per_example for part, form in by_part.items()}
    if len(set(pairs.values())) > 1:
        each = ", ".join(f"{part} {many}" for part, many in pairs.items())
        raise DataError(f"{path}: the files differ in sentences of an example: {each}")
    return Located(source, by_part, way, cut)


def _no_parts(
    path: Path, files: list[str], named: Mapping[str, str], tested: bool, options: Options
) -> str:
    if "train" in named and "test" in named and not tested:
        return (
            f"{path}: {named['test']} has no column with labels, and there is no file for the part "
            f"'valid' to test on ({what_it_has(files)})"
        )
    part = "train" if "train" not in named else "test"
    how = "" if options.parts == "auto" else f" for the parts {options.parts!r}"
    return (
        f"{path}: no file for the part {part!r}{how}; sentences with labels are a folder with "
        f"train.tsv, test.tsv and, if there is one, valid.tsv, or .csv, or .jsonl "
        f"({what_it_has(files)})"
    )


def _no_such(name: str, path: Path) -> str:
    if path.is_file():
        return f"{name} is a file; give the folder that has train and test files"
    if os.sep in name or name.startswith("."):
        return f"{name}: no such folder"
    if name in KNOWN or name in TAGGED:
        what = "running text" if name in KNOWN else "sentences with tags"
        return f"{name} is {what}, without labels; with labels are {', '.join(LABELLED)}"
    hint = did_you_mean(name.lower(), LABELLED) or f"; known are {', '.join(LABELLED)}"
    return f"unknown labelled data {shown(name)}{hint} (and there is no folder of that name)"
