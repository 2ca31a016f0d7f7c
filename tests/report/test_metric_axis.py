"""The axis of a metric's values."""

from __future__ import annotations

import math

import pytest

from cellwright.report.metric_axis import scale_axis
from cellwright.tasks.language.metric import PERPLEXITY


@pytest.mark.parametrize("heights", [[0.0, 100.0], [math.nan, math.inf, 0.0], [], [1.0, 1e9, 0.0]])
def test_values_that_a_damaged_file_may_have(heights):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    scale_axis(figure.add_subplot(), PERPLEXITY, heights)
