"""What the trials of a study learn."""

from __future__ import annotations

import json
from dataclasses import dataclass

from cellwright.tasks.metric import Metric


@dataclass(frozen=True)
class TaskLabel:
    """What the trials of a study learn, as far as those who look at it need to know.

    `data` describes the data for people; it is empty where an earlier version has kept nothing.
    """

    kind: str
    metric: Metric
    data: str = ""

    def to_json(self) -> str:
        """As the store keeps it."""
        values = {"kind": self.kind, "metric": self.metric.model_dump(), "data": self.data}
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str | None) -> TaskLabel | None:
        """The inverse; None for what says nothing, or nothing that this version knows."""
        try:
            values = json.loads(text or "null")
            metric = Metric.model_validate(values["metric"])
            return cls(str(values["kind"]), metric, str(values.get("data", "")))
        except (ValueError, TypeError, KeyError):
            return None
