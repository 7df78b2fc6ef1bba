"""`wall_follow_seed`, `wall_follow` and `lane_sign` in front of drawn pictures: signs, and what must never happen."""

import math

import numpy as np
import pytest

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.planning.course import UnmappedCourse
from trailbrake.state import CarState, Image

CAMERA_DRIVERS = ("lane_sign", "wall_follow", "wall_follow_seed")


def picture(left, right):
    """A bright road between walls that rise from `left` and `right` (columns of the wall's foot at the bottom)."""
    pixels = np.full((240, 320, 3), 255, np.uint8)
    rows = np.arange(240)[:, None]
    columns = np.arange(320)[None, :]
    share = np.clip((rows - 119.5) / 120.0, 0.0, 1.0)
    wall = (columns < 160 - share * (160 - left)) | (columns > 160 + share * (right - 160))
    pixels[wall & (rows > 100)] = 0
    return pixels


def state(pixels, time=0.0, speed=2.0):
    return CarState(time=time, speed=speed, steer=0.0, image=Image(b"", lambda data: pixels))


def driver(name):
    made = load_driver(name)
    made.reset(UnmappedCourse())
    return made


@pytest.mark.parametrize("name", CAMERA_DRIVERS)
def test_full_throttle_on_a_free_road(name):
    controls = driver(name).act(state(picture(-300, 620)), 0.0)
    assert (controls.throttle, controls.brake) == (1.0, 0.0)


def test_the_seed_steers_by_its_quotient_and_its_caps():
    seed = driver("wall_follow_seed")
    lock = math.radians(40.0)
    more_right = np.full((240, 320, 3), 255, np.uint8)
    more_right[60:100, 200:260] = more_right[60:70, 20:40] = 0
    assert seed.act(state(more_right), 0.0).steer == pytest.approx(0.15 / lock)  # to the left, at its cap
    pixels = np.full((240, 320, 3), 255, np.uint8)
    pixels[60:200, :140] = 0
    pixels[60:66, 200:300] = 0  # right over left is 0.03: to the right by so much
    steer = seed.act(state(pixels), 0.0).steer
    assert -0.06 / lock < steer < -0.01 / lock
    pixels[60:230, 165:] = 0  # a half full of wall: the cap of a U-turn
    assert seed.act(state(pixels), 0.0).steer == pytest.approx(1.0)
    assert seed.act(state(np.full((240, 320, 3), 255, np.uint8)), 0.0).steer == 0.0
    only_right = np.full((240, 320, 3), 255, np.uint8)
    only_right[60:100, 200:] = 0
    assert seed.act(state(only_right), 0.0).steer == 0.0  # its fault: nothing left, nothing done


@pytest.mark.parametrize("name", ["wall_follow", "lane_sign"])
def test_away_from_the_wall_ahead_and_back_from_the_one_touched(name):
    blocked_right = np.full((240, 320, 3), 255, np.uint8)
    blocked_right[100:175, 150:] = 0
    away = driver(name).act(state(blocked_right), 0.0).steer
    assert away > 0.05
    assert driver(name).act(state(blocked_right[:, ::-1]), 0.0).steer == pytest.approx(-away, abs=0.05)
    stuck, dark = driver(name), np.zeros((240, 320, 3), np.uint8)
    answers = [stuck.act(state(dark, 0.04 * k, 0.0), 0.04) for k in range(40)]
    assert answers[0].gear == 1
    assert answers[20].gear == -1
    assert answers[20].throttle == 1.0


@pytest.mark.parametrize("name", CAMERA_DRIVERS)
def test_a_camera_of_another_size_drives_the_same(name):
    narrow = picture(60, 220)
    wanted = driver(name).act(state(narrow), 0.0)
    assert wanted.steer != 0.0
    double = narrow.repeat(2, axis=0).repeat(2, axis=1)
    assert driver(name).act(state(double), 0.0) == wanted
    half = driver(name).act(state(narrow[::2, ::2]), 0.0)
    assert half.steer == pytest.approx(wanted.steer, abs=0.1)
    for shape in ((1, 1, 3), (160, 320, 3), (700, 1000, 3)):
        answer = driver(name)
        for tick in range(3):
            assert math.isfinite(answer.act(state(np.full(shape, 255, np.uint8), 0.04 * tick), 0.04).steer)
