"""Checks fail where they must."""

import math

import pytest
from world_validation.case import against, below


@pytest.mark.parametrize(
    ("truth", "world", "bar", "holds"),
    [(100.0, 100.9, 0.01, True), (100.0, 98.9, 0.01, False), (-2.0, -2.1, 0.01, False), (1.0, math.nan, 0.01, False)],
)
def test_a_figure_beyond_its_bar_fails(truth, world, bar, holds):
    assert against("it", truth, world, "m", bar).holds is holds


def test_a_difference_may_be_a_share_of_something_larger():
    assert against("it", 0.01, 0.02, "m", 0.01, scale=2.0).difference == pytest.approx(0.005)


def test_what_should_be_nothing_is_judged_by_its_size():
    assert not below("it", -0.02, "%", 0.01, 100.0).holds
    assert below("it", -0.02, "%", 0.03, 100.0).world == "-2 %"
