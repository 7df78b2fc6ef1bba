"""Link and host of udacity_pid in memory: what the one shows the other sees, and what the one asks the other does."""

from itertools import pairwise

import pytest
from pairs import Ends

from trailbrake.state import Controls, Phase, SimCommand


@pytest.fixture(params=["auto", "bare"])
def ends(request, tmp_path):
    made = Ends("udacity_pid", tmp_path, dialect=request.param)
    made.link.open(0.0)
    yield made
    made.close()


def test_the_agent_sees_where_the_car_is_across_the_road(ends):
    states = ends.drive(120, Controls(steer=0.05, throttle=0.6))
    state, truth = states[-1], ends.plant.state(0)
    _, offset, _ = ends.plant.track.road.locate(truth.x, truth.y)
    assert offset > 0.3  # a little to the left
    assert state.driving_line == pytest.approx(offset / 4.0, abs=1e-4)
    assert state.speed == pytest.approx(truth.speed, abs=1e-3)
    assert (state.lap, state.phase) == (1, Phase.DRIVING)
    assert state.lap_time == state.time == pytest.approx(truth.time, abs=1e-3)


def test_one_sample_per_step_and_no_telemetry_too_many(ends):
    states = ends.drive(50, Controls(throttle=0.3))
    assert [round((b.time - a.time) / 0.04) for a, b in pairwise(states[2:])] == [1] * 47
    assert ends.host.counters()["rejected"] == 0


def test_a_restart_puts_the_car_back(ends):
    ends.drive(80, Controls(throttle=1.0))
    ends.link.command(SimCommand(restart=True))
    ends.drive(3, Controls())
    truth = ends.plant.state(0)
    assert truth.speed < 0.5
    assert abs(ends.plant.track.road.locate(truth.x, truth.y)[1]) < 0.1


def test_on_closing_the_pedal_is_let_go(ends):
    ends.drive(60, Controls(throttle=1.0))
    ends.link.release()
    for _ in range(5):
        ends.tick()
    assert ends.plant.state(0).throttle < 0.05
