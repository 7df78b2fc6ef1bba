"""How the host of udacity_pid applies commands."""

from itertools import pairwise

from trailbrake.state import Controls, SimCommand


def test_one_sample_per_step_and_no_telemetry_too_many(ends):
    states = ends.drive(50, Controls(throttle=0.3))
    assert [round((b.time - a.time) / 0.04) for a, b in pairwise(states[2:])] == [1] * 47
    assert ends.host.read_counters()["rejected"] == 0


def test_a_restart_puts_the_car_back(ends):
    ends.drive(80, Controls(throttle=1.0))
    ends.link.send_command(SimCommand(restart=True))
    ends.drive(3, Controls())
    truth = ends.plant.car_state(0)
    assert truth.speed < 0.5
    assert abs(ends.plant.track.road.locate(truth.x, truth.y)[1]) < 0.1
