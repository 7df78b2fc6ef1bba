"""The phase in which a lap went wrong, from hand-made seconds before the car left the road."""

import math

import pytest

from trailbrake.learning.identification.lap_fault import (
    FaultSample,
    LapFault,
    classify_fault,
    describe_fault,
    measure_sideslip,
)


def drive(*parts, rate=50.0):
    """Return the samples of parts (seconds, speed, sideslip, acceleration, throttle, brake) behind each other."""
    samples, time = [], 100.0
    for seconds, *values in parts:
        for _ in range(round(seconds * rate)):
            samples.append(FaultSample(time, *values))
            time += 1.0 / rate
    return samples


def test_a_slide_is_blamed_on_the_pedal_before_it():
    straight, slide = (3.0, 30.0, 0.0, 0.0, 0.2, 0.0), (1.0, 25.0, 0.3, -2.0, 0.0, 0.0)
    braked = drive(straight, (1.0, 28.0, 0.05, -9.0, 0.0, 0.8), slide)
    assert classify_fault(braked).phase == "braking"
    pushed = drive(straight, (1.0, 28.0, 0.05, 3.0, 0.9, 0.0), slide)
    assert classify_fault(pushed).phase == "power"
    turned = drive(straight, (1.0, 28.0, 0.05, -1.0, 0.1, 0.0), slide)
    assert classify_fault(turned) == LapFault("cornering", pytest.approx(28.0, abs=0.5))


def test_a_car_that_ran_wide_without_a_slide_was_too_fast_before_it_left():
    wide = drive((2.0, 40.0, 0.0, -8.0, 0.0, 0.9), (1.4, 33.0, 0.02, -1.0, 0.1, 0.0))
    assert classify_fault(wide).phase == "braking"
    late = drive((2.0, 40.0, 0.0, -8.0, 0.0, 0.9), (2.5, 33.0, 0.02, -1.0, 0.1, 0.0))
    assert classify_fault(late).phase == "cornering"


def test_an_older_slide_and_one_at_a_crawl_do_not_count():
    old = drive((1.0, 30.0, 0.4, -9.0, 0.0, 0.9), (5.0, 30.0, 0.0, 3.0, 0.9, 0.0))
    assert classify_fault(old).phase == "power"
    crawl = drive((0.2, 30.0, 0.0, -9.0, 0.0, 0.9), (1.0, 2.0, 1.2, 0.5, 0.1, 0.0), (2.0, 20.0, 0.0, 3.0, 0.8, 0.0))
    assert classify_fault(crawl).phase == "power"


def test_accelerations_that_are_not_supplied_leave_the_pedals():
    samples = [sample._replace(acceleration=math.nan) for sample in drive((3.0, 20.0, 0.0, 0.0, 0.8, 0.0))]
    assert classify_fault(samples).phase == "power"
    assert classify_fault([]) == LapFault("standstill", 0.0)


def test_faults_have_words():
    assert describe_fault(LapFault("braking", 31.4)) == "left the road while braking, at 31 m/s"
    assert describe_fault(LapFault("standstill", 0.0)) == "the car got stuck"


def test_the_sideslip_of_the_rear_axle_is_that_of_a_rotating_body():
    # A car that turns about a point 10 m to the left of its rear axle has no sideslip there.
    assert measure_sideslip(10.0, 1.0 * 1.4, 1.0, 1.4) == pytest.approx(0.0)
    assert measure_sideslip(10.0, 2.0, 0.0, 1.4) == pytest.approx(math.atan2(2.0, 10.0))
    assert measure_sideslip(0.5, 0.5, 0.0, 1.4) == 0.0
