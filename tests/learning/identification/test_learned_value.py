"""Values of a fit, weighted with those of the class of cars."""

import pytest

from trailbrake.learning.identification.learned_value import LearnedValue, weigh_with_class


def test_a_sure_value_stays_and_a_doubtful_one_is_drawn_to_the_class():
    sure = weigh_with_class(LearnedValue(2.9, 0.02, "identified", "wheel speeds"), 2.6, 0.1)
    assert sure.value == pytest.approx(2.9, abs=0.01)
    assert sure.source == "identified"
    doubtful = weigh_with_class(LearnedValue(3.1, 0.26, "identified", "wheel speeds"), 2.6, 0.1)
    assert doubtful.value == pytest.approx(0.5 * (3.1 + 2.6))
    assert doubtful.sigma == pytest.approx(0.26 / 2.0**0.5)


def test_a_value_that_says_less_than_the_class_is_the_class_s():
    assert weigh_with_class(LearnedValue(3.1, 0.9, "identified"), 2.6, 0.1).source == "prior"
