"""What the trials of a study learn."""

from __future__ import annotations

import json
from dataclasses import dataclass

from cellwright.tasks.metric import Metric


@dataclass(frozen=True)
class TaskLabel:
    """What the trials of a study learn, as far as those who look at it need to know."""

    kind: str
    metric: Metric

    def to_json(self) -> str:
        """As the store keeps it."""
        return json.dumps({"kind": self.kind, "metric": self.metric.model_dump()})

    @classmethod
    def from_json(cls, text: str | None) -> TaskLabel | None:
        """The inverse; None for what says nothing, or nothing that this version knows."""
        try:
            values = json.loads(text or "null")
            return cls(str(values["kind"]), Metric.model_validate(values["metric"]))
        except (ValueError, TypeError, KeyError):
            return None
