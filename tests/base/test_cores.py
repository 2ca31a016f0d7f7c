"""How many threads and processes are too many."""

from __future__ import annotations

import pytest

from cellwright.base import cores as module
from cellwright.base.cores import check_at_once
from cellwright.base.errors import UserError
from cellwright.trials.executors.choosing import check_choice


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(module, "cores", lambda: 2)
    monkeypatch.setattr("cellwright.trials.executors.choosing.cores", lambda: 2)


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("number", [0, -1, 17, 1000, 99_999_999_999, True, "2", 2.0])
def test_too_many_and_what_is_no_number(number):
    said = "threads should be from 1 to 16 on this machine, which has 2 cores, not "
    with pytest.raises(UserError, match=said):
        check_at_once("threads", number)


def test_a_few_for_each_core(monkeypatch):
    for there, most in ((1, 16), (2, 16), (64, 512)):
        monkeypatch.setattr(module, "cores", lambda there=there: there)
        check_at_once("workers", 1)
        check_at_once("workers", most)
        with pytest.raises(UserError, match=f"workers should be from 1 to {most}"):
            check_at_once("workers", most + 1)


@pytest.mark.usefixtures("two_cores")
def test_every_executor_is_asked():
    with pytest.raises(UserError, match="threads should be from 1 to 16"):
        check_choice("in-process", threads=1000)
    with pytest.raises(UserError, match="threads should be from 1 to 16"):
        check_choice("local", threads=1000)
    with pytest.raises(UserError, match="workers should be from 1 to 16"):
        check_choice("local", workers=1000)
    with pytest.raises(UserError, match=r"each trial wants 3 cores .* of this machine alone has 2"):
        check_choice("ray", threads=3)
    check_choice("ray", threads=1000, workers=1000, address="auto")  # it is as large as it is
