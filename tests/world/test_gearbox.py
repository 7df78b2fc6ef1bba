"""Shifts, boost, fuel and charge against the car file's own numbers."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import interpolate_table
from trailbrake.units import RPM
from trailbrake.world.row_layout import StateRow

PERIOD = 1.0 / 333.0


@pytest.mark.parametrize("name", ["gt3", "hatchback", "f1"])
@pytest.mark.parametrize(("gear", "to"), [(3, 4), (4, 3)])
def test_a_shift_takes_its_time_to_within_a_look_and_gives_no_drive(rig, roads, name, gear, to):
    r = rig(name, roads.straight())
    r.roll_at(0.6 * r.car.gearbox.upshift_rpm * RPM / r.car.gearbox.overall_ratio(4) * r.car.driven_radius, gear=gear)
    r.run(0.3, gear=gear, throttle=0.3)
    begin = None
    while r.gear != to:
        r.step(gear=to, throttle=0.3)
        if begin is None and r.next_gear == to:
            begin = r.time - PERIOD
        if r.gear != to:
            assert r.clutch_engagement == 0.0
        assert r.time < 3.0
    done = r.time - PERIOD  # the new gear counts from the beginning of this step
    assert done - begin == pytest.approx(r.car.gearbox.shift_time, abs=1.01 * PERIOD)


def test_a_blip_matches_the_engine_and_a_manual_box_leaves_it(rig, roads):
    for name, blips in (("gt3", True), ("hatchback", False)):
        r = rig(name, roads.straight())
        speed = 0.8 * r.car.gearbox.upshift_rpm * RPM / r.car.gearbox.overall_ratio(3) * r.car.driven_radius
        r.roll_at(speed, gear=4)
        r.run(0.2, gear=4)
        last = r.engine_speed
        while r.gear == 4.0:
            last = r.engine_speed
            r.step(gear=3)
        wanted = r.car.engine_speed(r.vx, 3)
        if blips:
            assert last == pytest.approx(wanted, rel=0.06)
        else:
            assert last < 0.9 * r.car.engine_speed(r.vx, 4)


def test_gears_that_would_break_something_are_refused(rig, roads):
    r = rig("gt3", roads.straight())
    r.roll_at(50.0)
    gear = r.gear
    r.run(0.3, gear=-1)
    assert r.gear == gear  # reverse while rolling forward
    r.run(0.3, gear=2)
    assert r.car.engine_speed(r.vx, 2) > r.car.engine.limiter_rpm * RPM
    assert r.gear == gear
    r.run(1.0, gear=99)
    assert r.gear == r.car.gearbox.top_gear
    r.run(0.5, gear=0)
    assert r.gear == 0.0


def test_boost_follows_the_throttle_with_the_file_s_time_constant(rig, roads):
    r = rig("hatchback", roads.straight())
    lag = r.car.engine.turbo_lag
    for _ in range(200):
        r.step(gear=0, throttle=0.7)
        # Implicit Euler at the looks is late by up to one of them.
        assert r.turbo == pytest.approx(0.7 * (1.0 - math.exp(-r.time / lag)), abs=0.7 * 0.5 * PERIOD / lag)
    r.run(3.0, gear=0)
    assert r.turbo == pytest.approx(0.0, abs=1e-4)


def test_boost_is_its_share_of_the_torque(rig, roads):
    """Full throttle at once: the engine alone against its inertia, from neutral, with no boost and with all of it."""
    rates = []
    for boost in (0.0, 1.0):
        r = rig("hatchback", roads.straight(), x=100.0)
        r.run(0.5, gear=0)
        r.set("engine_speed", 300.0)
        r.set("turbo", boost)
        r.step(gear=0, throttle=1.0)
        rates.append((r.engine_speed - 300.0) / PERIOD)
    engine = r.car.engine
    full = interpolate_table(300.0 / RPM, engine.rpm, engine.torque) / engine.inertia
    caught_up = PERIOD / engine.turbo_lag  # within the first look
    assert rates[1] == pytest.approx(full, rel=0.01)
    assert rates[0] / rates[1] == pytest.approx(1.0 - engine.turbo_share * (1.0 - caught_up), rel=0.01)


def test_fuel_is_the_engine_s_work_at_the_file_s_consumption(rig, roads):
    r = rig("hatchback", roads.straight())
    car = r.car
    r.roll_at(25.0, gear=3)
    r.run(1.5, gear=3, throttle=0.8)
    begin, work = r.fuel, 0.0
    for _ in range(400):
        speed, share = r.engine_speed, 1.0 - car.engine.turbo_share * (1.0 - r.turbo)
        r.step(gear=3, throttle=0.8)
        assert r.tc_factor == 1.0
        speed = 0.5 * (speed + r.engine_speed)
        work += 0.8 * share * interpolate_table(speed / RPM, car.engine.rpm, car.engine.torque) * speed * PERIOD
    litres = work / 3.6e6 * car.fuel.specific_consumption / 1000.0 / car.fuel.density
    assert begin - r.fuel == pytest.approx(litres, rel=0.01)


def test_burnt_fuel_no_longer_weighs(rig, roads):
    r = rig("gt3", roads.straight())
    fuel, start = r.car.fuel, r.fuel
    r.set("fuel", 10.0)
    r.run(3.0)
    mass = r.car.body.mass - (start - 10.0) * fuel.density
    assert 1.0 / r.inverse_mass == pytest.approx(mass)
    assert r.four("load").sum() == pytest.approx(mass * 9.80665, rel=1e-6)
    assert r.heave > 1e-4  # the springs lift the lighter car


def test_without_fuel_there_is_no_torque(rig, roads):
    r = rig("gt3", roads.straight())
    r.roll_at(30.0, gear=3)
    r.set("fuel", 0.0)
    r.run(0.5, gear=3, throttle=1.0)
    assert r.ax < -0.2
    assert r.fuel == 0.0


def motor_run(rig, roads, charge=None):
    r = rig("f1", roads.straight())
    r.roll_at(60.0, gear=5)
    if charge is not None:
        r.set("charge", charge)
    return r


def test_the_motor_takes_from_the_store_what_it_gives(rig, roads):
    plain, boosted = motor_run(rig, roads), motor_run(rig, roads)
    hybrid = boosted.car.hybrid
    begin, work = boosted.charge, 0.0
    assert begin == hybrid.capacity * hybrid.start
    for _ in range(200):
        torque = min(hybrid.torque, hybrid.power / boosted.engine_speed)
        before = boosted.engine_speed
        boosted.step(gear=5, throttle=0.5, boost=1.0)
        work += torque * 0.5 * (before + boosted.engine_speed) * PERIOD
        plain.step(gear=5, throttle=0.5)
    assert begin - boosted.charge == pytest.approx(work, rel=0.01)
    assert begin - boosted.charge <= hybrid.power * 200 * PERIOD * 1.001
    assert plain.charge == begin
    # What came out of the store went into the car, less the gearbox's share and a little more drag and slip.
    gained = 0.5 * boosted.car.body.mass * (boosted.vx**2 - plain.vx**2)
    assert 0.75 * work < gained < boosted.car.gearbox.efficiency * work


def test_an_empty_store_gives_nothing_and_braking_fills_it(rig, roads):
    empty, plain = motor_run(rig, roads, 0.0), motor_run(rig, roads)
    for r, boost in ((empty, 1.0), (plain, 0.0)):
        r.run(0.5, gear=5, throttle=0.5, boost=boost)
    assert empty.vx == plain.vx
    hybrid, steps = empty.car.hybrid, 100
    for _ in range(steps):
        empty.step(gear=5, brake=0.5)
    assert empty.charge == pytest.approx(hybrid.recharge * steps * PERIOD, rel=1e-6)
    empty.run(0.2, gear=5, brake=0.1)
    for _ in range(steps):  # so lightly that the rear brakes turn less into heat than the motor could take
        filled, speed = empty.charge, empty.vx
        empty.step(gear=5, brake=0.1)
        work = 0.1 * empty.car.brakes.torque_rear * speed / empty.car.driven_radius * PERIOD
        assert empty.charge - filled == pytest.approx(work, rel=0.03)
        assert work < 0.9 * hybrid.recharge * PERIOD
    empty.set("charge", hybrid.capacity)
    empty.step(gear=5, brake=0.5)
    assert empty.charge == hybrid.capacity


@pytest.mark.parametrize("name", ["gt3", "hatchback", "sports_awd", "f1", "kart"])
def test_the_automatic_goes_through_its_gears_without_hunting(rig, roads, name):
    r = rig(name, roads.straight())
    gears = [r.gear]
    for _ in range(333 * 12):
        r.step(throttle=1.0)
        if r.gear != gears[-1]:
            gears.append(r.gear)
    assert gears == sorted(gears)
    assert np.all(np.diff(gears) == 1.0)
    assert load_car(name).gearbox.top_gear >= gears[-1]
    assert r.engine_speed < 1.03 * r.car.engine.limiter_rpm * RPM
    assert r.batch.get_row(StateRow.GEAR)[0] == gears[-1]


@pytest.mark.parametrize("throttle", [0.3, 0.6, 1.0])
def test_the_automatic_box_of_a_strong_car_shifts_by_road_speed_from_rest(rig, roads, throttle):
    """By the engine's speed alone it was in eighth gear at 4 km/h with spinning wheels, and at 17 km/h after 3.2 s."""
    r = rig("f1", roads.straight())
    gearbox = r.car.gearbox
    while r.time < 3.2:
        before = r.gear
        r.step(gear=math.nan, throttle=throttle)
        if r.gear > before >= 1:
            turning = 1.3 * r.vx / r.car.driven_radius * gearbox.overall_ratio(int(before))
            assert turning > gearbox.upshift_rpm * RPM, f"gear {r.gear} at {r.vx:.1f} m/s"
    assert r.vx * 3.6 > 79.0


@pytest.mark.parametrize(("name", "throttle"), [("gt3", 0.5), ("hatchback", 0.5), ("hatchback", 1.0), ("kart", 1.0)])
def test_a_launch_without_spin_or_launch_control_is_that_of_first_gear_by_hand_to_the_bit(rig, roads, name, throttle):
    speeds = []
    for gear in (math.nan, 1):
        r = rig(name, roads.straight())
        while r.time < 1.5:
            r.step(gear=gear, throttle=throttle)
        speeds.append(r.vx)
    assert speeds[0] == speeds[1] > 2.0
