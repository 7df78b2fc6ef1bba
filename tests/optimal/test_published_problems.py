"""Published minimum-time problems, solved by our transcription: the bars are those of the problems' own solutions."""

import numpy as np
import pytest

pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')

from line_replay import replay_solution
from published_cars import RACECAR_MARGIN, racecar, solve_limebeer_lap

from trailbrake.optimal.minimum_time import plan_minimum_time
from trailbrake.tracks.track_library import load_track

pytestmark = pytest.mark.slow


def test_the_racecar_on_berlin_is_as_quick_as_the_published_lap(shared):
    road, car = load_track(str(shared / "data" / "tracks" / "Berlin2018.csv")).road, racecar()
    line = plan_minimum_time(road, car, step=4.0, margin=RACECAR_MARGIN)
    replay = replay_solution(road, car, line.solution)
    assert replay.completed
    assert replay.time <= 85.77 * 1.0005
    assert replay.room > -0.15  # m into the margin of 0.7 m
    assert replay.steer_correction[1] < 0.01
    assert replay.pedal_correction[0] < 0.01


def test_the_formula_1_car_on_catalunya_is_within_a_thousandth(shared):
    solution, speeds, published = solve_limebeer_lap(shared / "data" / "reference")
    assert solution.converged
    assert solution.time == pytest.approx(published, rel=1e-3)
    found = solution.x.reshape(len(speeds), -1)[:, 2] * 30.0
    assert np.sqrt(np.mean((found - speeds) ** 2)) < 0.5
