"""Checks on hand-made samples of a car on a circle, whose places, headings and speeds are known in closed form."""

import math

import numpy as np
import pytest

from trailbrake.state import CarState, Controls
from trailbrake.wire_checks import (
    CENTRIPETAL,
    COURSE_TURN,
    DRIFT,
    FORWARD_BY_PLACE,
    LEFT_BY_PLACE,
    LEFT_OF_START,
    YAW_TURN,
    DriveSamples,
    LevelCheck,
    Sample,
    SlopeCheck,
    mean_of,
    rate_of,
    right_less_left,
)

RADIUS, SPEED, PERIOD = 20.0, 4.0, 0.02  # m, m/s, s
YAW_RATE = SPEED / RADIUS


def circle(step="left", count=200, begin=3.0, **changes):
    """Return samples of a car on a circle to the left; `changes` are functions of s."""
    samples = []
    for i in range(count):
        t = i * PERIOD
        yaw = math.remainder(begin + YAW_RATE * t, 2.0 * math.pi)
        state = CarState(
            time=t, x=RADIUS * math.sin(begin + YAW_RATE * t), y=-RADIUS * math.cos(begin + YAW_RATE * t), yaw=yaw,
            speed=SPEED, yaw_rate=YAW_RATE,
        )  # fmt: skip
        for name, change in changes.items():
            setattr(state, name, change(t))
        samples.append(Sample(step, t, state, Controls(steer=0.1)))
    return samples


def test_places_give_speed_heading_and_turning():
    drive = DriveSamples(circle())
    # A chord of 0.4 s is shorter than its arc by (0.04 rad)^2 / 6.
    np.testing.assert_allclose(FORWARD_BY_PLACE.compute(drive), SPEED, rtol=1e-3)
    np.testing.assert_allclose(LEFT_BY_PLACE.compute(drive), 0.0, atol=SPEED * YAW_RATE * PERIOD)
    np.testing.assert_allclose(DRIFT.compute(drive), 0.0, atol=YAW_RATE * PERIOD)
    np.testing.assert_allclose(COURSE_TURN.compute(drive), YAW_TURN.compute(drive), atol=1e-9)
    np.testing.assert_allclose(CENTRIPETAL.compute(drive), SPEED**2 / RADIUS, rtol=1e-9)
    left = LEFT_OF_START.compute(drive)
    assert left[0] < left[-1] == pytest.approx(RADIUS * (1.0 - math.cos(YAW_RATE * 3.69)), rel=1e-3)


def test_a_yaw_of_the_wrong_sense_or_zero_is_seen():
    mirrored = DriveSamples(circle(yaw=lambda t: -3.0 - YAW_RATE * t))
    turned = DriveSamples(circle(yaw=lambda t: 3.0 + YAW_RATE * t + 0.5 * math.pi))
    np.testing.assert_allclose(COURSE_TURN.compute(mirrored), -YAW_TURN.compute(mirrored), atol=1e-9)
    assert LevelCheck(DRIFT, 0.0, 0.35).judge(turned).verdict == "does not hold"


def test_windows_do_not_reach_over_steps_that_do_not_count():
    samples = [
        *circle("rest", 40, speed=lambda t: 0.0), *circle("left", 40), *circle("rest", 40, speed=lambda t: 0.0)
    ]  # fmt: skip
    samples = [sample._replace(clock=i * PERIOD) for i, sample in enumerate(samples)]
    assert set(mean_of("speed").compute(DriveSamples(samples).during("rest"))) == {0.0}
    assert set(mean_of("speed").compute(DriveSamples(samples).during("left"))) == {SPEED}


def test_a_slope_is_decided_only_beyond_its_error():
    rng = np.random.default_rng(1)
    noise = iter(rng.normal(0.0, 1.0, 10_000))

    def judge(gain, scatter, lo=0.5, hi=1.5):
        drive = DriveSamples(circle(
            speed=lambda t: math.sin(3.0 * t), velocity_x=lambda t: gain * math.sin(3.0 * t) + scatter * next(noise)
        ))  # fmt: skip
        return SlopeCheck(mean_of("velocity_x"), mean_of("speed"), lo, hi, ()).judge(drive).verdict

    assert judge(1.0, 0.1) == "holds"
    assert judge(-1.0, 0.1) == "does not hold"
    assert judge(0.0, 0.0) == "does not hold"  # what does not answer at all
    assert judge(1.0, 30.0) == "undecided"


def test_nothing_is_decided_by_nothing():
    empty = DriveSamples([])
    still = DriveSamples(circle(speed=lambda t: 1.0))
    unknown = DriveSamples(circle(acceleration_z=lambda t: math.nan))
    assert LevelCheck(mean_of("speed"), 0.0, 1.0).judge(empty).verdict == "undecided"
    assert SlopeCheck(rate_of("yaw"), mean_of("controls.steer"), 0.0, steps=()).judge(empty).verdict == "undecided"
    assert SlopeCheck(mean_of("yaw_rate"), mean_of("speed"), 0.5, steps=()).judge(still).verdict == "undecided"
    assert LevelCheck(mean_of("acceleration_z"), -3.0, 3.0).judge(unknown).verdict == "undecided"


def test_right_less_left():
    samples = circle()
    for sample in samples:
        for wheel, spin in zip(sample.state.wheels, (10.0, 12.0, 11.0, 13.0), strict=True):
            wheel.angular_velocity = spin
    np.testing.assert_allclose(right_less_left("wheels.angular_velocity").compute(DriveSamples(samples)), 2.0)


def test_a_check_says_how_it_decides():
    assert LevelCheck(mean_of("speed"), 0.5, 1.5, ("rest",)).text == "`speed`: 0.5 to 1.5 (rest)"
    assert (
        SlopeCheck(mean_of("speed"), mean_of("roll"), lo=0.1).text
        == "slope of `speed` over `roll`: above 0.1 (left, right)"
    )
    assert "below -1" in SlopeCheck(mean_of("speed"), mean_of("roll"), hi=-1.0, steps=()).text
