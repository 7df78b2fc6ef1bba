"""The numbers of section 6."""

import math

import pytest

from trailbrake.sims.beamng.timing import PeriodCheck, compute_timing, expected_speed
from trailbrake.state import CarState


@pytest.mark.parametrize(("simulink", "ping", "skips", "unanswered", "step"), [
    (0.005, 0.00001, 9, 1, 0.005), (0.0005, 0.002, 0, 4, 0.0005), (0.001, 0.00001, 1, 1, 0.001),
    (0.0007, 0.001, 1, 2, 0.001), (0.0012, 0.001, 2, 1, 0.0015), (0.002, 0.002, 3, 1, 0.002),
])  # fmt: skip
def test_the_two_parameters(simulink, ping, skips, unanswered, step):
    timing = compute_timing(simulink, ping)
    assert (timing.send_skips, timing.unanswered, timing.message_period) == (skips, unanswered, pytest.approx(step))


def test_whole_steps_are_whole_from_half_a_millisecond_to_two_hundred():
    for steps in range(1, 401):
        assert compute_timing(steps * 0.0005, 0.001).send_skips == steps - 1


def test_the_readme_s_names():
    """Its figure of coupling case 2: an offset of 2, a window and a wait of 4."""
    timing = compute_timing(0.001, 0.002)
    assert (timing.send_offset, timing.window_width, timing.send_wait) == (2, 4, 4)


def test_rounding_is_said():
    assert "rounded up" in compute_timing(0.0007, 0.00001).describe_timing()
    said = compute_timing(0.00050000002374873, 0.00001).describe_timing()
    assert said.startswith("a message every 1 ms (simulink time 0.500000024 ms, rounded up to whole physics steps)")
    assert compute_timing(0.0005, 0.002).describe_timing() == "a message every 0.5 ms, 4 messages may be unanswered"


@pytest.mark.parametrize(("simulink", "ping", "trip", "compute", "speed"), [
    (0.0005, 0.002, 0.002, 0.0, 1.0), (0.0005, 0.00001, 0.002, 0.0, 0.25), (0.001, 0.002, 0.002, 0.0, 1.0),
    (0.0005, 0.00001, 0.001, 0.001, 0.5), (0.0005, 0.01, 0.001, 0.001, 0.5), (0.005, 0.00001, 0.001, 0.001, 1.0),
])  # fmt: skip
def test_expected_speed_of_the_worked_cases(simulink, ping, trip, compute, speed):
    assert expected_speed(compute_timing(simulink, ping), trip, compute) == pytest.approx(speed)


def roll(check, period, speed=20.0, messages=400, skip=1, jump_at=-1):
    """Add the states of a car that rolls along X, `period` s of simulator time apart."""
    for k in range(0, messages, skip):
        x = speed * period * k + (500.0 if 0 <= jump_at <= k else 0.0)
        check.add_state(CarState(sequence=k, x=x, y=0.0, z=0.0, speed=speed), math.nan)
        if check.done:
            return


@pytest.mark.parametrize("skip", [1, 3])
def test_the_way_of_the_car(skip):
    check = PeriodCheck(0.0005)
    roll(check, 0.001, skip=skip)
    assert check.measured == pytest.approx(0.001)
    assert "every 1 ms by the way of the car, but the options say 0.5 ms" in check.finding
    check = PeriodCheck(0.001)
    roll(check, 0.001, skip=skip)
    assert (check.done, check.finding) == (True, "")


def test_a_teleport_is_no_way():
    check = PeriodCheck(0.001)
    roll(check, 0.001, jump_at=50)
    assert check.measured == pytest.approx(0.001)
    assert check.finding == ""


@pytest.mark.parametrize("speed", [0.0, 1.0, math.nan])
def test_a_car_at_rest_or_without_a_speed_shows_nothing(speed):
    check = PeriodCheck(0.005)
    roll(check, 0.001, speed=speed)
    assert not check.done
    assert math.isnan(check.measured)


def test_a_clock_that_stands_still_for_a_frame():
    check = PeriodCheck(0.0005)
    for k in range(2000):
        check.add_state(CarState(sequence=k), math.floor(0.001 * k * 60.0) / 60.0)
        if check.done:
            break
    assert check.measured == pytest.approx(0.001, rel=0.05)
    assert check.finding.endswith("give --simulink-time as the game has it: 0.001")
