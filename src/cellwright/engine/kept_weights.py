"""Weights as the core packs them, kept from call to call."""

from __future__ import annotations

import torch
from torch import Tensor


class KeptWeights:
    """Weights of one layer as the core packed them, for later calls with the same weights.

    Whether they are the same is for the core to see: it looks at all numbers. A call takes the
    memory and gives it back, so that no other thread has it meanwhile. Copies begin with nothing.
    """

    def __init__(self) -> None:
        self._memory: dict[object, Tensor] = {}

    def __deepcopy__(self, _: object) -> KeptWeights:
        return KeptWeights()

    def __reduce__(self) -> tuple[type[KeptWeights], tuple[()]]:
        return KeptWeights, ()

    def take(self, key: object, floats: int) -> Tensor:
        """The memory that was given back under this key, or new memory."""
        kept = self._memory.pop(key, None)
        if kept is None or kept.numel() != floats:
            kept = torch.zeros(floats, dtype=torch.float32, device="cpu")
        return kept

    def give_back(self, key: object, memory: Tensor) -> None:
        """Keep it for the next call; what other programs left goes."""
        self._memory = {key: memory}
