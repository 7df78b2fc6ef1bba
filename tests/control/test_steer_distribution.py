import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.steer_distribution import elect_steer, steer_bins, steer_votes

COUNT = 41


@given(st.lists(st.floats(-0.95, 0.95), min_size=1, max_size=9))
def test_a_steer_that_is_voted_for_is_elected(steers):
    wanted = np.array(steers, np.float32)
    votes = steer_votes(wanted, COUNT)
    assert votes.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    # The votes of a normal curve, its logits: the mean near its top is its middle but for the places' coarseness.
    assert elect_steer(np.log(votes + 1e-9)) == pytest.approx(wanted, abs=0.026)


def test_of_two_minds_the_one_with_more_votes_wins_and_nothing_between():
    left, right = steer_votes(np.array([0.6, -0.6], np.float32), COUNT)
    assert elect_steer(np.log(0.55 * left + 0.45 * right + 1e-9)[None])[0] == pytest.approx(0.6, abs=0.03)
    assert elect_steer(np.log(0.45 * left + 0.55 * right + 1e-9)[None])[0] == pytest.approx(-0.6, abs=0.03)


def test_a_lone_vote_does_not_beat_a_neighbourhood():
    votes = steer_votes(np.array([0.3], np.float32), COUNT)[0] * 0.8
    lone = np.zeros(COUNT, np.float32)
    lone[2] = votes.max() * 1.2
    assert elect_steer(np.log(votes + lone + 1e-9)[None])[0] == pytest.approx(0.3, abs=0.03)


def test_places_go_from_right_to_left():
    assert steer_bins(5).tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]


@given(st.lists(st.floats(-80.0, 80.0, width=32), min_size=COUNT, max_size=COUNT))
def test_any_logits_give_a_steer_in_range(logits):
    steer = elect_steer(np.array([logits], np.float32))[0]
    assert -1.0 <= steer <= 1.0
