"""Driving in a straight line against closed forms and against what such cars are known to do."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.units import KMH, G

CARS = ["gt3", "hatchback"]


def rolling_mass(car):
    wheels = 2.0 * (car.tyre_front.inertia / car.tyre_front.radius**2 + car.tyre_rear.inertia / car.tyre_rear.radius**2)
    return car.body.mass + wheels


def ride_factor(aero, end, lower):
    """Growth of an axle's downforce `lower` (m) than its reference, as the car file's declaration says."""
    return 1.0 + getattr(aero, f"ride_gain_{end}") * lower + getattr(aero, f"ride_curve_{end}") * lower**2


def resistance(car, v):
    """Drag plus rolling resistance of equal tyres, N."""
    dynamic = 0.5 * car.aero.air_density * v * v
    load = car.body.mass * G + dynamic * (car.aero.lift_area_front + car.aero.lift_area_rear)
    return dynamic * car.aero.drag_area + car.tyre_front.rolling_resistance * load


@pytest.mark.parametrize(
    ("name", "limits"),
    [("gt3", {100: (3.0, 3.6), 200: (9.0, 10.5)}), ("hatchback", {100: (8.5, 10.5)})],
)
def test_full_throttle_from_rest(rig, roads, name, limits):
    r = rig(name, roads.straight())
    reached = {}
    while r.time < 12.0:
        r.step(throttle=1.0)
        for speed in limits:
            if r.vx > speed * KMH:
                reached.setdefault(speed, r.time)
    for speed, (lo, hi) in limits.items():
        assert lo <= reached[speed] <= hi
    assert abs(r.y) < 1e-6


@pytest.mark.parametrize(("name", "lo", "hi"), [("gt3", 265.0, 283.0), ("hatchback", 198.0, 212.0)])
def test_top_speed_is_where_power_meets_drag(rig, roads, name, lo, hi):
    r = rig(name, roads.straight(12000.0))
    r.roll_at(0.95 * hi * KMH)
    r.run(60.0, throttle=1.0)
    assert lo <= r.vx / KMH <= hi
    car, gear = r.car, int(r.gear)
    speeds = np.linspace(40.0, 100.0, 6001)
    closed_form = next(v for v in speeds if car.drive_force(v, gear) < resistance(car, v))
    assert r.vx == pytest.approx(closed_form, rel=0.01)


@pytest.mark.parametrize("name", CARS)
def test_coasting_in_neutral_follows_the_closed_form(rig, roads, name):
    r = rig(name, roads.straight())
    r.roll_at(50.0, gear=0)
    r.run(10.0, gear=0)
    a = resistance(r.car, 0.0)
    b = resistance(r.car, 1.0) - a
    k = math.sqrt(a / b)
    expected = k * math.tan(math.atan(50.0 / k) - 10.0 * math.sqrt(a * b) / rolling_mass(r.car))
    assert r.vx == pytest.approx(expected, rel=5e-3)


def test_acceleration_in_a_gear(rig, roads):
    r = rig("hatchback", roads.straight())
    r.roll_at(25.0, gear=3)
    r.run(1.0, throttle=1.0, gear=3)
    car, v = r.car, r.vx
    inertia = car.engine.inertia * car.gearbox.overall_ratio(3) ** 2 * car.gearbox.efficiency / car.driven_radius**2
    expected = (car.drive_force(v, 3) - resistance(car, v)) / (rolling_mass(car) + inertia)
    assert r.ax == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("name", "speed"), [("gt3", 20.0), ("hatchback", 30.0), ("hatchback", 45.0)])
def test_braking_distance_is_near_the_closed_form(rig, roads, name, speed):
    r = rig(name, roads.straight())
    r.roll_at(speed)
    while r.vx > 0.1:
        r.step(brake=1.0)
    tyre = r.car.tyre_front
    ideal = speed**2 / (2.0 * tyre.mu_x * G)  # v^2 / (2 mu g)
    assert ideal * 0.93 < r.x < ideal * 1.12
    assert abs(r.yaw) < 1e-6


@pytest.mark.parametrize("name", CARS)
def test_abs_holds_the_wheels_near_the_peak(rig, roads, name):
    r = rig(name, roads.straight())
    r.roll_at(50.0)
    # With the clutch pressed: a manual box that shifts down without a blip drags the driven wheels past ABS's aim.
    r.run(0.3, brake=1.0, clutch=1.0)
    least = np.ones(4)
    while r.vx > 5.0:
        r.step(brake=1.0, clutch=1.0)
        assert r.four("slip").max() < 1.25
        assert r.four("spin").min() > 0.0
        least = np.minimum(least, r.four("abs_factor"))
    assert least[:2].max() < 1.0


def test_without_abs_the_wheels_lock(rig, roads):
    car = load_car("gt3")
    car = replace(car, brakes=replace(car.brakes, abs=False))
    r = rig(car, roads.straight())
    r.roll_at(25.0)
    r.run(0.5, brake=1.0)
    assert r.four("spin").max() == 0.0
    assert r.vx > 5.0


@pytest.mark.parametrize("name", CARS)
def test_tc_holds_the_wheels_near_the_peak(rig, roads, name):
    r = rig(name, roads.straight())
    r.run(0.2, throttle=1.0)
    while r.vx < 20.0:
        r.step(throttle=1.0)
        assert r.four("slip").max() < 1.4


def test_loads_add_up_to_weight_and_downforce(rig, roads):
    r = rig("gt3", roads.straight())
    car = r.car
    assert r.four("load").sum() == pytest.approx(car.body.mass * G)
    assert r.four("load")[:2].sum() == pytest.approx(car.body.mass * G * car.body.front_share)
    r.roll_at(60.0)
    r.run(0.9, brake=0.3)  # until the springs have settled under the downforce
    lowered = car.body.cg_to_front * r.pitch - r.heave, -car.body.cg_to_rear * r.pitch - r.heave
    dynamic = 0.5 * car.aero.air_density * r.vx**2
    air_front = dynamic * car.aero.lift_area_front * ride_factor(car.aero, "front", lowered[0])
    air_rear = dynamic * car.aero.lift_area_rear * ride_factor(car.aero, "rear", lowered[1])
    # Still moving by a little: 1 per mille.
    assert r.four("load").sum() == pytest.approx(car.body.mass * G + air_front + air_rear, rel=1e-3)
    # Pitch: the tyres' force times the height of the centre of mass over the wheelbase goes to the front.
    # (The air's drag too: where on the car it pulls is told by the axles' lift, as measured in a wind tunnel.)
    fx = r.four("fx").sum() - dynamic * car.aero.drag_area
    front = (car.body.mass * G * car.body.cg_to_rear - fx * car.body.cg_height) / car.body.wheelbase
    front += air_front
    assert r.four("load")[:2].sum() == pytest.approx(front, rel=0.01)


def test_reverse_drives_backwards(rig, roads):
    r = rig("hatchback", roads.straight(), x=500.0)
    r.run(3.0, throttle=0.5, gear=-1)
    assert r.gear == -1
    assert r.vx < -2.0
    assert r.x < 499.0


def test_the_engine_neither_stalls_nor_overspeeds(rig, roads):
    r = rig("hatchback", roads.straight())
    idle, limiter = r.car.engine.idle_rpm * math.pi / 30, r.car.engine.limiter_rpm * math.pi / 30
    r.run(2.0, gear=1, brake=1.0)  # clutch pedal up at standstill
    assert r.engine_speed > 0.9 * idle
    r.run(8.0, gear=1, throttle=1.0)
    assert 0.97 * limiter < r.engine_speed < 1.03 * limiter
    r.run(6.0, gear=1, brake=1.0)
    assert r.engine_speed > 0.9 * idle


def test_a_shift_that_would_overspeed_the_engine_is_refused(rig, roads):
    r = rig("gt3", roads.straight())
    r.roll_at(60.0)
    gear = r.gear
    r.run(0.5, gear=1)
    assert r.gear == gear


def test_the_clutch_pedal_parts_engine_and_wheels(rig, roads):
    r = rig("gt3", roads.straight())
    r.roll_at(30.0, gear=3)
    r.run(0.5, gear=3, clutch=1.0, throttle=1.0)
    assert r.engine_speed > 1.05 * r.car.engine_speed(r.vx, 3)
    assert r.clutch_engagement == 0.0


def test_fuel_is_burnt(rig, roads):
    r = rig("gt3", roads.straight())
    full = r.fuel
    assert full == pytest.approx(60.0)
    r.run(10.0, throttle=1.0)
    # At most full power at the declared consumption: 395 kW * 290 g/kWh / 745 g/l = 0.0427 l/s.
    assert 0.1 < full - r.fuel < 0.43
