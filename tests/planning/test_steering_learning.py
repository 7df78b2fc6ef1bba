"""Learning of the steering, on made-up laps and on a car of which all is known."""

import math

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.planning.steering_learning import (
    GAIN,
    KEPT_CORRECTION,
    MOST_CORRECTION,
    MOST_OFFSET,
    SLIDE_AHEAD,
    SLIDE_BEHIND,
    STATION,
    SteeringLearning,
    SteeringSample,
)

LENGTH = 800.0


def drive_lap(learning, sample_at):
    """Take a lap of samples, 1 m apart, and end it."""
    for s in np.arange(0.5, LENGTH, 1.0):
        learning.add_sample(s, sample_at(s))
    learning.finish_lap()


def sample(*, offset=0.0, steer=0.0, sideslip=0.0, slip=0.5):
    return SteeringSample(offset, steer, sideslip, slip)


def circuit():
    return SteeringLearning(LENGTH, closed=True)


def test_what_was_missing_is_taken_over_by_a_share_and_each_to_its_own():
    learning = circuit()
    drive_lap(learning, lambda s: sample(steer=0.01, sideslip=-0.02))
    assert learning.corrections[0] == pytest.approx(GAIN * 0.01)
    assert learning.corrections[1] == pytest.approx(-GAIN * 0.02)


def test_feedback_that_a_correction_replaces_vanishes_in_a_few_laps():
    """The feedback is what the plan lacks, a bend of 100 m, less the correction; one of 9 m in it is smoothed away."""
    learning = circuit()

    def lacking(s):
        return 0.02 * math.sin(math.pi * (s - 300.0) / 100.0) if 300.0 <= s < 400.0 else 0.0

    left = []
    for _ in range(5):
        rows = learning.corrections_at(int(LENGTH), 1.0)[0]
        drive_lap(learning, lambda s, rows=rows: sample(steer=lacking(s) - rows[int(s)]))
        left.append(max(abs(lacking(s) - rows[int(s)]) for s in np.arange(320.5, 380.0, 1.0)))
    assert left[0] == pytest.approx(0.02, rel=0.01)
    assert left == sorted(left, reverse=True)
    assert left[-1] < 0.1 * left[0]


def test_single_stations_are_not_followed():
    learning = circuit()
    drive_lap(learning, lambda s: sample(steer=0.02 if 400.0 <= s < 404.0 else 0.0))
    assert 0.0 < learning.corrections[0].max() < 0.25 * 0.02


def test_where_the_car_slid_corrections_are_taken_back_and_followed_less():
    learning = circuit()
    drive_lap(learning, lambda s: sample(steer=0.02))
    before = learning.corrections[0].copy()
    drive_lap(learning, lambda s: sample(steer=0.02, slip=1.2 if 400.0 <= s < 404.0 else 0.5))
    at_slide, behind, ahead = (
        int(s / STATION) for s in (402.0, 402.0 + SLIDE_BEHIND + 40.0, 402.0 - SLIDE_AHEAD + 8.0)
    )
    assert learning.corrections[0, at_slide] < before[at_slide]
    assert learning.corrections[0, ahead] < 1.3 * before[ahead] < learning.corrections[0, behind]
    kept = learning.corrections[0, at_slide]
    drive_lap(learning, lambda s: sample(steer=0.0 if s < 300.0 or s > 500.0 else 0.002))
    assert learning.corrections[0, at_slide] == pytest.approx(kept + 0.5 * GAIN * 0.002, abs=0.002)
    assert KEPT_CORRECTION < 1.0


def test_far_from_the_line_a_lap_teaches_nothing():
    learning = circuit()
    drive_lap(learning, lambda s: sample(offset=1.01 * MOST_OFFSET, steer=0.02, sideslip=0.02))
    assert not learning.corrections.any()


def test_corrections_are_bounded():
    learning = circuit()
    for _ in range(9):
        drive_lap(learning, lambda s: sample(steer=0.3, sideslip=-0.3))
    assert learning.corrections.max() == MOST_CORRECTION
    assert learning.corrections.min() == -MOST_CORRECTION


def test_over_the_start_of_a_circuit_and_at_the_ends_of_a_road():
    """On an open road nothing of its end reaches its beginning."""
    for closed in (True, False):
        learning = SteeringLearning(LENGTH, closed=closed)
        drive_lap(learning, lambda s: sample(steer=0.02 if s > LENGTH - 20.0 else 0.0))
        rows = learning.corrections_at(int(LENGTH), 1.0)[0]
        assert (rows[0] > 0.001) == closed
        assert rows[-1] > 0.005
        slide = SteeringLearning(LENGTH, closed=closed)
        drive_lap(slide, lambda s: sample(steer=0.01))
        full = slide.corrections[0, -1]
        drive_lap(slide, lambda s: sample(steer=0.01, slip=1.5 if s < 4.0 else 0.0))
        assert (slide.corrections[0, -1] < full) == closed


def test_corrections_of_another_road_are_refused():
    learning = circuit()
    count = learning.corrections.shape[1]
    learning.import_corrections([0.01] * count, [0.02] * count, "a.json")
    assert learning.corrections[1] == pytest.approx(0.02)
    with pytest.raises(DataError, match=r"a\.json.*expected 200 corrections.*got 199 and 200"):
        learning.import_corrections([0.0] * (count - 1), [0.0] * count, "a.json")
    assert learning.corrections[0] == pytest.approx(0.01)


def test_a_sideslip_that_is_expected_is_added_to_what_was_learned_and_to_nothing_else():
    learning = circuit()
    drive_lap(learning, lambda s: sample(steer=0.01, sideslip=-0.02))
    steer, sideslip = learning.corrections.copy()
    learning.add_sideslip(np.full(len(learning.places()), 0.01))
    assert learning.corrections[0] == pytest.approx(steer)
    assert learning.corrections[1] == pytest.approx(sideslip + 0.01)
    learning.add_sideslip(np.where(learning.places() < 0.5 * LENGTH, 1.0, 0.0))
    assert learning.corrections[1].max() == MOST_CORRECTION
    assert learning.corrections[1][-30] == pytest.approx(sideslip[-30] + 0.01)


def test_no_sideslip_is_expected_where_the_lap_taught_nothing():
    """Slow places of a lap from rest: what its tyres had left there is not what they have at the plan's speed."""
    learning = circuit()
    for s in np.arange(0.5, 0.5 * LENGTH, 1.0):
        learning.add_sample(s, sample())
    learning.finish_lap()
    learning.add_sideslip(np.full(len(learning.places()), 0.01))
    places = learning.places()
    assert learning.corrections[1][np.abs(places - 0.25 * LENGTH) < 100.0] == pytest.approx(0.01)
    assert learning.corrections[1][np.abs(places - 0.75 * LENGTH) < 100.0] == pytest.approx(0.0)
