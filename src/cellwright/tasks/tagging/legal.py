"""Which tags may follow each other in a scheme, for a CRF that knows it."""

from __future__ import annotations

import torch

from cellwright.data.tagged.schemes import TagSet
from cellwright.data.tagged.spans import BEGIN, END, INSIDE, OUTSIDE, SINGLE
from cellwright.engine.crf import Allowed


def legal(tags: TagSet) -> Allowed | None:
    """What a sentence may look like in the tags' scheme; None where everything is legal.

    In IOB2 an `I` goes on with a span of its type; in IOBES it is also ended by an `E`, and a span
    of one word is an `S`. In IOB1, and where each word has a label of its own, all is legal.

    >>> allowed = legal(TagSet("IOB2", ("LOC", "PER")))
    >>> allowed.transitions.int().tolist()[1], allowed.starts.int().tolist()
    ([1, 1, 1, 1, 0], [1, 1, 0, 1, 0])
    """
    if tags.scheme not in ("IOB2", "IOBES"):
        return None
    kinds, types = torch.from_numpy(tags.kinds), torch.from_numpy(tags.tag_types)
    begins = (kinds == OUTSIDE) | (kinds == BEGIN) | (kinds == SINGLE)
    goes_on = (kinds == INSIDE) | (kinds == END)
    same = types.unsqueeze(1) == types.unsqueeze(0)
    within = (kinds == BEGIN) | (kinds == INSIDE)  # may be followed by more of the same
    if tags.scheme == "IOB2":
        over = torch.ones_like(begins)
    else:
        over = (kinds == OUTSIDE) | (kinds == END) | (kinds == SINGLE)
    transitions = (over.unsqueeze(1) & begins) | (within.unsqueeze(1) & goes_on & same)
    return Allowed(transitions, begins, over)
