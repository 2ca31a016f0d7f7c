"""Work of any kind that is kept in a folder: a training, a search.

The folder appears whole or not at all. It says what the work is and what has become of it, and it
holds the metrics, the last checkpoint and a lock; `runner.work_in` works in it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from typing_extensions import Self

from cellwright.base.errors import did_you_mean, refused
from cellwright.base.files import sync_folder, write_whole
from cellwright.base.half_made import half_made
from cellwright.base.locks import is_held
from cellwright.base.regular_files import read_regular
from cellwright.runs.errors import RunError
from cellwright.runs.info import Status, WorkInfo
from cellwright.runs.metrics_file import read_metrics

if TYPE_CHECKING:
    from cellwright.runs.checkpoints import Checkpoint

METRICS, LAST, RESULT = "metrics.jsonl", "last.safetensors", "result.json"

State = Literal["running", "killed", "finished", "stopped", "diverged"]
"""What has become of work: as its status, but what no process works on is not running."""

Info = TypeVar("Info", bound=WorkInfo)


@dataclass
class WorkFolder(Generic[Info]):
    """Work on disk. `info` is as it was when it was last read or written."""

    noun: ClassVar[str]
    """What people call it."""
    info_name: ClassVar[str]
    """The file that says what it is."""
    info_type: ClassVar[type[WorkInfo]]
    """What that file holds; the class's own `Info`."""
    resume: ClassVar[str]
    """The command that goes on with such work, before the folder's name."""
    hint: ClassVar[str] = ""
    """What to do when there is none of a name."""

    path: Path
    info: Info

    # -- making and finding ----------------------------------------------------------------

    @classmethod
    def make(cls, info: Info, files: Mapping[str, bytes], wanted: Path, numbered: bool) -> Self:
        """Make a folder with these files, whole or not at all.

        Args:
            info: what the work is.
            files: what is in the folder beside that.
            wanted: the folder, which must not exist or be empty; or else, if `numbered`, it gets a
                number behind its name.
            numbered: see `wanted`.

        Raises:
            RunError: it cannot be made, or its name is taken.
        """
        try:
            wanted.parent.mkdir(parents=True, exist_ok=True)
            with half_made(wanted) as temporary:
                for name, data in {cls.info_name: info.to_json(), METRICS: b"", **files}.items():
                    write_whole(temporary / name, data)
                final = _renamed(temporary, wanted, numbered, cls.noun)
            sync_folder(final.parent)
        except OSError as error:
            raise refused("make", wanted, error) from None
        return cls(final, info)

    @classmethod
    def find(cls, path: Path | str, beside: Path) -> Self:
        """Work by its path, or by its name in the folder `beside`.

        Raises:
            RunError: there is no such work, or the folder is none. The message says which.
        """
        found = cls.place(path, beside)
        return cls(found, cls._read_info(found, beside))

    @staticmethod
    def place(path: Path | str, beside: Path) -> Path:
        """The folder that is meant by a path, or by a name in the folder `beside`."""
        found = Path(path)
        if not found.exists() and not found.is_absolute() and (beside / found).is_dir():
            return beside / found
        return found

    # -- what has become of it -------------------------------------------------------------

    @property
    def state(self) -> State:
        """What has become of it, by what was last read and whether a process works in it."""
        if self.info.status == "running":
            return "running" if is_held(self.path) else "killed"
        return self.info.status

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to do."""
        return self.info.status in ("finished", "diverged")

    def refuse_ended(self) -> None:
        """Say so if there is nothing to go on with."""
        if self.ended:
            raise RunError(f"{self.path} has {self.info.status}, and there is nothing to resume")

    @property
    def go_on(self) -> str:
        """The command that goes on with it."""
        return f"{self.resume} {self.path}"

    @property
    def anew(self) -> str:
        """What gives the same again, behind "put it back, or"."""
        return "do it anew in another folder, with the same seed"

    def refresh(self) -> None:
        """Read again what it is and what has become of it."""
        self.info = self._read_info(self.path, self.path.parent)

    def set_status(self, status: Status) -> None:
        """Write down what has become of it."""
        if status != self.info.status:
            self.rewrite(self.info.model_copy(update={"status": status}))

    def rewrite(self, info: Info) -> None:
        """Write down what it is. Only the process that has its lock may do so."""
        write_whole(self.path / self.info_name, info.to_json())
        self.info = info

    # -- what is in it ---------------------------------------------------------------------

    def metrics(self) -> list[dict[str, Any]]:
        """All records that were written, oldest first."""
        return read_metrics(self.path / METRICS)

    def last(self) -> Checkpoint | None:
        """Where the work would go on; None if it never got so far."""
        return self._checkpoint(LAST)

    def _checkpoint(self, name: str) -> Checkpoint | None:
        from cellwright.runs.checkpoints import load_checkpoint

        path = self.path / name
        return load_checkpoint(path) if os.path.lexists(path) else None

    @classmethod
    def _read_info(cls, path: Path, beside: Path) -> Info:
        file = path / cls.info_name
        try:
            return cls.info_type.from_json(read_regular(file))  # type: ignore[return-value]
        except FileNotFoundError:
            if path.is_dir():
                raise RunError(f"{path} is not a {cls.noun}: it has no {cls.info_name}") from None
            known = [entry.name for entry in beside.iterdir()] if beside.is_dir() else []
            hint = did_you_mean(path.name, known) or cls.hint
            raise RunError(f"there is no {cls.noun} {path}{hint}") from None
        except NotADirectoryError:
            raise RunError(f"{path} is a file; a {cls.noun} is a folder") from None
        except OSError as error:
            raise refused("read", file, error) from None
        except ValueError as error:
            raise RunError(f"{file} is damaged, or of another version: {error}") from None


def _renamed(temporary: Path, wanted: Path, numbered: bool, noun: str) -> Path:
    """Give the folder its name, which nothing else has; or that with a number behind."""
    for number in range(1, 1000):
        final = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            os.rename(temporary, final)  # in place of an empty folder at most
            return final
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            if not numbered:
                break
    raise RunError(
        f"{wanted} is there already; choose another name, or resume it if it is a {noun}"
    )
