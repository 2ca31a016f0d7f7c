"""Calls that are all to be done: each once, again after an attempt that came to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cellwright.trials.batch import Batch, Happened
from cellwright.trials.executors import Call, Ended, Executor, Job
from cellwright.trials.retries import Retries


class Scripted(Executor):
    """Ends jobs as it was told to, each with the next of its call's endings."""

    slots = 2

    def __init__(self, endings: dict[str, list[str]]) -> None:
        self._endings, self._jobs = endings, []
        self.most = 0

    @property
    def free(self) -> int:
        return self.slots - len(self._jobs)

    def submit(self, job: Job) -> None:
        self._jobs.append(job)
        self.most = max(self.most, len(self._jobs))

    def wait(self, timeout: float) -> list[Ended]:
        job = self._jobs.pop(0)
        kind: Any = self._endings[job.call.arguments["name"]].pop(0)
        return [Ended(job.key, kind, message="" if kind == "done" else f"it {kind}")]

    def cancel(self, patience: float = 0.0) -> None: ...

    def close(self) -> None: ...


def happened(
    endings: dict[str, list[str]], names: Sequence[str], **arguments: Any
) -> tuple[list[Happened[str]], Scripted]:
    executor = Scripted(endings)
    calls = {name: Call("package.module:function", {"name": name}) for name in names}
    batch, all_of_it = Batch(calls, executor, **arguments), []
    while not batch.is_over:
        all_of_it += batch.move_on()
        assert len(batch.going) < 2
    return all_of_it, executor


def test_all_are_done_in_order_as_many_at_once_as_fit() -> None:
    all_of_it, executor = happened({name: ["done"] for name in "abc"}, "abc")
    assert [(each.key, each.kind) for each in all_of_it] == [
        ("a", "begun"), ("b", "begun"), ("a", "ended"), ("c", "begun"), ("b", "ended"),
        ("c", "ended"),
    ]  # fmt: skip
    assert executor.most == 2


def test_what_comes_to_nothing_is_tried_again_and_then_has_failed() -> None:
    endings = {"a": ["crashed", "done"], "b": ["error", "error", "error"]}
    all_of_it, _ = happened(endings, "ab", retries=Retries(failures=2))
    ends = [each for each in all_of_it if each.kind != "begun"]
    assert [(each.key, each.kind, each.attempts) for each in ends] == [
        ("a", "again", 1), ("b", "again", 1), ("a", "ended", 0), ("b", "again", 2),
        ("b", "failed", 3),
    ]  # fmt: skip
    assert (ends[-1].ending, ends[-1].message) == ("error", "it error")


@pytest.mark.parametrize(("ending", "kind"), [("lost", "again"), ("error", "failed")])
def test_machines_that_vanish_are_counted_apart(ending: str, kind: str) -> None:
    all_of_it, _ = happened({"a": [ending, "done"]}, "a", retries=Retries(failures=0, losses=1))
    assert all_of_it[1].kind == kind


def test_an_end_that_left_nothing_behind_is_none() -> None:
    answers = ["nothing is there", None]
    all_of_it, _ = happened({"a": ["done", "done"]}, "a", missed=lambda key: answers.pop(0))
    assert [each.kind for each in all_of_it] == ["begun", "again", "begun", "ended"]
    assert all_of_it[1].message == "nothing is there"
