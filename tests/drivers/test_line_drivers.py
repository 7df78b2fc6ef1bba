"""`lane_pid`, `waypoint_follow` and `road_sight`: signs by hand-made states, and laps through their wires."""

import numpy as np
import pytest
from helpers.socketio_agents import ring

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.drive_session import drive
from trailbrake.planning.course import UnmappedCourse
from trailbrake.state import CarState, Image


def answer(name, state, times=1):
    driver = load_driver(name)
    driver.reset(UnmappedCourse())
    for k in range(times):
        controls = driver.act(state, 0.04 if k else 0.0)
    return controls


def test_lane_pid_steers_to_the_line():
    assert answer("lane_pid", CarState(driving_line=0.5, speed=10.0)).steer < -0.2  # left of it: to the right
    assert answer("lane_pid", CarState(driving_line=-0.5, speed=10.0)).steer > 0.2
    slow, fast = (answer("lane_pid", CarState(driving_line=0.1, speed=v)) for v in (5.0, 20.0))
    assert slow.throttle > 0.5
    assert fast.brake > 0.5


def straight(y):
    return tuple((15.0 * k - 5.0, y) for k in range(6))


def test_waypoint_follow_aims_at_the_line_and_slows_for_its_bends():
    def state(line, speed=10.0):
        return CarState(x=0.0, y=0.0, yaw=0.0, speed=speed, line_ahead=line)

    assert answer("waypoint_follow", state(straight(2.0))).steer > 0.1  # the line is to the left
    assert answer("waypoint_follow", state(straight(-2.0))).steer < -0.1
    free = answer("waypoint_follow", state(straight(0.0), 15.0))
    assert (free.steer, free.brake) == (0.0, 0.0)
    assert free.throttle > 0.5
    corner = ((-5.0, 0.0), (10.0, 0.0), (20.0, 5.0), (22.0, 18.0), (22.0, 33.0), (22.0, 48.0))
    assert answer("waypoint_follow", state(corner, 15.0)).brake > 0.2
    assert answer("waypoint_follow", state(())).brake > 0.2  # no line


def test_road_sight_steers_to_the_grey_and_stops_where_there_is_none():
    def state(start, end):
        pixels = np.full((120, 160, 3), (90, 130, 60), np.uint8)
        pixels[:, start:end] = 95
        return CarState(speed=8.0, image=Image(b"", lambda _: pixels))

    assert answer("road_sight", state(0, 60)).steer > 0.3  # the road is to the left
    assert answer("road_sight", state(100, 160)).steer < -0.3
    ahead = answer("road_sight", state(60, 100))
    assert abs(ahead.steer) < 0.02
    assert ahead.throttle > 0.5
    assert answer("road_sight", state(0, 0)).brake > 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sim", "driver", "least", "most"),
    [("udacity_pid", "lane_pid", 22.4, 27.0), ("udacity_mpc", "waypoint_follow", 20.0, 25.0),
     ("donkeycar", "lane_pid", 22.4, 27.0), ("udacity", "road_sight", 26.9, 34.0)],
)  # fmt: skip
def test_a_lap_by_what_the_wire_tells(sim, driver, least, most, tmp_path):
    # 268 m: 12 m/s, 20 m/s and 10.2 m/s in the bends (30 m, 3.5 m/s^2), 10 m/s; each from rest.
    track = str(ring(tmp_path, straight=40.0, radius=30.0))
    summary = drive(DriveFlags(sim=sim, driver=driver, track=track, laps=1, out=tmp_path, report=False).make_spec())
    assert (summary["ended"], summary["contacts"]) == ("done", 0)
    (lap,) = summary["laps"]
    assert lap["valid"]
    assert least < lap["time_s"] < most
