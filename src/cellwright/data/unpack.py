"""The three texts out of an archive, and nothing else.

Members are picked by name and copied into files whose names have no folder in them, so nothing
can be written elsewhere; links are never followed. An archive with a member that points outside is
refused altogether.
"""

from __future__ import annotations

import contextlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from cellwright.base.errors import reason
from cellwright.base.files import sync
from cellwright.base.progress import Progress
from cellwright.base.regular_files import open_regular
from cellwright.base.zip_files import points_outside
from cellwright.data.errors import DataError
from cellwright.data.sources import find_parts

MOST_BYTES = 8 * 2**30
"""The most that an archive may unpack to."""

MOST_MEMBERS = 100_000

_DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, ValueError,
    NotImplementedError,
)  # fmt: skip


Find = Callable[[list[str], str], dict[str, str]]
"""Says which of some file names holds which part; the second argument is for its message."""


def unpack(
    archive: Path,
    folder: Path,
    progress: Progress | None = None,
    find: Find = find_parts,
    within: Container[str] = (),
    below: str = "",
) -> None:
    """Copy the files of the parts from a zip or tar file into an existing folder.

    Args:
        archive: the file.
        folder: where they go.
        progress: called while they are copied.
        find: says which files they are.
        within: names of folders, in lower case, that are looked into before others.
        below: a folder in the one with the files, whose files are taken for files of that one.
    """
    try:
        with _opened(archive) as opened:
            opened.extract(folder, progress, _Choice(find, within, below))
    except DataError:
        raise
    except _DAMAGED as error:
        raise DataError(f"{archive}: the archive is damaged ({error})") from None
    except RuntimeError:  # after NotImplementedError, which is one
        raise DataError(f"{archive}: is encrypted; unpack it first, and give the folder") from None


class _Choice(NamedTuple):
    """How files are chosen."""

    find: Find
    within: Container[str]
    below: str


def _opened(path: Path) -> contextlib.AbstractContextManager[_Zip | _Tar]:
    try:
        open_regular(path).close()
        if zipfile.is_zipfile(path):
            return _zip(path)
        if tarfile.is_tarfile(path):
            return _tar(path)
    except OSError as error:
        raise DataError(f"{path}: {reason(error)}") from None
    raise DataError(f"{path}: neither a zip nor a tar file, nor a folder")


@contextlib.contextmanager
def _zip(path: Path) -> Iterator[_Zip]:
    with zipfile.ZipFile(path) as file:
        yield _Zip(path, file)


@contextlib.contextmanager
def _tar(path: Path) -> Iterator[_Tar]:
    with tarfile.open(path) as file:
        yield _Tar(path, file)


class _Zip:
    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path, self.file = path, file

    def extract(self, folder: Path, progress: Progress | None, choice: _Choice) -> None:
        listing = _Listing(self.path)
        for info in self.file.infolist():
            kind = info.external_attr >> 28
            # Zip files from systems without file kinds have 0 there; 8 is a regular file.
            regular = not info.is_dir() and kind in (0, 8)
            listing.add(info.filename, info.file_size, regular)
        for name, target in listing.chosen(choice).items():
            with self.file.open(name) as stream:
                _copy(stream, folder / target, self.file.getinfo(name).file_size, progress)


class _Tar:
    def __init__(self, path: Path, file: tarfile.TarFile) -> None:
        self.path, self.file = path, file

    def extract(self, folder: Path, progress: Progress | None, choice: _Choice) -> None:
        listing = _Listing(self.path)
        members = {}
        for member in self.file:
            listing.add(member.name, member.size, member.isreg())
            if member.isreg():
                members[member.name] = member
        for name, target in listing.chosen(choice).items():
            stream = self.file.extractfile(members[name])
            assert stream is not None
            with stream:
                _copy(stream, folder / target, members[name].size, progress)


class _Listing:
    """The regular files of an archive by folder, with every bound checked on the way."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folders: dict[PurePosixPath, dict[str, str]] = {}
        self.members = self.size = 0

    def add(self, name: str, size: int, regular: bool) -> None:
        path = PurePosixPath(name.replace("\\", "/"))
        if points_outside(name):
            raise DataError(f"{self.path}: refused, its member {name!r} points outside")
        self.members += 1
        self.size += size
        if self.members > MOST_MEMBERS or self.size > MOST_BYTES:
            raise DataError(
                f"{self.path}: refused, it unpacks to more than {MOST_BYTES:,} bytes or "
                f"{MOST_MEMBERS:,} files"
            )
        if regular:
            self.folders.setdefault(path.parent, {})[path.name] = name

    def chosen(self, choice: _Choice) -> dict[str, str]:
        """Members of the first folder that has all parts, with plain names for them."""
        errors = []

        def order(path: PurePosixPath) -> tuple[bool, int, PurePosixPath]:
            return path.name.lower() not in choice.within, len(path.parts), path

        for folder in sorted(self.folders, key=order):
            files = self.folders[folder]
            if choice.below:
                files = {**self.folders.get(folder / choice.below, {}), **files}
            try:
                parts = choice.find(list(files), f"{self.path} ({folder}/)")
            except DataError as error:
                errors.append(error)
                continue
            return {files[name]: name for name in parts.values()}
        if len(errors) == 1:
            raise errors[0]
        raise DataError(
            f"{self.path}: no folder in it has train, valid and test text "
            "(as train.txt, ptb.train.txt or wiki.train.tokens)"
        )


def _copy(stream: IO[bytes], target: Path, size: int, progress: Progress | None) -> None:
    done = 0
    with open(target, "xb") as file:
        while block := stream.read(2**20):
            done += len(block)
            if done > size:
                raise DataError(f"{target.name}: longer than the archive says; refused")
            file.write(block)
            if progress is not None:
                progress(f"unpacking {target.name}", done, size)
        sync(file)
    if done < size:
        raise DataError(f"{target.name}: shorter than the archive says; it is damaged")
