"""The tables, as the newest migration leaves them. `migrations` says how they come about."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

# All names have a prefix: a PostgreSQL database may be shared with programs that have studies and
# trials of their own.

schema = Table("cellwright_schema", metadata, Column("version", Integer, nullable=False))

studies = Table(
    "cellwright_studies",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Double, nullable=False),
    # What the method's state() says beside its log, as JSON; the log is the table of trials.
    Column("search", Text, nullable=False),
    # The function that evaluates a trial and its further arguments, as JSON.
    Column("evaluation", Text, nullable=False),
    # With a window, outcomes are told in the order of asking (see cellwright.trials.study).
    Column("order_window", Integer),
    # How many trials the last driver wanted; for people.
    Column("target", Integer),
    Column("asked", Integer, nullable=False),
    Column("told", Integer, nullable=False),
    # 1 once the method will never ask again.
    Column("exhausted", Integer, nullable=False),
    # The driver that asks and tells; nobody does if no driver has this id.
    Column("leader", Text),
    # What the trials learn, and how its losses are shown, as JSON; null if it was not said.
    Column("task", Text),
)

cells = Table(
    "cellwright_cells",
    metadata,
    Column("id", Text, primary_key=True),
    Column("json", Text, nullable=False),
)

drivers = Table(
    "cellwright_drivers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", BigInteger, ForeignKey(studies.c.id, ondelete="CASCADE"), nullable=False),
    # Where its process is, for those who can look whether it is alive; see `places`.
    Column("host", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("process", Text, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("alive_until", Double, nullable=False),
)

trials = Table(
    "cellwright_trials",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("study_id", BigInteger, ForeignKey(studies.c.id, ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("cell_id", Text, ForeignKey(cells.c.id), nullable=False),
    # Only where this cell is written otherwise than the equal cell in `cells`: a method that goes
    # on must find node names and notes as they were.
    Column("cell_json", Text),
    Column("fidelity", BigInteger, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("info", Text, nullable=False),
    Column("state", Text, nullable=False),
    # The number of the last attempt. Whoever ends an attempt names it, so that the outcome of one
    # that was given up does not count.
    Column("attempt", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Column("driver_id", Text),
    Column("asked_at", Double, nullable=False),
    Column("started_at", Double),
    Column("ended_at", Double),
    # The place of its outcome in the order of telling, and how many trials had been asked then.
    Column("told", Integer),
    Column("told_after", Integer),
    Column("status", Text),
    Column("value", Double),
    Column("cost", Double),
    Column("seconds", Double),
    Column("parameters", BigInteger),
    Column("peak_memory", BigInteger),
    Column("measures", Text),
    Column("error", Text),
    UniqueConstraint("study_id", "number"),
    UniqueConstraint("study_id", "told"),
)

attempts = Table(
    "cellwright_attempts",
    metadata,
    Column("trial_id", BigInteger, ForeignKey(trials.c.id, ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("driver_id", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("ending", Text),
    Column("message", Text),
)

curves = Table(
    "cellwright_curves",
    metadata,
    Column("trial_id", BigInteger, ForeignKey(trials.c.id, ondelete="CASCADE"), primary_key=True),
    Column("name", Text, primary_key=True),
    # A JSON list with a number for each epoch; null is one that was not finite.
    Column("numbers", Text, nullable=False),
)
