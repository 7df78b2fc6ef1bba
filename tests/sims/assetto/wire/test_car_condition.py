"""What the pages show beyond the world's state, from states made by hand and figures worked out by hand."""

import math

import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.sims.assetto.wire.car_condition import NO_CONDITION, CarCondition, ConditionValues, full_boost
from trailbrake.state import CarState, WheelState

CAR = load_car("gt3")
STEP = 1 / 333


def state(time, speed=0.0, wheel=None, **more):
    known = {"angular_velocity": speed / 0.33, "on_track": 1.0, "combined_slip": 0.0, "slip_angle": 0.0, "load": 3000.0}
    wheels = [WheelState(**(known | (wheel or {}))) for _ in range(4)]
    return CarState(time=time, speed=speed, throttle=0.0, brake=0.0, wheels=wheels, **more)


def follow(condition, seconds, limiter=False, **kwargs):
    for k in range(round(seconds / STEP) + 1):
        last = state(k * STEP, **kwargs)
        condition.update_state(last, pit_limiter=limiter)
    return last


def test_pressure_follows_the_temperature_of_the_gas():
    condition = CarCondition(CAR)
    thermal = CAR.tyre_front.thermal
    optimal = 25.0 if thermal is None else thermal.optimal_temperature
    cold, hot = (
        follow(CarCondition(CAR), 0.0, wheel={"core_temperature": optimal + k}).wheels[0].pressure for k in (0.0, 30.0)
    )
    assert cold == pytest.approx(180e3)
    assert (hot + 101325.0) / (cold + 101325.0) == pytest.approx((optimal + 303.15) / (optimal + 273.15))
    known = follow(condition, 0.0, wheel={"pressure": 1.0, "disc_temperature": 2.0}).wheels[3]
    assert (known.pressure, known.disc_temperature) == (1.0, 2.0)  # a world that has models of its own keeps them


def test_the_torque_of_the_drivetrain_is_that_at_all_wheels():
    condition = CarCondition(CAR)
    follow(condition, 0.0, wheel={"drive_torque": 250.0})
    assert condition.values.drivetrain_torque == 1000.0


def test_a_state_with_nothing_in_it_is_no_error():
    condition = CarCondition(CAR)
    empty = CarState(time=0.0, speed=0.0)
    condition.update_state(empty, pit_limiter=False)
    condition.update_state(CarState(time=STEP, speed=0.0), pit_limiter=False)
    assert condition.values.drivetrain_torque == 0.0
    assert empty.wheels[0].pressure == pytest.approx(180e3)


# ---- One step of 0.05 s, worked out by hand ----


def one_step(car=CAR, wheel=None, speed=0.0, dt=0.05, **more):
    """Return condition and state after one step of heat, dirt and boost."""
    condition = CarCondition(car)
    condition.update_state(state(0.0, speed, wheel), pit_limiter=False)
    last = state(dt, speed, wheel)
    for name, value in more.items():
        setattr(last, name, value)
    condition.update_state(last, pit_limiter=False)
    return condition, last


def disc_warming(wheel, joules):
    return joules / ((0.007 if wheel < 2 else 0.005) * CAR.body.mass * 500.0)


@pytest.mark.parametrize("wheel", range(4))
def test_a_disc_takes_the_work_of_its_brake(wheel):
    _, last = one_step(wheel={"brake_torque": 1000.0, "angular_velocity": -100.0})
    assert last.wheels[wheel].disc_temperature - 25.0 == pytest.approx(disc_warming(wheel, 5000.0))
    _, last = one_step(wheel={"brake_torque": math.nan, "angular_velocity": 100.0}, brake=0.5)
    torque = 0.25 * (CAR.brakes.torque_front if wheel < 2 else CAR.brakes.torque_rear)  # of one wheel, half pressed
    assert last.wheels[wheel].disc_temperature - 25.0 == pytest.approx(disc_warming(wheel, torque * 5.0))
    for unknown, more in (({"brake_torque": math.nan}, {"brake": math.nan}), ({"angular_velocity": math.nan}, {})):
        _, last = one_step(wheel={"brake_torque": 1000.0, "angular_velocity": 100.0} | unknown, **more)
        assert last.wheels[wheel].disc_temperature == 25.0


def test_a_hot_disc_gives_heat_to_the_air_and_more_with_speed():
    for speed, rate in ((0.0, 1.0 / 300.0), (50.0, 1.0 / 300.0 + 0.03)):
        condition = CarCondition(CAR)
        condition._discs = [525.0] * 4
        for time in (0.0, 0.05):
            condition.update_state(last := state(time, speed), pit_limiter=False)
        assert 525.0 - last.wheels[2].disc_temperature == pytest.approx(500.0 * rate * 0.05)
        condition.reset()
        condition.update_state(last := state(0.0), pit_limiter=True)
        assert (last.wheels[2].disc_temperature, condition.values.pit_limiter) == (25.0, True)


@pytest.mark.parametrize(
    ("on_track", "speed", "before", "after"),
    [
        (0.0, 10.0, 0.0, 0.01),  # half a metre of 50
        (0.499, 10.0, 0.5, 0.505),
        (0.5, 10.0, 0.0, 0.0),
        (0.0, 2000.0, 0.5, 1.0),  # no more than dirty
        (1.0, 10.0, 1.0, 0.9975),  # half a metre of 200
        (math.nan, 10.0, 1.0, 0.9975),
        (1.0, 9000.0, 1.0, 0.0),  # no cleaner than clean
    ],
)
def test_dirt_over_half_a_metre_beside_the_road_and_on_it(on_track, speed, before, after):
    condition = CarCondition(CAR)
    condition._dirt = [before] * 4
    for time in (0.0, 0.05):
        condition.update_state(state(time, speed, {"on_track": on_track}), pit_limiter=False)
    assert condition.values.dirt == pytest.approx((after,) * 4)


@pytest.mark.parametrize("dt", [0.03, 0.05, 0.099])
def test_boost_follows_the_throttle_with_the_lag_of_the_engine(dt):
    turbo = load_car("hatchback")
    boost = one_step(turbo, dt=dt, throttle=0.5)[0].values.turbo_boost
    assert boost == pytest.approx(0.5 * full_boost(turbo) * dt / (turbo.engine.turbo_lag + dt))
    assert one_step(turbo, dt=dt, throttle=math.nan)[0].values.turbo_boost == 0.0


@pytest.mark.parametrize(("level", "share"), [(0.0, 0.0), (0.4, 0.4), (1.0, 1.0), (math.nan, 1.0)])
def test_boost_falls_with_its_level(level, share):
    turbo = load_car("sports_awd")
    condition = CarCondition(turbo)
    for time in (0.0, 0.09, 0.18):
        last = state(time)
        last.throttle = 1.0
        condition.update_state(last, pit_limiter=False, turbo_level=level)
    full, lag = full_boost(turbo), turbo.engine.turbo_lag
    way = 1.0 - (1.0 - 0.09 / (lag + 0.09)) ** 2
    assert condition.values.turbo_boost == pytest.approx(share * way * full)


@pytest.mark.parametrize("dt", [0.0, 0.01, 0.1, 5.0, -1.0])
def test_nothing_changes_in_no_time_between_slow_steps_or_after_a_gap(dt):
    condition, _ = one_step(load_car("hatchback"), {"on_track": 0.0}, speed=10.0, dt=dt, throttle=1.0)
    assert condition.values == NO_CONDITION


@pytest.mark.parametrize(
    ("share", "lag", "boost"), [(0.5, 0.4, 1.01325), (0.0, 0.4, 0.0), (1.0, 0.4, 0.0), (0.5, 0.0, 0.0)]
)
def test_the_boost_of_a_share_of_the_torque(share, lag, boost):
    car = replace(CAR, engine=replace(CAR.engine, turbo_share=share, turbo_lag=lag))
    assert full_boost(car) == pytest.approx(boost)


@pytest.mark.parametrize(
    ("slip", "feedback"),
    [
        (0.5, 0.64),  # force 0.8, trail 20 + 30 * 2/3 mm, of 50
        (1.0, 0.6),  # the peak: force 1, trail 20 + 30 * 1/3 mm
        (2.0, 0.32),  # force 0.8, and the pneumatic trail is gone
        (0.0, 0.0),
    ],
)
def test_the_moment_at_the_wheel_over_that_of_the_peak_at_rest(slip, feedback):
    body = CAR.body
    static = body.mass * 9.80665 * body.cg_to_rear / (body.cg_to_front + body.cg_to_rear)  # N, both front wheels
    known = {"load": 0.5 * static, "combined_slip": slip, "slip_angle": -slip * CAR.tyre_front.peak_slip_angle}
    condition = CarCondition(CAR)
    condition.update_state(state(0.0, wheel=known), pit_limiter=False)
    assert condition.values.pure_feedback == pytest.approx(feedback)
    condition.update_state(state(0.0, wheel=known | {"slip_angle": -known["slip_angle"]}), pit_limiter=False)
    assert condition.values.pure_feedback == pytest.approx(-feedback), "against the bend, to either side"
    for wheel, share in ((0, 0.5), (1, 0.5), (2, 1.0), (3, 1.0)):  # the front tyres alone, each for itself
        for unknown in ("load", "combined_slip", "slip_angle"):
            partly = state(0.0, wheel=known)
            setattr(partly.wheels[wheel], unknown, math.nan)
            condition.update_state(partly, pit_limiter=False)
            assert condition.values.pure_feedback == pytest.approx(share * feedback)


def test_a_new_car_has_no_condition():
    assert ConditionValues((0.0, 0.0, 0.0, 0.0), 0.0, 0.0, 0.0, False) == NO_CONDITION
    assert ConditionValues() == NO_CONDITION
    condition = CarCondition(CAR)
    assert condition.values == NO_CONDITION
    condition.update_state(state(0.0), pit_limiter=False)
    assert condition.values == NO_CONDITION
