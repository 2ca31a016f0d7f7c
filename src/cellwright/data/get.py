"""Bring known data onto this machine: by download, or from files that the user has."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from cellwright.base.errors import did_you_mean, reason
from cellwright.base.half_made import whole_folder
from cellwright.base.progress import Progress
from cellwright.data import builtin, places
from cellwright.data.download import download
from cellwright.data.errors import DataError
from cellwright.data.labelled import files as labelled
from cellwright.data.labelled_sets import LABELLED
from cellwright.data.prepare import write_synced
from cellwright.data.registry import KNOWN, TAGGED, Known
from cellwright.data.sources import Source, find_parts, locate
from cellwright.data.tagged import files as tagged
from cellwright.data.unpack import unpack


def get(
    name: str,
    *,
    origin: str | os.PathLike[str] | None = None,
    url: str | None = None,
    sha256: str | None = None,
    to: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Path:
    """Put a corpus of the registry into a folder, and return that folder.

    What is there already stays, unless `origin` or `url` asks for it anew; it is replaced whole.

    Args:
        name: a name of the registry.
        origin: an archive (zip or tar) or a folder to take the text from, in place of a download.
        url: another address for the download.
        sha256: the hash of the file at `url`; otherwise it has to be the published archive.
        to: the folder to put it in, under its name, so that `CELLWRIGHT_DATA` can name it.
            Otherwise the user's cache folder.
        progress: called with what is being done, how many bytes are done, and how many there are.
    """
    known = _known(name)
    if origin is not None and (url is not None or sha256 is not None):
        raise DataError("a corpus comes from a path or from an address, not from both")
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise DataError(f"{sha256!r} is not a sha256, which has 64 hexadecimal digits")
    target = Path(to).expanduser() / name if to is not None else places.corpora_folder() / name
    if origin is None and url is None and target.is_dir():
        return Path(_locate(name, target).where)
    if name != "builtin" and origin is None and not (known.urls or known.files):
        raise DataError(known.how)
    if url is not None and not (sha256 or known.sha256):
        raise DataError(f"{name} is not published as an archive: --url needs its --sha256 as well")
    fetched: list[Path] = []
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(target) as new:
            if origin is not None:
                _take(name, Path(origin).expanduser(), new, progress)
            elif name == "builtin":
                for part, text in builtin.texts().items():
                    write_synced(new / f"{part}.txt", text)
            else:
                if known.urls or url is not None:
                    fetched.append(_archive(known, url, sha256, progress))
                    _unpack(name, fetched[0], new, progress)
                if url is None:
                    files = _files(known, progress)
                    fetched += files
                    for file, path in zip(known.files, files, strict=True):
                        shutil.copyfile(path, new / file.name)
            _locate(name, new)  # or an error, before anything is replaced
        for path in fetched:
            path.unlink(missing_ok=True)
    except OSError as error:
        where = error.filename or target
        raise DataError(f"{where}: {reason(error)}") from None
    return target


def _known(name: str) -> Known:
    known: dict[str, Known] = {**KNOWN, **TAGGED, **LABELLED}
    if name not in known:
        hint = did_you_mean(name, known) or f"; known are {', '.join(known)}"
        raise DataError(
            f"unknown corpus {name!r}{hint} (a folder of your own needs no getting: "
            "give it wherever a corpus is asked for)"
        )
    return known[name]


def _locate(name: str, folder: Path) -> Source:
    if name in LABELLED:
        return labelled.locate(name, folder=folder).source
    return (tagged.locate if name in TAGGED else locate)(name, folder=folder)


def _unpack(name: str, archive: Path, new: Path, progress: Progress | None) -> None:
    """Copy the files of the parts out of an archive."""
    if name in LABELLED:
        known = LABELLED[name]
        own = {Path(each).name.lower() for each in known.folders}
        unpack(archive, new, progress, labelled.find_files(known), own, labelled.ORIGINAL)
    else:
        unpack(archive, new, progress, tagged.find_parts if name in TAGGED else find_parts)


def _archive(known: Known, url: str | None, sha256: str | None, progress: Progress | None) -> Path:
    failures = []
    for address in known.urls if url is None else (url,):
        try:
            wanted = (sha256 or known.sha256).lower()
            return download(address, wanted, places.downloads_folder(), progress)
        except DataError as error:
            failures.append(str(error))
    raise DataError("\n".join(failures + _hints(known.name)))


def _files(known: Known, progress: Progress | None) -> list[Path]:
    try:
        return [
            download(file.url, file.sha256, places.downloads_folder(), progress)
            for file in known.files
        ]
    except DataError as error:
        raise DataError("\n".join([str(error), *_hints(known.name)])) from None


def _hints(name: str) -> list[str]:
    return [
        f"if you have the files: cellwright data get {name} --from ARCHIVE_OR_FOLDER",
        f"from another address: cellwright data get {name} --url URL [--sha256 HASH]",
    ]


def _take(name: str, origin: Path, new: Path, progress: Progress | None) -> None:
    if not origin.is_dir():
        if not origin.exists():
            raise DataError(f"{origin}: no such file or folder")
        _unpack(name, origin, new, progress)
        return
    absolute = origin if origin.is_absolute() else Path.cwd() / origin
    if name in LABELLED:
        paths = labelled.official_files(name, absolute)
    else:
        texts = (tagged.locate if name in TAGGED else locate)(absolute).texts
        paths = [Path(text.label) for text in texts.values()]
    for path in paths:
        shutil.copyfile(path, new / path.name)
