"""A store in commands that are printed for people to copy: never with its password."""

from __future__ import annotations

import shlex

DEFAULT = "studies.db"
"""The store of commands that name none."""


def with_store(command: str, place: str | None) -> str:
    """A command that works on a store; the option is left out where it is the usual one.

    >>> with_store("cellwright studies show first", "postgresql://me:secret@host/lab")
    'cellwright studies show first --store postgresql://me@host/lab'
    """
    from cellwright.trials.store.urls import SQLITE, parse, shown_place

    if place is None or place == DEFAULT:
        return command
    shown = place if parse(place).get_backend_name() == SQLITE else shown_place(place)
    return f"{command} --store {shlex.quote(shown)}"


def password_note(place: str | None) -> str | None:
    """What to say beside such commands, if the store's password is left out of them."""
    from cellwright.trials.store.urls import has_secrets

    if place is None or not has_secrets(place):
        return None
    return "the password is not shown; PGPASSWORD or ~/.pgpass can supply it"
