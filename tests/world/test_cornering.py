"""Steady cornering against the linear bicycle, load transfer and grip."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import Differential
from trailbrake.cars.tyre import value_at_load
from trailbrake.state import Controls
from trailbrake.units import KMH, G
from trailbrake.world.plant import apply_settings


def hold(r, speed, seconds, steer):
    for _ in range(round(seconds * 333)):
        r.step(steer=steer, throttle=min(max(0.3 * (speed - r.vx) + 0.1, 0.0), 1.0))


def axle_stiffness(tyre, load):
    """Cornering stiffness (N/rad) of two tyres at `load` (N) each."""
    nominal, _, mu_y, _, fall, _, peak, growth, b, c, _ = tyre.tyre_law()
    return (
        2.0
        * b
        * c
        * value_at_load(mu_y, -fall, load, nominal)
        * load
        / (peak * value_at_load(1.0, growth, load, nominal))
    )


def upright(car):
    """Return `car` with wheels that make no force by leaning, parallel and straight."""
    for end in ("front", "rear"):
        tyre, links = getattr(car, f"tyre_{end}"), getattr(car, f"suspension_{end}")
        tyre = replace(tyre, camber_thrust=0.0, camber_loss=0.0)
        car = replace(car, **{f"tyre_{end}": tyre, f"suspension_{end}": replace(links, toe=0.0)})
    return replace(car, steering=replace(car.steering, ackermann=0.0))


@pytest.mark.parametrize("name", ["gt3", "hatchback"])
@pytest.mark.parametrize("speed", [10.0, 20.0])
def test_yaw_gain_of_the_linear_bicycle(rig, roads, name, speed):
    car = load_car(name)
    open_differential = Differential(kind="open")  # a locking one adds a yaw moment that the bicycle has not
    driven = "differential_front" if car.drive.layout == "fwd" else "differential_rear"
    car = replace(car, drive=replace(car.drive, **{driven: open_differential}))
    car = upright(car)  # the bicycle's wheels neither lean nor toe
    r = rig(car, roads.straight(half_width=2000.0), x=1000.0)
    steer = 0.5 / speed**2 * r.car.body.wheelbase  # about 0.5 m/s^2
    r.roll_at(speed)
    hold(r, speed, 6.0, steer / r.car.steering.max_angle)
    body = r.car.body
    loads = r.four("load")
    front = axle_stiffness(r.car.tyre_front, 0.5 * loads[:2].sum())
    rear = axle_stiffness(r.car.tyre_rear, 0.5 * loads[2:].sum())
    # Pacejka 2012, equation 1.45: understeer gradient of the linear single-track model.
    gradient = body.mass / body.wheelbase * (body.cg_to_rear / front - body.cg_to_front / rear)
    expected = r.vx / (body.wheelbase + gradient * r.vx**2) * steer
    assert r.yaw_rate == pytest.approx(expected, rel=0.02)
    assert r.ay == pytest.approx(r.vx * r.yaw_rate, rel=0.01)


def test_left_steer_turns_left_and_loads_the_right(rig, roads):
    r = rig("gt3", roads.straight(half_width=2000.0), x=1000.0)
    r.roll_at(25.0)
    hold(r, 25.0, 3.0, 0.08)
    body, loads, fy = r.car.body, r.four("load"), r.four("fy")
    assert r.yaw_rate > 0.0
    assert r.ay > 0.0
    assert loads[1] > loads[0]
    assert loads[3] > loads[2]
    # All of the roll moment is carried: sum over axles of load difference * half track = Fy * h, and the rolled body's
    # weight, beside the roll axis by now.
    moment = 0.5 * ((loads[1] - loads[0]) * body.track_front + (loads[3] - loads[2]) * body.track_rear)
    front, rear = r.car.suspension_front, r.car.suspension_rear
    axis = (front.roll_centre * body.cg_to_rear + rear.roll_centre * body.cg_to_front) / body.wheelbase
    beside = (body.cg_height - axis) * r.roll
    assert moment == pytest.approx(fy.sum() * body.cg_height + r.car.sprung_mass * G * beside, rel=2e-3)


def lateral_limit(r, speed):
    """The largest lateral acceleration (g) while the steering is slowly wound on at `speed`."""
    r.roll_at(speed)
    best, steps = 0.0, 8 * 333
    for k in range(steps):
        r.step(steer=0.55 * k / steps, throttle=min(max(0.5 * (speed - r.vx) + 0.25, 0.0), 1.0))
        if abs(r.vx - speed) < 2.0:
            best = max(best, r.ay / G)
    return best


@pytest.mark.parametrize(
    ("name", "kmh", "lo", "hi"),
    [("gt3", 100.0, 1.4, 1.65), ("gt3", 220.0, 1.95, 2.3), ("hatchback", 80.0, 0.88, 1.0)],
)
def test_largest_lateral_acceleration(rig, roads, name, kmh, lo, hi):
    assert lo < lateral_limit(rig(name, roads.straight(half_width=2000.0), x=1000.0), kmh * KMH) < hi


def test_a_banked_bend_loads_the_car(rig, roads):
    """On a bank, centripetal acceleration times sin(bank) presses the car to the road."""
    radius, bank, speed = 200.0, -0.3, 30.0  # a left bend, left side down
    r = rig("gt3", roads.circle(radius, bank), y=-radius)
    r.roll_at(speed)
    turn = speed / radius
    r.set("yaw_rate", turn * math.cos(bank))
    r.batch.update_ground()
    assert r.road_roll == pytest.approx(math.sin(bank))
    down = G * math.cos(bank) + speed * turn * math.sin(-bank)
    assert r.normal_gravity == pytest.approx(down, rel=1e-3)
    # Held on the circle until the springs have settled, the tyres carry that.
    car = r.car
    for _ in range(600):
        heading = math.remainder(r.yaw - math.atan2(r.x, -r.y), 2.0 * math.pi)
        wish = car.body.wheelbase / radius - 0.03 * r.offset - 0.5 * heading
        r.step(steer=wish / car.steering.max_angle, throttle=min(max(0.3 * (speed - r.vx) + 0.1, 0.0), 1.0))
    down = G * math.cos(bank) + r.vx**2 / (radius - r.offset) * math.sin(-bank)
    lowered = car.body.cg_to_front * r.pitch - r.heave, -car.body.cg_to_rear * r.pitch - r.heave
    aero = car.aero.lift_area_front * (1.0 + car.aero.ride_gain_front * lowered[0])
    aero += car.aero.lift_area_rear * (1.0 + car.aero.ride_gain_rear * lowered[1])
    expected = car.body.mass * down + 0.5 * car.aero.air_density * r.vx**2 * aero
    assert r.four("load").sum() == pytest.approx(expected, rel=5e-3)


def test_a_crest_unloads_the_car(rig):
    from trailbrake.tracks.road import Road
    from trailbrake.tracks.track import Track

    s = np.arange(500) * 2.0
    crest = -(s**2) / (2.0 * 400.0)  # radius 400 m at the top
    road = Road.from_columns(2.0, False, s, 0 * s, 0 * s, 0 * s, z=crest, grade=-s / 400.0)
    r = rig("hatchback", Track("crest", "", (road,)), x=1.0)
    r.roll_at(30.0)
    assert r.normal_gravity == pytest.approx(G - 30.0**2 / 400.0, rel=0.005)


def test_steering_gives_no_energy(rig, roads):
    r = rig("gt3", roads.straight(half_width=2000.0), x=1000.0)
    r.roll_at(40.0, gear=0)
    car, least = r.car, math.inf
    loaded = car.roll_stiffness_front + car.roll_stiffness_rear
    for k in range(333 * 6):
        r.step(gear=0, steer=0.3 * math.sin(k / 60.0))
        if math.hypot(r.vx, r.vy) < 5.0:
            break  # then what springs hold is all that there is, and loads that swing change what that is
        energy = 0.5 * car.body.mass * (r.vx**2 + r.vy**2) + 0.5 * car.body.yaw_inertia * r.yaw_rate**2
        spins = r.four("spin") ** 2
        energy += 0.5 * (car.tyre_front.inertia * spins[:2].sum() + car.tyre_rear.inertia * spins[2:].sum())
        assert energy < least + 1.0
        # Springs may give back what they hold: tyres at most peak force times stretch, the suspension that of roll.
        held = 0.5 * loaded * r.roll**2
        for i, (n, x, y) in enumerate(zip(r.four("load"), r.four("slip_x"), r.four("slip_y"), strict=True)):
            tyre = car.tyre_front if i < 2 else car.tyre_rear
            stretch = abs(x) * tyre.peak_slip_ratio * tyre.relaxation_x
            held += tyre.mu_x * n * (stretch + abs(y) * math.tan(tyre.peak_slip_angle) * tyre.relaxation_y)
        least = min(least, energy + held)


def test_off_the_road_is_slower_and_slippery(rig, roads):
    r = rig("gt3", roads.straight(), x=100.0, y=18.0)
    off = r.track.off_road
    assert r.four("on_track").sum() == 0.0
    assert np.all(r.four("grip") == off.grip)
    r.roll_at(20.0, gear=0)
    r.run(1.0, gear=0)
    assert r.ax < -0.9 * G * off.rolling


def test_a_car_that_brakes_behind_alone_stays_on_its_wheels(rig, roads):
    """Its links are those of its file. With the same share of the load they would lift it by 30 times their force."""
    r = rig(apply_settings(load_car("hatchback"), Controls(brake_bias=0.0066)), roads.straight(), x=500.0)
    r.roll_at(18.0)
    for _ in range(40):
        r.run(0.1, steer=1.0, brake=0.7)
        assert abs(r.roll) < 0.15
        assert r.heave < 0.05
