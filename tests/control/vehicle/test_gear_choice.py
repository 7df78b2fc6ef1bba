import numpy as np
import pytest
from msgspec import structs

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.control.vehicle.gear_choice import (
    HYSTERESIS,
    REV_MARGIN,
    SHIFT_PATIENCE,
    SHIFT_SLIP_TIME,
    GearRequester,
    choose_gear,
    upshift_speeds,
)
from trailbrake.units import RPM


@pytest.mark.parametrize("name", car_names())
def test_up_shifts_come_in_order_and_before_the_limiter(name):
    car = load_car(name)
    shifts = upshift_speeds(car)
    assert len(shifts) == car.gearbox.top_gear - 1
    assert list(shifts) == sorted(shifts)
    for gear, v in enumerate(shifts, 1):
        assert car.engine_speed(v, gear) <= 1.0001 * REV_MARGIN * car.engine.limiter_rpm * RPM


@pytest.mark.parametrize("name", car_names())
def test_at_an_up_shift_the_next_gear_pulls_harder_or_the_revs_run_out(name):
    car = load_car(name)
    for gear, v in enumerate(upshift_speeds(car), 1):
        at_the_end = car.engine_speed(v, gear) > 0.999 * REV_MARGIN * car.engine.limiter_rpm * RPM
        assert at_the_end or car.drive_force(v, gear + 1) > car.drive_force(v, gear)
        assert car.drive_force(0.9 * v, gear + 1) < car.drive_force(0.9 * v, gear)


def test_a_dip_in_the_torque_is_no_reason_to_shift_early():
    car = load_car("gt3")
    torque = list(car.engine.torque)
    dip = len(torque) // 2
    torque[dip] *= 0.6
    assert upshift_speeds(structs.replace(car, engine=structs.replace(car.engine, torque=tuple(torque)))) == (
        pytest.approx(upshift_speeds(car), rel=0.02)
    )


@pytest.mark.parametrize("name", car_names())
def test_all_gears_up_and_down_one_step_at_a_time_without_hunting(name):
    car = load_car(name)
    shifts = upshift_speeds(car)
    gear, seen = 1, [1]
    fastest = 1.05 * shifts[-1] if shifts else 40.0
    for v in [*np.linspace(0.0, fastest, 900), *np.linspace(fastest, 0.0, 900)]:
        wanted = choose_gear(v, gear, shifts)
        assert abs(wanted - gear) <= 1
        assert choose_gear(v, wanted, shifts) == wanted, "hunts at a steady speed"
        if wanted != gear:
            seen.append(wanted)
        gear = wanted
    up = list(range(1, car.gearbox.top_gear + 1))
    assert seen == [*up, *up[-2::-1]]


def test_the_way_down_comes_later_than_the_way_up():
    shifts = (10.0, 20.0)
    assert choose_gear(10.1, 1, shifts) == 2
    assert choose_gear(9.9, 2, shifts) == 2
    assert choose_gear(HYSTERESIS * 10.0 - 0.1, 2, shifts) == 1
    assert choose_gear(99.0, 3, shifts) == 3


@pytest.mark.parametrize("gear", [-1, 0])
def test_out_of_gear_asks_for_first(gear):
    assert choose_gear(30.0, gear, (10.0, 20.0)) == 1


def test_a_car_with_one_gear_stays_in_it():
    assert choose_gear(50.0, 1, ()) == 1


def test_a_gear_that_the_model_of_the_car_does_not_have_leads_down():
    assert choose_gear(8.0, 5, (10.0, 20.0)) == 4
    assert choose_gear(8.0, 2, ()) == 1


def drive_late_gearbox(request, delay_s, seconds=8.0):
    """Return the gears of a car that coasts while it shifts and gets requests `delay_s` late; `request` is a function
    of speed, gear and dt."""
    dt, shift_s = 0.01, 0.08
    pending, gears = [3] * round(delay_s / dt), []
    speed, gear, target, left = 50.0, 3, 3, 0.0
    for _ in range(round(seconds / dt)):
        pending.append(request(speed, gear, dt))
        wanted = pending.pop(0)
        if left <= 0.0 and wanted != gear:
            target, left = wanted, shift_s
        if left > 0.0:
            left -= dt
            gear = target if left <= 0.0 else gear
        speed += (-2.0 if left > 0.0 else 2.0) * dt
        gears.append(gear)
    return gears


def test_a_late_gearbox_shifts_up_once():
    """With a delay the gear that is engaged is no ground for the next request: it hunts, as seen with 40 ms."""
    shifts = (20.0, 35.0, 52.0)
    hunting = drive_late_gearbox(lambda speed, gear, dt: choose_gear(speed, gear, shifts), 0.04)
    assert np.count_nonzero(np.diff(hunting)) > 4
    for delay_s in (0.0, 0.04, 0.2):
        selector = GearRequester(shifts)
        assert np.count_nonzero(np.diff(drive_late_gearbox(selector.choose, delay_s))) == 1


def test_a_gear_that_is_refused_or_put_in_by_others_is_taken_for_what_it_is():
    selector = GearRequester((20.0, 35.0, 52.0))
    assert selector.choose(40.0, 3, 0.01) == 3
    assert selector.choose(53.0, 3, 0.01) == 4
    assert selector.choose(50.0, 3, 0.9 * SHIFT_PATIENCE) == 4
    assert selector.choose(50.0, 3, 0.2 * SHIFT_PATIENCE) == 3
    assert selector.choose(45.0, 2, 2.0 * SHIFT_PATIENCE) == 3


def test_driven_wheels_slip_by_a_shift_until_a_moment_after_the_gear_is_reported():
    selector = GearRequester((20.0, 35.0, 52.0))
    for _ in range(100):
        selector.choose(40.0, 3, 0.01)
    assert not selector.is_shifting
    assert selector.choose(30.0, 3, 0.01) == 2
    selector.choose(30.0, 3, 0.01)
    assert selector.is_shifting
    selector.choose(30.0, 2, 0.9 * SHIFT_SLIP_TIME)
    assert selector.is_shifting
    selector.choose(30.0, 2, 0.2 * SHIFT_SLIP_TIME)
    assert not selector.is_shifting
