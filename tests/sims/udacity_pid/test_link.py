"""What the link of udacity_pid reads and sends."""

import pytest

from trailbrake.state import Controls, Phase
from trailbrake.units import MPH


def test_the_agent_sees_where_the_car_is_across_the_road(ends):
    states = ends.drive(120, Controls(steer=0.05, throttle=0.6))
    state, truth = states[-1], ends.plant.car_state(0)
    _, offset, _ = ends.plant.track.road.locate(truth.x, truth.y)
    assert offset > 0.3  # a little to the left
    assert state.driving_line == pytest.approx(offset / 4.0, abs=1e-4)
    assert state.speed == pytest.approx(truth.speed, abs=1e-3)
    assert (state.lap, state.phase) == (1, Phase.DRIVING)
    assert state.lap_time == state.time == pytest.approx(truth.time, abs=1e-3)


def test_a_brake_stops_a_car_below_5_mph_and_does_not_send_it_backwards(ends):
    ends.drive(120, Controls(throttle=1.0))
    speeds = [state.speed for state in ends.drive(400, Controls(brake=1.0))]
    slow = next(index for index, speed in enumerate(speeds) if speed < 5.0 * MPH)
    assert max(speeds[slow + 125 :]) < 0.4  # after 2.5 s; a car that is sent backwards gets faster
    assert max(speeds[-50:]) < 0.2
