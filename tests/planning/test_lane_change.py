"""The lanes of ISO 3888-1 by its figures, the path through them, and how a car's room among cones is measured."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.lane_change import ConeLane, iso_3888_1, lane_clearances, plan_lane_path
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track

STRAIGHT = np.linspace(0.0, 500.0, 2001)


def test_lanes_are_those_of_the_standard():
    first, second, third = iso_3888_1(1.8, 100.0)
    assert [lane.last - lane.first for lane in (first, second, third)] == [15.0, 25.0, 30.0]
    assert (second.first - first.last, third.first - second.last) == (30.0, 25.0)
    assert [lane.left - lane.right for lane in (first, second, third)] == pytest.approx([2.23, 2.41, 2.59])
    assert second.right - first.right == pytest.approx(3.5)
    assert third.right == first.right == -first.left


@pytest.mark.parametrize("name", ["hatchback", "gt3", "f1"])
def test_the_path_goes_through_and_begins_and_ends_straight(name):
    road, car = load_track("proving_ground").road, load_car(name)
    lanes = iso_3888_1(car.body.width, 300.0)
    path = plan_lane_path(road, lanes, car, 0.5)
    s, y, yaw = (path.column(column) for column in (RoadColumn.X, RoadColumn.Y, RoadColumn.YAW))
    room = lane_clearances(lanes, car, s, y, yaw)
    half = [0.5 * (lane.left - lane.right - car.body.width) for lane in lanes]
    assert np.all(room > 0.4 * np.array(half))  # half of it, less the swing of the corners
    assert np.all(np.abs(y[(s < 259.0) | (s > 466.0)]) < 2e-3)
    bending = np.abs(path.column(RoadColumn.CURVATURE)).max()
    # A quintic between lane middles over the 25 m of the way back would bend 5.77 h / l^2.
    assert bending < 5.77 * 3.5 / 25.0**2


def test_less_room_kept_bends_less():
    road, car = load_track("proving_ground").road, load_car("hatchback")
    lanes = iso_3888_1(car.body.width, 300.0)
    bend = [
        np.abs(plan_lane_path(road, lanes, car, share).column(RoadColumn.CURVATURE)).max() for share in (0.2, 0.5, 0.8)
    ]
    assert bend[0] < bend[1] < bend[2]


def test_room_along_the_middle_is_half_of_what_the_lane_has_more():
    car = load_car("hatchback")
    lane = (ConeLane(100.0, 120.0, -1.4, 1.6),)
    zero = np.zeros(STRAIGHT.shape)
    room = lane_clearances(lane, car, STRAIGHT, zero, zero)
    assert room == pytest.approx([1.4 - 0.5 * car.body.width])
    assert lane_clearances(lane, car, STRAIGHT, zero + 0.3, zero) == pytest.approx([1.3 - 0.5 * car.body.width])


def test_a_turned_car_needs_room_for_its_corners():
    car = load_car("hatchback")
    yaw = 0.05
    room = lane_clearances(
        (ConeLane(100.0, 120.0, -9.0, 2.0),), car, STRAIGHT, np.zeros(STRAIGHT.shape), np.full(2001, yaw)
    )
    nose = 0.5 * car.body.length + 0.5 * (car.body.cg_to_front - car.body.cg_to_rear)
    corner = nose * math.sin(yaw) + 0.5 * car.body.width * math.cos(yaw)
    assert room == pytest.approx([2.0 - corner], abs=1e-6)


def test_cones_that_fall_count_negative():
    car = load_car("hatchback")
    zero = np.zeros(STRAIGHT.shape)
    assert lane_clearances((ConeLane(100.0, 120.0, -0.5, 5.0),), car, STRAIGHT, zero, zero)[0] < 0.0
