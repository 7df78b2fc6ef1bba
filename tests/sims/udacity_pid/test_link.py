"""What the link of udacity_pid reads and sends."""

import pytest

from trailbrake.state import Controls, Phase


def test_the_agent_sees_where_the_car_is_across_the_road(ends):
    states = ends.drive(120, Controls(steer=0.05, throttle=0.6))
    state, truth = states[-1], ends.plant.car_state(0)
    _, offset, _ = ends.plant.track.road.locate(truth.x, truth.y)
    assert offset > 0.3  # a little to the left
    assert state.driving_line == pytest.approx(offset / 4.0, abs=1e-4)
    assert state.speed == pytest.approx(truth.speed, abs=1e-3)
    assert (state.lap, state.phase) == (1, Phase.DRIVING)
    assert state.lap_time == state.time == pytest.approx(truth.time, abs=1e-3)


def test_on_closing_the_pedal_is_let_go(ends):
    ends.drive(60, Controls(throttle=1.0))
    ends.link.release()
    for _ in range(5):
        ends.tick()
    assert ends.plant.car_state(0).throttle < 0.05
