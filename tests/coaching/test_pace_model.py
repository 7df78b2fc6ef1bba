import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps, make_model, make_place

from trailbrake.analysis.comparison import measure_zones
from trailbrake.coaching.pace_model import follow_driven_lap, plan_lap


def test_a_planned_lap_has_the_time_of_its_profile_from_line_to_line():
    course, common = make_place()
    lap = plan_lap(course, common)
    times = measure_zones([lap], make_corners())[0]
    assert times.sum() == pytest.approx(course.profile.lap_time, abs=0.02)
    assert np.all(np.diff(lap.s) >= 0.0)


@pytest.mark.parametrize("share", [0.75, 0.85, 0.93])
def test_the_share_of_the_grip_is_found_from_the_times_of_the_zones(share):
    model, times = make_model(make_laps(np.random.default_rng(4), share, spread=0.005))
    assert model.share == pytest.approx(share, abs=0.01)
    assert model.expect_times(share) == pytest.approx(times.mean(axis=0), abs=0.03)


def test_a_driven_lap_takes_the_place_of_the_plan():
    model, times = make_model(make_laps(np.random.default_rng(5), 0.85, spread=0.0))
    slower = make_laps(np.random.default_rng(6), 0.85, laps=1, spread=0.0, lost={3: 0.2})[0]
    driven = follow_driven_lap(model, slower, 0.85, times[0])
    gained = driven.expect_times(0.85) - model.expect_times(0.85)
    corner = [c.number for c in model.corners].index(3)
    assert gained[corner] == pytest.approx(0.2, abs=0.01)
    assert np.delete(gained, corner) == pytest.approx(np.zeros(len(gained) - 1), abs=0.01)
