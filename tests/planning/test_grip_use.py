"""Use and slip of a car in known situations."""

import math
from functools import cache

import numpy as np
import pytest
from helpers.stadiums import build_stadium

from trailbrake.cars.axle_forces import planning_car, wheel_loads
from trailbrake.cars.car_library import load_car
from trailbrake.cars.ggv_envelope import SHARES, compute_envelope
from trailbrake.cars.tyre import combined_slip_force
from trailbrake.planning.course import Course, path_shapes
from trailbrake.planning.grip_use import AxleSlips, find_needed_grip, measure_grip_use
from trailbrake.planning.speed_profile import PathShape, interpolate_speed, interpolate_speed_share
from trailbrake.tracks.track import Track

SPEED = 40.0
NO_SLIP = AxleSlips(0.0, 0.0, 0.0, 0.0)
STRAIGHT = PathShape(0.0, 0.0, 0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def car():
    return load_car("gt3")


@pytest.fixture(scope="module")
def limits(car):
    return compute_envelope(car)


def measure(car, limits, forward=0.0, slips=NO_SLIP, shape=STRAIGHT, speed=SPEED):
    return measure_grip_use((speed, forward, 0.0), slips, shape, limits, planning_car(car))


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_use_is_the_share_of_the_limit_in_each_direction(car, limits, share):
    lateral = float(interpolate_speed(limits.lateral, limits.speeds, SPEED))
    brake = float(interpolate_speed_share(limits.brake, limits.speeds, SPEED, 0.0))
    traction = float(interpolate_speed_share(limits.traction, limits.speeds, SPEED, 0.0))
    for side in (1.0, -1.0):
        bend = STRAIGHT._replace(curvature=side * share * lateral / SPEED**2)
        assert measure(car, limits, shape=bend)[0] == pytest.approx(share, rel=1e-3)
        assert measure(car, limits, shape=bend._replace(grip=0.5))[0] == pytest.approx(2.0 * share, rel=1e-3)
    assert measure(car, limits, -share * brake)[0] == pytest.approx(share, rel=1e-3)
    assert measure(car, limits, share * traction)[0] == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize("used", [3, 6, 9])
@pytest.mark.parametrize("scale", [0.7, 1.0])
def test_use_beside_the_bend_is_that_of_the_envelope_s_edge(car, limits, used, scale):
    """A point on the edge of the envelope, and one as far inside in both directions."""
    lateral = float(interpolate_speed(limits.lateral, limits.speeds, SPEED)) * used / (SHARES - 1)
    for table, sign in ((limits.brake, -1.0), (limits.traction, 1.0)):
        pull = sign * float(interpolate_speed_share(table, limits.speeds, SPEED, used / (SHARES - 1)))
        bend = STRAIGHT._replace(curvature=scale * lateral / SPEED**2)
        assert measure(car, limits, scale * pull, shape=bend)[0] == pytest.approx(scale, rel=2e-3)


def test_uphill_braking_is_helped_by_the_hill(car, limits):
    level = measure(car, limits, -10.0)[0]
    assert measure(car, limits, -10.0, shape=STRAIGHT._replace(climb=0.05))[0] < level
    assert measure(car, limits, -10.0, shape=STRAIGHT._replace(climb=-0.05))[0] > level


def test_slips_are_over_those_of_the_peak_at_the_load_of_the_axle(car, limits):
    loads = wheel_loads(0.0, 0.0, SPEED, planning_car(car).body)
    front, rear = (
        1.0 + tyre.slip_load * (load / tyre.nominal_load - 1.0)
        for tyre, load in ((car.tyre_front, loads[0]), (car.tyre_rear, loads[2]))
    )
    # The inverse of the peak slip falls with load: `1 / peak` times (2 - growth).
    per_front, per_rear = 2.0 - front, 2.0 - rear
    angle, ratio = car.tyre_front.peak_slip_angle, car.tyre_front.peak_slip_ratio
    assert measure(car, limits, slips=AxleSlips(-angle, 0.0, 0.0, 0.0))[1:3] == pytest.approx((per_front, per_front))
    both = measure(car, limits, slips=AxleSlips(angle, 0.0, ratio, 0.0))
    assert both[1:3] == pytest.approx((math.sqrt(2.0) * per_front, per_front))
    behind = AxleSlips(0.01, car.tyre_rear.peak_slip_angle, 0.0, -car.tyre_rear.peak_slip_ratio)
    assert measure(car, limits, slips=behind)[1:3] == pytest.approx((math.sqrt(2.0) * per_rear, per_rear))


def test_a_missing_acceleration_is_a_use_that_is_none(car, limits):
    assert math.isnan(measure(car, limits, math.nan)[0])


@pytest.mark.parametrize("friction", [0.7, 1.0, 1.1])
def test_steady_cornering_shows_friction_at_any_slip_and_pedals_or_a_slide_do_not(car, limits, friction):
    plan, angles = planning_car(car), (0.5 * car.tyre_front.peak_slip_angle, 0.4 * car.tyre_rear.peak_slip_angle)
    lateral = 12.0
    for _ in range(20):  # the loads follow the force
        loads = wheel_loads(0.0, lateral, SPEED, plan.body)
        axles = ((loads[:2], angles[0], plan.front), (loads[2:], angles[1], plan.rear))
        force = sum(combined_slip_force(0.0, -math.tan(angle), load, law)[1] for pair, angle, law in axles
                    for load in pair)  # fmt: skip
        lateral = friction * force / car.body.mass
    bend = STRAIGHT._replace(curvature=lateral / SPEED**2)
    slips = AxleSlips(*angles, 0.0, 0.0)
    assert measure(car, limits, slips=slips, shape=bend)[3] == pytest.approx(friction, rel=1e-3)
    assert measure(car, limits, slips=slips, shape=bend._replace(grip=0.7))[3] == pytest.approx(friction / 0.7, 1e-3)
    for other in (slips._replace(rear_ratio=0.08), slips._replace(rear_angle=-0.02), AxleSlips(0.005, 0.004, 0.0, 0.0)):
        assert math.isnan(measure(car, limits, slips=other, shape=bend)[3])


@pytest.mark.parametrize("speed", [20.0, 80.0])
@pytest.mark.parametrize("grip", [0.7, 1.0])
def test_driven_wheels_show_the_same_grip_at_each_speed_whatever_the_downforce(speed, grip):
    car, angle = load_car("f1"), 0.01
    plan, limits, ratio, forward = planning_car(car), compute_envelope(car), 0.2 * car.tyre_rear.peak_slip_ratio, 0.0
    for _ in range(20):  # the loads follow the force
        loads = wheel_loads(forward, 0.0, speed, plan.body)[2:]
        force = sum(combined_slip_force(ratio, -math.tan(angle), load, plan.rear)[0] for load in loads)
        forward = grip * force / car.body.mass
    slips = AxleSlips(0.0, angle, 0.0, ratio)
    assert measure(car, limits, forward, slips, speed=speed)[4] == pytest.approx(grip, rel=1e-3)
    for other in (slips._replace(rear_ratio=0.02 * ratio), slips._replace(rear_angle=0.06), AxleSlips(0, 0, 0, 0.06)):
        assert math.isnan(measure(car, limits, forward, other, speed=speed)[4])  # coasts, corners, slides
    assert math.isnan(measure(car, limits, -forward, slips, speed=speed)[4])


@cache
def course():
    return Course(Track("stadium", "", (build_stadium(),)), load_car("gt3"))


def needed_for(speeds):
    line = course().line
    return find_needed_grip(line, speeds, path_shapes(line), course().envelope)


@pytest.mark.parametrize("margin", [0.9, 1.0, 1.1])
def test_a_profile_needs_the_margin_that_it_was_planned_with(margin):
    profile = course().plan_speeds(course().line, start=-1.0, margin=margin)
    bends = profile.grip > 0.99 * margin
    np.testing.assert_allclose(needed_for(profile.speed)[bends], margin, atol=0.05)


def test_slow_speeds_say_nothing():
    np.testing.assert_array_equal(needed_for(np.full(len(course().line.table), 5.0)), 1.0)
