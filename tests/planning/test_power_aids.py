"""Where wing and motor are used: against other ways to spend the same energy, and what a car counts."""

from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.power_aids import PowerAids, choose_rows, find_wing_rows, plan_aids
from trailbrake.planning.speed_profile import compute_profile
from trailbrake.tracks.track_library import load_track


@cache
def course(track="hartmoor", car="f1"):
    return Course(load_track(track), load_car(car))


def lap_time(plan, motor):
    """The lap with the same wing and another use of the motor."""
    line, rows = course().line, path_shapes(course().line)
    rows[:, -1] = plan.relief + motor * plan.most
    return compute_profile(rows, line.spacing, True, course().envelope, start=-1.0, margin=GRIP_MARGIN).lap_time


@pytest.mark.parametrize("energy", [0.5e6, 1.5e6])
def test_no_other_way_to_spend_the_energy_is_as_quick(energy):
    plan, even = (plan_aids(course(), course().line, energy, is_constant=flag) for flag in (False, True))
    for each in (plan, even):
        assert float(each.motor @ each.cost) == pytest.approx(energy, rel=0.01)
    none = lap_time(plan, 0.0 * plan.motor)
    saved, saved_evenly = none - plan.profile.lap_time, none - even.profile.lap_time
    assert saved > 1.1 * saved_evenly > 0.0
    draw = np.random.default_rng(1)
    helped = np.flatnonzero(plan.worth > 0.0)
    for _ in range(20):  # a stretch that is driven with the motor changes places with one of the same energy
        motor = plan.motor.copy()
        on, off = (draw.choice(helped[plan.motor[helped] == state]) for state in (1.0, 0.0))
        motor[on : on + 8], motor[off : off + 8] = 0.0, 1.0
        if motor @ plan.cost <= energy:
            assert lap_time(plan, motor) > plan.profile.lap_time - 1e-3


def test_what_a_joule_is_worth_is_what_it_saves():
    plan = plan_aids(course(), course().line, 1e6)
    here = np.argsort(-plan.worth)[400:2000:400]
    for row in here:
        motor = plan.motor.copy()
        motor[row] = 1.0 - motor[row]
        sign = 1.0 if motor[row] else -1.0
        saved = sign * (plan.profile.lap_time - lap_time(plan, motor))
        assert saved == pytest.approx(plan.worth[row] * plan.cost[row], rel=0.1)


def test_the_motor_gives_nothing_where_tyres_or_brakes_limit_the_car():
    plan = plan_aids(course(), course().line, 4e6)
    assert float(plan.motor @ plan.cost) < 4e6  # there are not that many places
    slows = plan.profile.acceleration < -3.0
    assert not plan.motor[slows].any()
    assert not plan.motor[plan.profile.grip > 0.97 * GRIP_MARGIN].any()


def test_a_wing_is_open_in_zones_where_the_car_does_not_need_it():
    plan, zones = plan_aids(course(), course().line, 0.0), course().track.drs_zones
    in_zone = find_wing_rows(course(), course().line)
    assert in_zone.sum() * course().line.spacing == pytest.approx(
        sum((zone.end - zone.begin) % course().track.road.length for zone in zones), rel=0.02
    )
    assert (plan.wing & ~in_zone).sum() == 0
    assert plan.wing.sum() > 0.8 * in_zone.sum()
    assert plan.profile.lap_time < course().profile.lap_time - 0.1
    assert not find_wing_rows(course(car="gt3"), course(car="gt3").line).any()


def test_rows_are_chosen_by_worth_up_to_the_energy():
    worth, cost = np.array([1.0, 3.0, 0.0, 2.0]), np.array([10.0, 10.0, 10.0, 5.0])
    assert choose_rows(worth, cost, 15.0).tolist() == [0.0, 1.0, 0.0, 1.0]
    assert choose_rows(worth, cost, 99.0).tolist() == [1.0, 1.0, 0.0, 1.0]
    assert choose_rows(worth, cost, 0.0).tolist() == [0.0] * 4


def test_a_lap_gets_what_the_store_holds_at_its_begin():
    line, car = course().line, load_car("f1")
    scarce = Course(load_track("hartmoor"), replace(car, hybrid=replace(car.hybrid, start=0.05)), given_line=line)
    shapes = path_shapes(line)
    aids = PowerAids(scarce, line, [shapes])
    first = shapes[:, -1].sum()
    plan = plan_aids(scarce, line, 0.05 * 4e6)
    on = int(np.flatnonzero(plan.motor)[0])
    assert aids.choose(on, 1.0, 0.0, 60.0, 0.5) == (float(plan.wing[on]), 1.0)
    assert aids.choose(on, 0.98, 0.0, 60.0, 0.5) == (0.0, 0.0)  # the tyres hold it back
    assert aids.choose(on, 1.0, 0.0, 60.0, 1.5)[1] == 1.0
    assert aids.choose(on, 1.0, 0.0, 60.0, 0.1)[1] == 0.0  # 0.2 MJ are gone
    aids.choose(len(line.table) - 1, 0.0, 1.0, 60.0, 10.0)  # 1.2 MJ come back, for the next lap
    assert aids.choose(on, 1.0, 0.0, 60.0, 0.0)[1] == 1.0
    expected = plan_aids(scarce, line, 1.2e6)
    assert shapes[:, -1].sum() == pytest.approx((expected.relief + expected.motor * expected.most).sum(), rel=0.05)
    assert shapes[:, -1].sum() > 1.3 * first
    charge = aids._charge
    aids.choose(len(line.table) - 1, 0.0, 1.0, 60.0, 100.0)
    assert aids._charge - charge == pytest.approx(2e6)  # of a lap
    aids.choose(on, 1.0, 0.0, 60.0, 0.0)
    charge = aids._charge
    aids.choose(on, 0.0, 0.1, 20.0, 1.0)
    assert aids._charge - charge == pytest.approx(0.1 * car.brakes.torque_rear * 20.0 / car.driven_radius)
