"""`Executor`: where trials run. A job goes in, its ending comes out, exactly once.

A job is a function that can be imported, by its name, and arguments that are JSON values. So it
can go to any process on any machine, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

from cellwright.base.errors import UserError, shown
from cellwright.base.plugins import PluginError, as_place, load, placed_from

Kind = Literal["done", "error", "crashed", "timeout", "memory", "lost", "stopped"]


class ExecutorError(UserError):
    """A job or an executor cannot be made. The message says what would be right."""


@dataclass(frozen=True)
class Call:
    """A function by name, with arguments by name.

    Args:
        function: "package.module:function" or "path/to/file.py:function"; a file must be there
            wherever the call runs.
        arguments: JSON values.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        place = as_place(self.function)
        if place is None:
            raise ExecutorError(
                "a function is named as package.module:function, not "
                f"{shown(self.function)} (or as path/to/file.py:function)"
            )
        if place.where == "__main__":
            raise ExecutorError(
                f"{place.name!r} is defined in the script that runs, which other processes cannot "
                "import; move it into a module of its own"
            )
        object.__setattr__(self, "function", placed_from(self.function))
        try:
            json.dumps(dict(self.arguments))
        except (TypeError, ValueError, RecursionError) as error:
            raise ExecutorError(
                f"the arguments of {self.function} must be JSON values: {error}"
            ) from None

    def resolve(self) -> Callable[..., Any]:
        """The function itself.

        Raises:
            ExecutorError: there is no such module or file, or no such function in it.
        """
        place = as_place(self.function)
        assert place is not None
        try:
            found, _ = load(place)
        except PluginError as error:
            raise ExecutorError(str(error)) from error
        if not callable(found):
            raise ExecutorError(f"{self.function} is not a function")
        function: Callable[..., Any] = found
        return function


@dataclass(frozen=True)
class Job:
    """A call, known by a number that its owner chose.

    Args:
        key: the number.
        call: what to do.
        alone: in a process that does nothing else before or after it, where there are processes:
            what it measures of its process, such as the peak of memory, is then its own.
    """

    key: int
    call: Call
    alone: bool = False


@dataclass(frozen=True)
class Ended:
    """What became of a job.

    Args:
        key: the job's number.
        kind: "done"; "error", the function raised; "crashed", its process died; "timeout" or
            "memory", it passed a limit; "lost", its machine is gone; "stopped", by a person.
        value: what the function gave, as JSON values, if the job is done.
        message: what happened, if it is not. The first line says it all.
        seconds: how long it ran, by the wall clock.
        peak_memory: the most bytes that its process held, if that is known.
    """

    key: int
    kind: Kind
    value: Any = None
    message: str = ""
    seconds: float = 0.0
    peak_memory: int | None = None


@dataclass(frozen=True)
class Limits:
    """What a job may take; None is no limit.

    Args:
        seconds: of the wall clock.
        memory: bytes.
    """

    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ExecutorError(f"the limit of {name} must be more than 0, not {shown(value)}")


class Executor(ABC):
    """Runs jobs somewhere. One thread uses it.

    Whoever has jobs calls `submit` while `free` is more than 0, and `wait` for what has ended.
    Each job that was submitted ends exactly once, however it ends, unless it was cancelled. The
    executor never tries a job again: whether to is its owner's decision.
    """

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many jobs can run at once. May change, where machines come and go."""

    @property
    @abstractmethod
    def free(self) -> int:
        """How many more jobs would start at once if they were submitted now."""

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Start a job, or let it wait for its turn if none is free."""

    @abstractmethod
    def wait(self, timeout: float) -> list[Ended]:
        """The jobs that have ended since the last call.

        Waits up to `timeout` seconds for the first, or not at all if no job is there.
        """

    @abstractmethod
    def cancel(self, patience: float = 0.0) -> None:
        """Drop all jobs. They do not end any more.

        Args:
            patience: those that run are first asked to end, by the signal TERM, and have so many
                seconds to save what they have. Without it they are killed at once.
        """

    @abstractmethod
    def close(self) -> None:
        """Cancel all jobs and end all processes."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def check_count(what: str, value: Any, least: int = 1) -> int:
    """`value` if it is a whole number, not too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ExecutorError(f"{what} must be a whole number from {least} on, not {shown(value)}")
    return value
