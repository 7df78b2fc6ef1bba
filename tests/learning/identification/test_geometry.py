"""Radii, tracks and axles from the speeds of wheels that roll as a rigid car's do."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import make_table, weave

from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.geometry import find_geometry

FRONT, REAR, TRACK, RADII = 1.3, 1.5, 1.6, (0.31, 0.33)


def rolling_car(yaw_rate, speed, drive=None, pull=0.0):
    """Return the table of a car whose rear wheels slip by 0.004 per m/s^2 of pull."""
    x, y = np.array([FRONT, FRONT, -REAR, -REAR]), 0.5 * TRACK * np.array([1.0, -1.0, 1.0, -1.0])
    vy = REAR * yaw_rate
    u, w = speed[:, None] - yaw_rate[:, None] * y, vy[:, None] + yaw_rate[:, None] * x
    wheel = np.where(np.arange(4) < 2, np.hypot(u, w), u)  # the front wheels point along their way
    radius = np.repeat(RADII, 2)
    slip = np.where(np.arange(4) < 2, 0.0, 0.004) * np.reshape(pull, (-1, 1))
    return make_table(
        len(speed), vx=speed, vy=vy, yaw_rate=yaw_rate, fy=speed * yaw_rate, fx=np.reshape(pull, -1) - 3e-4 * speed**2,
        spin=wheel / radius * (1.0 + slip),
    )  # fmt: skip


def test_axles_and_tracks_follow_from_wheel_speeds():
    _, slow_yaw, slow = weave(1500)
    table = rolling_car(slow_yaw, slow)
    straight = rolling_car(np.zeros(1500), np.full(1500, 15.0), pull=3.0 * np.sin(np.arange(1500) / 40.0))
    wide = rolling_car(np.full(500, 0.25), np.full(500, 12.0))
    found = find_geometry(join_tables([table, straight, wide]))
    assert found.radius_front.value == pytest.approx(RADII[0], rel=0.003)
    assert found.radius_rear.value == pytest.approx(RADII[1], rel=0.003)
    assert found.wheelbase.value == pytest.approx(FRONT + REAR, rel=0.04)
    assert found.to_front.value == pytest.approx(FRONT, rel=0.08)
    assert found.track_front.value == pytest.approx(TRACK, rel=0.02)
    assert found.slip_rear.value == pytest.approx(0.004, rel=0.1)
    assert abs(found.slip_front.value) < 4e-4
    assert found.track_rear.source == "prior"  # a differential makes driven wheels slip


@pytest.mark.parametrize("speed", [4.5, 6.0])
def test_driven_front_wheels_pull_against_the_drag_of_a_tight_bend(speed):
    """Without that pull the front axle of such a car was found 0.1 to 0.2 m too far in front."""
    base, per_pull = FRONT + REAR, 0.01
    _, yaw, slow = weave(1500, speed, 0.5)
    bends, straight = rolling_car(yaw, slow), rolling_car(np.zeros(1500), np.full(1500, 15.0))
    dragged = bends.fy * REAR / base * np.sin(np.arctan(base * yaw / slow))
    pull = 3.0 * np.sin(np.arange(1500) / 40.0)
    straight = replace(straight, fx=straight.fx + pull)
    tables = [
        replace(table, spin=table.spin * (1.0 + np.where(np.arange(4) < 2, per_pull, 0.0) * more[:, None]))
        for table, more in ((bends, dragged + bends.fx), (straight, pull))
    ]
    found = find_geometry(join_tables(tables))
    assert found.slip_front.value == pytest.approx(per_pull, rel=0.05)
    assert found.to_front.value == pytest.approx(FRONT, abs=0.04)


def test_a_road_without_straights_tells_which_axle_is_driven_and_the_radii():
    """A car with driven front wheels was taken there for one with driven rear wheels, and a formula car for a kart."""
    pull = 3.0 * np.sin(np.arange(1500) / 40.0)
    found = find_geometry(rolling_car(np.full(1500, 0.25), np.full(1500, 14.0), pull=pull))
    assert found.radius_front.value == pytest.approx(RADII[0], rel=0.005)
    assert found.radius_rear.value == pytest.approx(RADII[1], rel=0.005)
    assert found.slip_rear.value == pytest.approx(0.004, rel=0.1)
    assert abs(found.slip_front.value) < 4e-4


def test_a_drive_without_bends_tells_no_axles():
    table = rolling_car(np.zeros(800), np.full(800, 15.0), pull=np.sin(np.arange(800) / 40.0))
    found = find_geometry(table)
    assert found.wheelbase is None
    assert found.track_front is None
    assert found.radius_front is not None


def test_contact_points_are_taken_at_their_word():
    places = np.array([1.2, 1.2, -1.4, -1.4]), np.array([0.8, -0.8, 0.75, -0.75])
    found = find_geometry(
        make_table(300, vx=10.0, place_x=np.tile(places[0], (300, 1)), place_y=np.tile(places[1], (300, 1)))
    )
    assert found.wheelbase.value == pytest.approx(2.6)
    assert found.track_rear.value == pytest.approx(1.5)
