"""Camera drivers that have come to face a wall, or the wrong way, in the miniature world."""

import math

import pytest

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.planning.course import UnmappedCourse
from trailbrake.state import Pose, SimCommand
from trailbrake.world.miniature.track_library import load_miniature_track as load_track
from trailbrake.world.miniature.world import MiniatureWorld

PERIOD = 0.04

pytestmark = pytest.mark.slow


def drive(name, track, look, s, offset, turned, seconds, until=lambda state: False):
    """Drive from a place, turned by `turned` (rad) from the road's way; return the world, the driver and the states."""
    world, driver = MiniatureWorld(load_track(track), look, (), PERIOD), load_driver(name)
    x, y, yaw = world.track.pose_at(s, offset)
    world.execute_command(0, SimCommand(teleport=Pose(x, y, 0.0, yaw + turned)))
    driver.reset(UnmappedCourse())
    states = [world.car_state(0)]
    while states[-1].time < seconds and not until(states[-1]):
        world.step([driver.act(states[-1], PERIOD if len(states) > 1 else 0.0)])
        states.append(world.car_state(0))
    return world, driver, states


@pytest.mark.parametrize("name", ["lane_sign", "wall_follow"])
@pytest.mark.parametrize("turned", [0.5 * math.pi, -0.5 * math.pi])
def test_a_car_that_has_run_into_a_wall_backs_out_and_drives_on(name, turned):
    # 0.2 m from the wall that it faces, where nothing but wall is in the picture.
    offset = math.copysign(0.78 - 0.33, turned)
    world, driver, states = drive(name, "oval", "B", 10.0, offset, turned, 9.0)
    assert world.counters()["contacts"] >= 1
    assert driver.avoider.reverse_count + driver.avoider.turn_count >= 1
    x, y = states[-50].x, states[-50].y
    assert math.hypot(states[-1].x - x, states[-1].y - y) > 3.0  # at full speed again
    assert states[-1].contacts == states[-75].contacts


@pytest.mark.parametrize(("track", "look", "s", "offset"), [("oval", "B", 13.0, 0.39), ("harbour", "A", 12.0, 0.2)])
def test_lane_sign_turns_round_by_arrows_and_by_backs_of_signs(track, look, s, offset):
    world, driver, states = drive("lane_sign", track, look, s, offset, math.pi, 10.0)
    assert driver.avoider.turn_count == 1
    wrong = world.counters()["wrong_way_s"]
    assert 1.0 < wrong < 7.0
    # Behind it the lap goes on: forward along the road, at full speed.
    assert states[-1].lap_progress > states[-25].lap_progress
    assert states[-1].speed > 1.8
