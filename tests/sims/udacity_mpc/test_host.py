"""What the host of udacity_mpc sends, and how it applies commands."""

import math
from itertools import pairwise

import pytest
from helpers.event_pairs import Ends

from trailbrake.state import Controls


def test_waypoints_go_round_the_line(tmp_path):
    made = Ends("udacity_mpc", tmp_path)
    road = made.plant.track.road
    state = made.plant.car_state(0)
    state.x, state.y, _ = road.point(road.length - 5.0)
    points = list(zip(*(made.host._encode_telemetry(state)[key] for key in ("ptsx", "ptsy")), strict=True))
    gaps = [math.dist(a, b) for a, b in pairwise(points)]
    assert max(gaps) - min(gaps) < 0.3
    made.close()


def test_commands_arrive(ends):
    ends.drive(60, Controls(steer=0.4, throttle=0.5))
    truth = ends.plant.car_state(0)
    assert truth.steer * 0.58 == pytest.approx(0.4 * math.radians(25.0), rel=0.02)
    assert ends.host.read_counters()["rejected"] == 0
