"""Expo demo 3 with our own driver as the player: pedals become torques, and it drives a circuit."""

import numpy as np
import pytest
from helpers.manoeuvres import manoeuvre

from trailbrake.cars.car_library import load_car
from trailbrake.drivers import line_follow
from trailbrake.drivers.originals import torque_vectoring_seed
from trailbrake.planning.course import Course
from trailbrake.state import CarState
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


def test_the_player_s_pedals_become_torques():
    course = Course(load_track("proving_ground"), load_car("hatchback"))
    state = CarState(x=10.0, y=0.0, yaw=0.0, speed=2.0, velocity_x=2.0, velocity_y=0.0, acceleration_y=0.0,
                     yaw_rate=0.0, gear=1, steering_wheel_angle=0.0)  # fmt: skip
    player, driver = line_follow.Driver(), torque_vectoring_seed.Driver()
    for each in (player, driver):
        each.reset(course)
    asked, answer = player.act(state, 0.0), driver.act(state, 0.0)
    assert asked.throttle > 0.3
    assert (answer.steer, answer.throttle, answer.brake) == (asked.steer, 0.0, 0.0)
    assert sum(w.drive_torque for w in answer.wheels) == pytest.approx(3000.0 * asked.throttle)


@pytest.mark.slow
def test_it_keeps_to_the_road():
    driver = torque_vectoring_seed.Driver()
    drive = manoeuvre(driver, 40.0, track="copperbowl")
    road = load_track("copperbowl").road
    place = road.locate_many(np.column_stack([drive["x"], drive["y"]])[::20])
    assert place[-1, 0] > 1400.0
    left = road.column_at(place[:, 0], RoadColumn.WIDTH_LEFT)
    right = road.column_at(place[:, 0], RoadColumn.WIDTH_RIGHT)
    assert np.all(place[:, 1] < left)
    assert np.all(place[:, 1] > -right)
