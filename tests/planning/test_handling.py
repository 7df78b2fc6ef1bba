"""How a car lies in a bend: against closed forms, and against the world's car driven round in a circle."""

import math
from functools import cache

import msgspec
import numpy as np
import pytest

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.ggv_envelope import SHARES, compute_envelope
from trailbrake.planning.handling import (
    PEDAL_USES,
    TIME_STEP,
    PathMotion,
    axle_slip_angles,
    car_attitude,
    compute_handling,
    preview_line,
    released_brake_share,
)
from trailbrake.state import Controls
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.units import G
from trailbrake.world.plant import World

SPACING = 2.0  # m


@cache
def made(name):
    car = load_car(name)
    return car, compute_handling(car, compute_envelope(car))


def line(curvature):
    """Return an open road whose curvature (1/m) is a function of s (m); the wide pad around it is flat."""
    s = np.arange(0.0, 1200.0, SPACING)
    yaw = np.concatenate([[0.0], np.cumsum([SPACING * curvature(x + 0.5 * SPACING) for x in s[:-1]])])
    ahead = 0.5 * (yaw[1:] + yaw[:-1])
    x, y = (np.concatenate([[0.0], np.cumsum(SPACING * part(ahead))]) for part in (np.cos, np.sin))
    bends = np.array([curvature(at) for at in s])
    return Road.from_columns(SPACING, False, x, y, yaw, bends, width_left=3000.0, width_right=3000.0)


def lies(name, road, s, v, acceleration=0.0):
    return car_attitude(made(name)[1], road.kernel_table, s, v, acceleration)


def magic(tyre, slip):
    """Return the force over its peak at a slip over that of the peak, by the formula as published."""
    x = tyre.stiffness_factor * slip
    return math.sin(tyre.shape * math.atan(x - tyre.curvature * (x - math.atan(x))))


@pytest.mark.parametrize("name", car_names())
def test_tables_are_finite_and_grow_with_cornering(name):
    _, tables = made(name)
    for table in (tables.slip_front, tables.slip_rear):
        assert table.shape == (PEDAL_USES, len(tables.limits.speeds), SHARES)
        assert np.isfinite(table).all()
        assert (table[:, :, 0] == 0.0).all()
        assert (np.diff(table[PEDAL_USES // 2], axis=1) > 0.0).all()


@pytest.mark.parametrize("name", ["gt3", "f1"])
def test_anti_lock_brakes_release_more_the_harder_the_car_brakes_in_a_bend(name):
    car, tables = made(name)
    i, braked = 8, PEDAL_USES // 2 - 1
    shares = [released_brake_share(tables, float(tables.limits.speeds[i]), 0.6, use) for use in (0.2, 0.8, 1.0)]
    if car.brakes.abs:
        assert 0.0 == shares[0] < shares[1] < shares[2] < 0.5
    else:
        assert shares == [0.0, 0.0, 0.0]
    assert (tables.brake_released[: braked + 1] >= 0.0).all()
    assert (tables.brake_released[braked + 1 :] == 0.0).all()


def test_the_slips_carry_the_bend_through_the_magic_formula():
    """Without load sensitivity: m ay l / L = mu Fz magic(slip), the size of both slips in one; braked in front only."""
    replace, car = msgspec.structs.replace, load_car("hatchback")
    tyre = replace(car.tyre_rear, mu_x_load=0.0, mu_y_load=0.0, slip_load=0.0, rolling_resistance=0.0)
    car = replace(
        car, tyre_front=tyre, tyre_rear=tyre, aero=replace(car.aero, drag_area=0.0, lift_area_front=0.0,
        lift_area_rear=0.0), brakes=replace(car.brakes, torque_rear=0.0),
    )  # fmt: skip
    limits = compute_envelope(car)
    tables, body = compute_handling(car, limits), car.body
    for k, j, i in ((PEDAL_USES // 2, 8, 4), (2, 4, 4), (1, 2, 10), (4, 10, 10)):
        ay, ax = limits.lateral[i] * j / (SHARES - 1), (2.0 * k / (PEDAL_USES - 1) - 1.0) * limits.brake[i, j]
        rear_load = body.mass * (G * body.cg_to_front + ax * body.cg_height) / body.wheelbase
        rear = math.tan(tables.slip_rear[k, i, j]) / math.tan(tyre.peak_slip_angle)
        assert tyre.mu_y * rear_load * magic(tyre, rear) == pytest.approx(
            body.mass * ay * body.cg_to_front / body.wheelbase, rel=1e-5
        )
        front_load = body.mass * G - rear_load
        across = body.mass * ay * body.cg_to_rear / body.wheelbase / (tyre.mu_y * front_load)
        along = body.mass * -ax / (tyre.mu_x * front_load)
        front = math.tan(tables.slip_front[k, i, j]) / math.tan(tyre.peak_slip_angle)
        size = front * math.hypot(across, along) / across
        assert magic(tyre, size) == pytest.approx(math.hypot(across, along), rel=1e-5)


def test_straight_on_nothing_is_asked_for():
    road = line(lambda s: 0.0)
    for acceleration in (-9.0, 0.0, 3.0):
        assert lies("hatchback", road, 500.0, 30.0, acceleration) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("acceleration", [-5.0, 0.0, 1.0])
def test_right_is_left_mirrored(acceleration):
    left = lies("gt3", line(lambda s: 1e-5 * s), 600.0, 40.0, acceleration)
    right = lies("gt3", line(lambda s: -1e-5 * s), 600.0, 40.0, acceleration)
    assert right == pytest.approx(tuple(-value for value in left), abs=1e-12)
    assert left[0] > 0.0 > left[1]


def test_the_harder_a_car_brakes_the_less_steer_and_the_more_sideslip_a_bend_takes():
    road = line(lambda s: 1.0 / 260.0)
    coasting, braking = lies("hatchback", road, 600.0, 38.0), lies("hatchback", road, 600.0, 38.0, -6.0)
    assert braking[0] < coasting[0] - 0.015
    assert braking[1] < coasting[1] - 0.02


def test_yaw_acceleration_is_paid_by_side_forces():
    """m ay l_r / L + I r' / L in front, m ay l_f / L - I r' / L behind: looked up at those, with r' = v^2 k'."""
    car, tables = made("hatchback")
    body, v, change, s = car.body, 30.0, 3e-5, 300.0
    road = line(lambda at: change * (at - s) + 0.004)
    flat = line(lambda at: 0.004)
    turning = v * v * change
    _, front, rear = axle_slip_angles(tables, road.kernel_table, PathMotion(s, v, 0.0, turning))

    def steady(lateral):
        return axle_slip_angles(tables, line(lambda at: lateral / v**2).kernel_table, PathMotion(s, v, 0.0, 0.0))

    ay = v * v * 0.004
    assert front == pytest.approx(steady(ay + turning * body.yaw_inertia / (body.mass * body.cg_to_rear))[1], rel=1e-9)
    assert rear == pytest.approx(steady(ay - turning * body.yaw_inertia / (body.mass * body.cg_to_front))[2], rel=1e-9)
    assert lies("hatchback", road, s, v)[0] == pytest.approx(body.wheelbase * 0.004 + front - rear, rel=1e-9)
    # Sideslip l_r k - rear slip moves with the curvature: here by its slope over lateral acceleration.
    before, after = (
        steady(ay + sign * v**3 * change * TIME_STEP - turning * tables.arm_rear)[2] for sign in (-1.0, 1.0)
    )
    wanted = body.cg_to_rear * v * change - (after - before) / (2.0 * TIME_STEP)
    assert lies("hatchback", road, s, v)[2] == pytest.approx(wanted, rel=1e-6)
    assert lies("hatchback", flat, s, v)[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "v", "ay"), [("hatchback", 25.0, 6.0), ("gt3", 40.0, 10.0), ("sports_awd", 30.0, 6.0)]
)
def test_the_world_s_car_lies_in_a_circle_as_planned(name, v, ay):
    """Held on the circle by steer and throttle until nothing changes; camber, toe and lean are not in the plan."""
    car, _ = made(name)
    pad = Track("pad", "pad", (line(lambda s: 0.0),))
    world = World(pad, [car])
    world.batch.place_cars(0, 0.0, 0.0, 0.0, v)
    world.step([Controls()])
    gear, steer, push = world.car_state(0).gear, 0.0, 0.0
    for _ in range(round(8.0 / world.period)):
        now = world.car_state(0)
        steer += 0.4 * (ay / v - now.yaw_rate) * world.period / car.steering.max_angle
        push = min(max(push + 0.5 * (v - now.speed) * world.period, 0.0), 1.0)
        world.step([Controls(steer=steer, throttle=min(max(push + 0.5 * (v - now.speed), 0.0), 1.0), gear=gear)])
    now = world.car_state(0)
    assert now.yaw_rate == pytest.approx(ay / v, rel=0.01)
    angle, sideslip, _ = lies(name, line(lambda s: ay / v**2), 600.0, v)
    assert math.atan2(now.velocity_y, now.velocity_x) == pytest.approx(sideslip, abs=0.012)
    assert now.steer * car.steering.max_angle == pytest.approx(angle, abs=0.015)
    assert sideslip < -0.01


@pytest.mark.parametrize("name", ["copperbowl", "serpent_pass"])
def test_each_value_is_the_road_s_own(name):
    road = load_track(name).road
    for s in np.linspace(0.0, 0.999 * road.length, 173):
        yaw, curvature, climb, change, bank = preview_line(road.kernel_table, s)
        for value, column in (
            (yaw, RoadColumn.YAW), (curvature, RoadColumn.CURVATURE), (climb, RoadColumn.GRADE), (bank, RoadColumn.BANK)
        ):  # fmt: skip
            assert value == pytest.approx(float(road.column_at(s, column)), abs=1e-12)
        row = int(s / road.spacing)
        grades = road.column(RoadColumn.GRADE)
        after = (row + 1) % len(grades)
        assert change == pytest.approx((grades[after] - grades[row]) / road.spacing, abs=1e-12)


def test_a_circuit_goes_on_and_an_open_road_holds_its_end():
    ring = load_track("pinegrove").road
    here = preview_line(ring.kernel_table, 30.0)
    there = preview_line(ring.kernel_table, 30.0 + ring.length)
    assert there[1:] == pytest.approx(here[1:])
    assert np.cos(there[0] - here[0]) == pytest.approx(1.0)
    strip = load_track("serpent_pass").road
    end = preview_line(strip.kernel_table, strip.length)
    assert preview_line(strip.kernel_table, strip.length + 500.0)[1] == pytest.approx(end[1])
    assert all(np.isfinite(preview_line(strip.kernel_table, s)).all() for s in (-50.0, 0.0, 1e6))
