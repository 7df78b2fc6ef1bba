import numpy as np
import pytest

from trailbrake.driving.loop.camera_check import DAMAGED, NO_PICTURE, NO_PICTURE_LIMIT_S, UNCHANGED, CameraCheck
from trailbrake.driving.loop.supervisor import BLIND_LIMIT_S
from trailbrake.state import CarState
from trailbrake.transport.image_codec import ImageDecoder, encode_image

PERIOD = 0.04
DECODER = ImageDecoder(8, 8, lambda: None)


def make_picture(seed):
    return DECODER.make_image(encode_image(np.random.default_rng(seed).integers(0, 255, (16, 16, 3), dtype=np.uint8)))


class Watched:
    """A check, its lines and its clock."""

    def __init__(self):
        self.lines, self.now = [], 0.0
        self.check = CameraCheck(self.lines.append)

    def show(self, make_image, seconds, speed=5.0):
        """Show pictures of `make_image(k)` for so long; return the answers and the last state."""
        answers = []
        for k in range(round(seconds / PERIOD)):
            self.now += PERIOD
            state = CarState(image=make_image(k), speed=speed)
            answers.append(self.check.accept_picture(state, self.now))
        return answers, state

    def see(self, seconds=1.0, speed=5.0):
        base = int(1e6 * self.now)
        answers, _ = self.show(lambda k: make_picture(base + k), seconds, speed)
        return answers


def damaged(k):
    return DECODER.make_image(b"AAAA")


@pytest.mark.parametrize(("make", "line"), [
    (damaged, DAMAGED), (lambda k: None, NO_PICTURE), (lambda k: make_picture(1), UNCHANGED),
])  # fmt: skip
def test_a_driver_that_cannot_see_is_braked_for_after_a_quarter_second_and_drives_on(make, line):
    watched = Watched()
    assert all(watched.see())
    answers, _ = watched.show(make, 2.0)
    assert answers.index(False) * PERIOD == pytest.approx(BLIND_LIMIT_S, abs=2.0 * PERIOD)
    assert not any(answers[answers.index(False) :])
    assert all(watched.see())
    assert watched.lines == [f"{line}: braking, waiting for it", "the camera is back"]
    assert watched.check.episodes == 1


@pytest.mark.parametrize("make", [damaged, lambda k: None])
def test_a_camera_that_has_shown_nothing_yet_moves_no_car(make):
    answers, _ = Watched().show(make, 0.2, speed=0.0)
    assert not any(answers)


def test_one_damaged_picture_is_bridged_by_the_last_good_one():
    watched = Watched()
    watched.see()
    good = watched.check._picture
    answers, state = watched.show(lambda k: None, PERIOD)
    assert answers == [True]
    assert state.image is good


def test_a_standing_car_sees_the_same_for_as_long_as_it_likes():
    watched = Watched()
    watched.see()
    answers, _ = watched.show(lambda k: make_picture(1), 100.0, speed=0.1)
    assert all(answers)
    assert watched.lines == []


def test_a_picture_of_one_colour_is_no_view_that_could_change():
    grey = encode_image(np.full((16, 16, 3), 90, np.uint8))
    answers, _ = Watched().show(lambda k: DECODER.make_image(grey), 10.0)
    assert all(answers)


def test_a_car_that_was_stopped_by_a_frozen_camera_waits_for_another_picture():
    watched = Watched()
    watched.see()
    watched.show(lambda k: make_picture(1), 1.0)
    answers, _ = watched.show(lambda k: make_picture(1), 3.0 * NO_PICTURE_LIMIT_S, speed=0.0)
    assert not any(answers)
    assert not watched.check.is_gone, "a menu may be open for as long as the player likes"
    assert all(watched.see())


def test_a_slow_camera_is_no_frozen_one():
    watched = Watched()
    for speed in (0.0, 5.0):
        answers, _ = watched.show(lambda k: make_picture(k // 8), 20.0, speed)  # 3 pictures a second
        assert all(answers)


@pytest.mark.parametrize(("usual_s", "limit_s"), [(0.04, BLIND_LIMIT_S), (0.4, 0.8), (2.0, 2.0)])
def test_a_frozen_camera_is_noticed_after_twice_its_usual_time_and_two_seconds_at_most(usual_s, limit_s):
    watched = Watched()
    per_picture = round(usual_s / PERIOD)
    watched.show(lambda k: make_picture(k // per_picture), 10.0 * usual_s, speed=0.0)
    assert watched.check.accept_picture(CarState(image=make_picture(10), speed=0.0), watched.now + PERIOD)
    watched.now += PERIOD
    answers, _ = watched.show(lambda k: make_picture(10), 3.0)
    assert answers.index(False) * PERIOD == pytest.approx(limit_s, abs=1.01 * PERIOD)


@pytest.mark.parametrize("make", [damaged, lambda k: None])
def test_a_camera_that_shows_nothing_for_a_minute_is_gone(make):
    watched = Watched()
    watched.see()
    watched.show(make, NO_PICTURE_LIMIT_S - 1.0, speed=0.0)
    assert not watched.check.is_gone
    watched.show(make, 2.0, speed=0.0)
    assert watched.check.is_gone
