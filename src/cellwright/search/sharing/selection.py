"""The end of a search with shared weights: cells are sampled, measured, and the best is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cellwright.search.sharing.listings import Listing
from cellwright.search.sharing.records import Candidate

MOST_DRAWS = 100
"""How often a candidate is drawn again that is one already."""

Measure = Callable[[Listing], float]


@dataclass
class Selection:
    """Candidates, and how far they are measured.

    Where all candidates are finalists, each is measured on all of the validation data at once
    (ENAS). Else they are screened on some of it, and the best of them measured (Li and Talwalkar).

    Args:
        many: candidates that are sampled.
        finalists: candidates that are measured on all of the data.
        candidates: those that have been sampled.
        done: steps that have been taken: one for each candidate, then one for each finalist that
            was screened before.
    """

    many: int
    finalists: int
    candidates: list[Candidate] = field(default_factory=list)
    done: int = 0

    @property
    def screens(self) -> bool:
        """Whether not all candidates are finalists."""
        return self.finalists < self.many

    @property
    def steps(self) -> int:
        """How many there are in all."""
        return self.many + self.finalists * self.screens

    def advance(
        self, draw: Callable[[int, int], Listing], screen: Measure, measure: Measure
    ) -> Candidate:
        """Take a step; the candidate that was measured in it.

        Args:
            draw: samples a cell, from the candidate's number and that of the attempt.
            screen: measures a cell on some of the validation data.
            measure: measures it on all of it.
        """
        if self.done < self.many:
            found = self._new(draw)
            if found.valid is None and found.screened is None:
                listing = found.listing
                if self.screens:
                    found = replace(found, screened=screen(listing))
                else:
                    found = replace(found, valid=measure(listing))
            self.candidates.append(found)
        else:
            best_first = sorted(
                range(self.many), key=lambda place: (self.candidates[place].screened, place)
            )
            place = best_first[self.done - self.many]
            found = self.candidates[place]
            found = replace(found, valid=measure(found.listing))
            self.candidates[place] = found
        self.done += 1
        return found

    def _new(self, draw: Callable[[int, int], Listing]) -> Candidate:
        """A cell that is no candidate yet; where the controller has no other, one that is."""
        known = {candidate.listing: candidate for candidate in self.candidates}
        for attempt in range(MOST_DRAWS):
            listing = draw(len(self.candidates), attempt)
            if listing not in known:
                return Candidate(listing)
        return known[listing]

    def best(self) -> Candidate | None:
        """The candidate with the lowest finite loss on all of the data, the first of equals."""
        measured = [(c.valid, i) for i, c in enumerate(self.candidates) if c.valid is not None]
        finite = [(valid, i) for valid, i in measured if math.isfinite(valid)]
        return self.candidates[min(finite)[1]] if finite else None

    def to_json(self) -> dict[str, Any]:
        """How far it is, as JSON values."""
        return {"candidates": [asdict(candidate) for candidate in self.candidates]} | {
            "done": self.done
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """The inverse of `to_json`."""
        self.candidates = [Candidate.from_json(candidate) for candidate in values["candidates"]]
        self.done = values["done"]
