from types import SimpleNamespace

import numpy as np
import pytest

from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading.check import check_driver
from trailbrake.drivers.loading.driver_registry import driver_names, load_driver
from trailbrake.drivers.loading.policy import ImagePolicy, write_policy
from trailbrake.errors import UsageError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.planning.course import UnmappedCourse
from trailbrake.state import CarState, Image

GLANCE = CropSpec(top=0.5, bottom=1.0, height=8, width=8)
PLACES = 21


@pytest.fixture
def brighter_side(tmp_path):
    """A network made by hand: full left where the left half is the brighter one; the pedal is the mean brightness."""
    half = np.zeros((3, 8, 8), np.float32)
    half[:, :, :4], half[:, :, 4:] = 1.0, -1.0
    weight = np.zeros((PLACES + 1, 192), np.float32)
    weight[:PLACES] = np.linspace(-1.0, 1.0, PLACES)[:, None] * half.reshape(-1)
    weight[PLACES] = 1.0 / 192
    path = tmp_path / "by_hand.npz"
    write_policy(path, ImagePolicy(GLANCE, [NetworkLayer(weight, np.zeros(PLACES + 1, np.float32))]))
    return path


def shown(pixels):
    return CarState(time=0.0, speed=1.0, image=Image(b"", lambda data: pixels))


def test_it_steers_and_presses_the_pedals_as_the_network_says(brighter_side):
    driver = load_driver(f"policy:{brighter_side}")
    driver.reset(UnmappedCourse())
    picture = np.zeros((60, 80, 3), np.uint8)
    picture[:, :40] = 255
    answer = driver.act(shown(picture), 0.0)
    assert answer.steer > 0.85
    assert (answer.throttle, answer.brake) == pytest.approx((0.0, 0.0), abs=0.01)
    answer = driver.act(shown(picture[:, ::-1]), 0.04)
    assert answer.steer < -0.85
    bright = driver.act(shown(np.full((60, 80, 3), 191, np.uint8)), 0.04)
    assert (bright.throttle, bright.brake) == pytest.approx((191 / 127.5 - 1, 0.0), abs=0.01)
    dark = driver.act(shown(np.full((60, 80, 3), 64, np.uint8)), 0.04)
    assert (dark.throttle, dark.brake) == pytest.approx((0.0, 1 - 64 / 127.5), abs=0.01)


def test_it_rolls_without_a_picture_and_keeps_the_rules_of_drivers(brighter_side):
    assert load_driver(f"policy:{brighter_side}").act(CarState(), 0.0).throttle == 0.0
    assert check_driver(f"policy:{brighter_side}") == []
    assert "policy" not in driver_names()  # it is nothing without a file


def test_gains_and_missing_files_are_refused(brighter_side, tmp_path):
    with pytest.raises(UsageError, match="a policy has no gains"):
        load_driver(f"policy:{brighter_side}", tmp_path / "gains.toml")
    with pytest.raises(UsageError, match=r"nowhere\.npz: cannot read the policy"):
        load_driver("policy:nowhere.npz")


def test_a_picture_that_stays_is_not_computed_again(brighter_side, monkeypatch):
    """A camera of 30 pictures a second on a wire of 333 samples: the answer to a picture is computed once."""
    driver = load_driver(f"policy:{brighter_side}")
    driver.reset(UnmappedCourse())
    computed = []
    compute = driver.policy.compute_controls

    def count_computations(pixels):
        computed.append(1)
        return compute(pixels)

    monkeypatch.setattr(driver, "policy", SimpleNamespace(compute_controls=count_computations))
    picture = np.zeros((60, 80, 3), np.uint8)
    picture[:, :40] = 255
    left, right = shown(picture), shown(picture[:, ::-1])
    answers = [driver.act(state, 0.003) for state in (left, left, right, right, left)]
    assert len(computed) == 3
    assert answers[0] == answers[1] == answers[4]
    assert answers[2].steer < 0.0 < answers[0].steer
