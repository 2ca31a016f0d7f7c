"""Stores with trials in them, without a method."""

from __future__ import annotations

from typing import Any

from sqlalchemy import update

import cellwright as cw
from cellwright.trials.store import Store, Study, create_study
from cellwright.trials.store.drivers import Driver, join_study, lead
from cellwright.trials.store.log import NewTrial, Step, Told, write_step
from cellwright.trials.store.tables import drivers
from cellwright.trials.store.trials import Claim, claim

CELLS = ("gru", "lstm", "rnn", "darts-v1")
LEASE = 1000.0


def new_trial(number: int, name: str = "", **changes: Any) -> NewTrial:
    """Trial `number`; the zoo's cells take turns."""
    found = cw.zoo[name or CELLS[number % len(CELLS)]]
    values = {
        "number": number,
        "cell": found.to_json(indent=None),
        "fidelity": 3,
        "seed": 2**62 + number,
        "info": {"parent": number - 1},
    }
    return NewTrial(found.id, {**values, **changes})


def led_study(store: Store, name: str = "s", trials: int = 0) -> tuple[Study, Driver]:
    """A study with so many waiting trials, and the driver that leads it."""
    study = create_study(store, name, {"method": "none"}, {"function": "a:b", "arguments": {}})
    driver = join_study(store, study, slots=2, lease=LEASE)
    assert lead(store, driver)
    if trials:
        move(store, driver, 0, 0, new=[new_trial(number) for number in range(trials)])
    return study, driver


def move(
    store: Store,
    driver: Driver,
    asked: int,
    told: int,
    *,
    outcomes: list[Told] | None = None,
    new: list[NewTrial] | None = None,
) -> None:
    """Move the log on from (asked, told)."""
    step = Step(asked, told, outcomes or [], new or [], False)
    store.write(lambda connection: write_step(connection, driver.study_id, driver.id, step))


def claims(store: Store, driver: Driver, most: int = 1) -> list[Claim]:
    """Claim trials for a driver."""
    return store.write(lambda c: claim(c, driver.study_id, driver.id, "here", most))


def set_driver(store: Store, driver: Driver, **values: Any) -> None:
    """Change what the store knows of a driver."""
    store.write(lambda c: c.execute(update(drivers).filter_by(id=driver.id).values(**values)))


def outcome(value: float | None = 1.5, **more: Any) -> dict[str, Any]:
    """What an evaluator gives."""
    status = "ok" if value is not None else "diverged"
    return {"value": value, "status": status, "cost": 2.0, "curve": [3.0, 1.5], **more}
