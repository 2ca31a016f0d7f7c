"""Which packaged recipe suits a text, for those who name none."""

from __future__ import annotations

_BY_TOKENS = ((300_000, "laptop"), (1_500_000, "darts-ptb-training-laptop"))
_LARGE = "ess-wikitext-103-training-laptop"


def laptop_recipe(tokens: int) -> str:
    """The recipe that trains on so many tokens in minutes on two cores.

    Each was made for a corpus of about that size, and all have one layer, so that figures on
    different texts are of the same model.

    >>> laptop_recipe(89_000), laptop_recipe(929_589), laptop_recipe(2_088_628)
    ('laptop', 'darts-ptb-training-laptop', 'ess-wikitext-103-training-laptop')
    """
    return next((name for most, name in _BY_TOKENS if tokens < most), _LARGE)
