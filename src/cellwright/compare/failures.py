"""Trainings that failed, however often they were tried: `failures.json` in the folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as checked

from cellwright.base.errors import refused
from cellwright.base.files import remove, write_whole
from cellwright.base.json_values import loads
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import Count, first_problem
from cellwright.compare.plan import Plan
from cellwright.runs.errors import RunError

FAILURES = "failures.json"


@checked(frozen=True, config=ConfigDict(strict=True))
class Failure:
    """A training that came to nothing; `ending` and `message` are of its last attempt."""

    label: str
    seed: Count
    ending: str
    message: str
    attempts: Count

    @property
    def why(self) -> str:
        """What happened, in a line."""
        first = (self.message or self.ending).splitlines()[0]
        return first if self.attempts == 1 else f"{first} (the last of {self.attempts} attempts)"

    def __str__(self) -> str:
        _, *rest = (self.message or self.ending).splitlines()
        return "\n".join([f"{self.label}, seed {self.seed}: {self.why}", *rest])


def read_failures(plan: Plan) -> list[Failure]:
    """What failed when the comparison was last worked on.

    Raises:
        RunError: the file is damaged.
    """
    path = plan.folder / FAILURES
    try:
        return [Failure(**entry) for entry in loads(read_regular(path))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise refused("read", path, error) from None
    except ValidationError as error:
        raise RunError(f"{path} is damaged: {first_problem(error)}; remove it") from None
    except (ValueError, TypeError):
        raise RunError(f"{path} is damaged: it is no list of failures; remove it") from None


def write_failures(plan: Plan, failures: Sequence[Failure]) -> None:
    """Keep what failed; no file if nothing did."""
    path = plan.folder / FAILURES
    if failures:
        text = json.dumps([asdict(failure) for failure in failures], indent=2)
        write_whole(path, text.encode() + b"\n")
    else:
        remove(path)


def refuse_failures(failures: Sequence[Failure]) -> None:
    """Say so if trainings failed."""
    if failures:
        number = len(failures)
        raise RunError(
            f"{number} {'training' if number == 1 else 'trainings'} failed; the same command tries "
            "again:\n" + "\n".join(map(str, failures))
        )
