"""What the link of udacity_mpc reads."""

from itertools import pairwise

import pytest

from trailbrake.state import Controls, Phase


def test_the_agent_sees_pose_and_waypoints(ends):
    state = ends.drive(120, Controls(throttle=0.8))[-1]
    truth, road = ends.plant.car_state(0), ends.plant.track.road
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
