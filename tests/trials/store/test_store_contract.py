"""SQLite and PostgreSQL hold what every store has to hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cellwright.testing import STORE_CHECKS


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_it_holds_what_a_store_has_to_hold(place: str, check: Callable[[str], None]) -> None:
    check(place)
