"""Link and host of udacity_mpc in memory: what the one shows the other sees, and what the one asks the other does."""

import math
from itertools import pairwise

import pytest
from pairs import Ends

from trailbrake.state import Controls, Phase


@pytest.fixture(params=["auto", "bare"])
def ends(request, tmp_path):
    made = Ends("udacity_mpc", tmp_path, dialect=request.param)
    made.link.open(0.0)
    yield made
    made.close()


def test_the_agent_sees_pose_and_waypoints(ends):
    state = ends.drive(120, Controls(throttle=0.8))[-1]
    truth, road = ends.plant.state(0), ends.plant.track.road
    assert (state.x, state.y, state.yaw, state.speed) == pytest.approx((truth.x, truth.y, truth.yaw, truth.speed))
    assert state.phase is Phase.DRIVING
    s, _, _ = road.locate(truth.x, truth.y)
    places = [road.locate(x, y) for x, y in state.line_ahead]
    assert len(places) == 6
    assert all(abs(offset) < 1e-6 for _, offset, _ in places)
    ways = [place[0] for place in places]
    assert ways[0] <= s < ways[1]  # from the one just behind
    assert [b - a for a, b in pairwise(ways)] == pytest.approx([ways[1] - ways[0]] * 5)
    assert 13.0 < ways[1] - ways[0] < 17.0


def test_waypoints_go_round_the_line(tmp_path):
    made = Ends("udacity_mpc", tmp_path)
    road = made.plant.track.road
    state = made.plant.state(0)
    state.x, state.y, _ = road.point(road.length - 5.0)
    points = list(zip(*(made.host._telemetry(state)[key] for key in ("ptsx", "ptsy")), strict=True))
    gaps = [math.dist(a, b) for a, b in pairwise(points)]
    assert max(gaps) - min(gaps) < 0.3
    made.close()


def test_commands_arrive(ends):
    ends.drive(60, Controls(steer=0.4, throttle=0.5))
    truth = ends.plant.state(0)
    assert truth.steer * 0.58 == pytest.approx(0.4 * math.radians(25.0), rel=0.02)
    assert ends.host.counters()["rejected"] == 0
