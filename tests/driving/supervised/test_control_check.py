import math

import numpy as np
import pytest

from trailbrake.driving.supervised.control_check import check_custom_values, copy_as_floats, limit_range
from trailbrake.errors import UsageError
from trailbrake.state import Controls, SimCommand, WheelTorque

NAN, INFINITY = math.nan, math.inf


def test_controls_within_their_ranges_stay_the_same_object():
    for controls in (Controls(), Controls(steer=-1.0, throttle=1.0, brake=1.0, clutch=1.0, handbrake=1.0, drs=5.0)):
        assert limit_range(controls) is controls


def test_controls_beyond_their_ranges_are_limited_and_the_given_ones_are_not_changed():
    given = Controls(steer=-3.0, throttle=INFINITY, brake=-0.1, clutch=2.0, handbrake=1.5, gear=2)
    limited = limit_range(given)
    assert (limited.steer, limited.throttle, limited.brake) == (-1.0, 1.0, 0.0)
    assert (limited.clutch, limited.handbrake, limited.gear) == (1.0, 1.0, 2)
    assert given.steer == -3.0


def test_nan_stays_where_it_is():
    limited = limit_range(Controls(steer=NAN, throttle=2.0, brake=NAN))
    assert math.isnan(limited.steer)
    assert math.isnan(limited.brake)
    assert limited.throttle == 1.0


@pytest.mark.parametrize("check", [limit_range, copy_as_floats])
@pytest.mark.parametrize(
    ("controls", "said"),
    [
        (Controls(steer="left"), "steer='left'"),
        (Controls(throttle=None), "throttle=None"),
        (Controls(handbrake=[1.0]), r"handbrake=\[1.0\]"),
        (None, "got NoneType"),
        ({"steer": 0.0}, "got dict"),
    ],
)
def test_what_is_no_number_is_named(check, controls, said):
    with pytest.raises(UsageError, match=f"^step: no controls to send, expected Controls of numbers, .*{said}"):
        check(controls)


@pytest.mark.parametrize(
    "controls",
    [
        Controls(gear=NAN),
        Controls(gear=INFINITY),
        Controls(steer="0.5"),
        Controls(brake_bias="front"),
        Controls(custom=(1.0, None)),
        Controls(wheels=(WheelTorque(),) * 3),
        Controls(wheels=(1.0, 2.0, 3.0, 4.0)),
    ],
)
def test_what_cannot_be_sent_to_another_process_is_refused(controls):
    with pytest.raises(UsageError, match=r"no controls to send"):
        copy_as_floats(controls)


def test_a_copy_has_plain_floats_and_no_command():
    torque = WheelTorque(np.float32(100.0), NAN)
    given = Controls(steer=np.float32(0.5), throttle=np.float64(0.25), brake=1, gear=np.int64(3), drs=True,
                     wheels=(torque,) * 4, brake_bias=np.float32(0.5), custom=[np.float32(1.5), 2],
                     command=SimCommand(pause=True))  # fmt: skip
    copied = copy_as_floats(given)
    numbers = copied.steer, copied.throttle, copied.brake, copied.drs, copied.brake_bias, *copied.custom
    assert numbers == (0.5, 0.25, 1.0, 1.0, 0.5, 1.5, 2.0)
    assert {type(number) for number in numbers} == {float}
    assert type(copied.gear) is int
    assert copied.wheels[3].drive_torque == 100.0
    assert type(copied.wheels[3].drive_torque) is float
    assert math.isnan(copied.wheels[0].brake_torque)
    assert copied.command is None
    assert math.isnan(copied.boost)


def test_free_values_are_few_and_numbers():
    check_custom_values([1.0, np.float32(2.0)], 2)
    with pytest.raises(UsageError, match="too many free values, expected up to 1, got 2"):
        check_custom_values([1.0, 2.0], 1)
    with pytest.raises(UsageError, match="free values are numbers, got 'fast'"):
        check_custom_values(["fast"], 2)
